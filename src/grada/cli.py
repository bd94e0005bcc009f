"""The command line: parse, call, print."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from joblib import cpu_count
from rich.console import Console
from rich.table import Table

from grada import __version__, methods, paper
from grada._printing import (
    bench_table,
    demo_table,
    graph_table,
    print_wide,
    trust_tables,
    verdict,
    watch,
)
from grada.benchmark import (
    TASKS,
    TRUST_PARTS,
    FailedRunsError,
    Job,
    Protocol,
    Record,
    Result,
    Store,
    Summary,
    code_fingerprint,
    compare,
    load_task,
    make_trust,
    peers,
    published_tasks,
    run_jobs,
    summarize,
)
from grada.benchmark import method_names as method_names_of
from grada.datasets import Task, make_dg, rotating_digits
from grada.graph import DomainGraph
from grada.selection import graph_value
from grada.training import AdaptationWarning

app = typer.Typer(
    help="Domain adaptation across domains that form a graph.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

graph_app = typer.Typer(help="Questions about a graph of domains.", no_args_is_help=True)
app.add_typer(graph_app, name="graph")


class ProtocolName(StrEnum):
    """Choices of ``--protocol``."""

    leak_free = "leak-free"
    published = "published"


class KindName(StrEnum):
    """Choices of ``--kind``."""

    classification = "classification"
    regression = "regression"


class Backbone(StrEnum):
    """Choices of ``--backbone``."""

    plain = "plain"
    adagraph = "adagraph"


DEMO_METHODS = ("plain", "source-only", "grda", "auto")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"grada {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Version.")
    ] = False,
) -> None:
    """Domain adaptation across domains that form a graph."""


@app.command()
def demo(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
    domains: Annotated[int, typer.Option(min=3, help="Domains of the generated task.")] = 15,
    sources: Annotated[int, typer.Option(min=1, help="Those of them with labels.")] = 6,
    random_state: Annotated[int, typer.Option(min=0, help="Seed of data and training.")] = 0,
) -> None:
    """Adapt to a generated task and to real handwritten digits, and compare with simple models."""
    if sources >= domains:
        typer.echo(f"--sources {sources}: must be fewer than the {domains} domains.", err=True)
        raise typer.Exit(2)
    generated = make_dg(n_domains=domains, n_sources=sources, random_state=random_state)
    shown = {
        "Generated: two classes that turn from domain to domain": generated,
        "Handwritten digits, turned a little more in each domain": rotating_digits(
            random_state=random_state
        ),
    }
    figures = {}
    for title, task in shown.items():
        results = _demonstrate(title, task, random_state, quiet=as_json)
        figures[task.name] = {result.method: result.to_dict() for result in results}
    if as_json:
        # The first task's figures stand on top, as they did when it was the only one.
        said = {"task": generated.name, "metric": "accuracy", "methods": figures[generated.name]}
        typer.echo(json.dumps({**said, "tasks": figures}))


def _demonstrate(title: str, task: Task, random_state: int, *, quiet: bool) -> list[Result]:
    console = Console(stderr=quiet)
    console.print(f"[bold]{title}[/bold]")
    console.print(
        f"{task.graph.n_domains} domains on a graph with {task.graph.n_edges} edges, "
        f"{len(task.X)} rows, labels in {len(task.sources)} domains. Predicting the other "
        f"{len(task.targets)}.\n"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AdaptationWarning)
        results = list(
            compare(task, DEMO_METHODS, random_state=random_state, verbose=int(not quiet))
        )
    if not quiet:
        console.print(demo_table(task, results))
        for note in caught:
            if issubclass(note.category, AdaptationWarning):
                console.print(f"Note: {note.message}", style="yellow")
        console.print(verdict(results) + "\n")
    return results


@app.command()
def bench(
    task_name: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help=f"{', '.join(TASKS)}; paper: its tables; trust: what auto must reach.",
        ),
    ],
    method_names: Annotated[
        str,
        typer.Option(
            "--methods", help="Names with commas between them; all: ours; peers: skada's."
        ),
    ] = "all",
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each method: 5 by default; for trust, 10.")
    ] = None,
    protocol: Annotated[
        ProtocolName, typer.Option(help="published: as the paper's code did it, LEAKING labels.")
    ] = ProtocolName.leak_free,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes side by side; by default one a core.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask cluster instead.")
    ] = None,
    backbone: Annotated[
        Backbone, typer.Option(help="Normalise each domain by its own statistics: adagraph.")
    ] = Backbone.plain,
    store: Annotated[
        Path, typer.Option(help="Finished runs, one line of JSON each; what is there is not rerun.")
    ] = Path("grada-results.jsonl"),
    stale: Annotated[
        bool, typer.Option("--stale", help="Take runs that other versions of the code made.")
    ] = False,
    only: Annotated[
        str, typer.Option(help="For paper and trust: parts with commas between them.")
    ] = "all",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the page: for paper, docs by default; for trust, no page."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Compare methods on a task over several seeds, or make the paper's tables, or that of trust.

    Every finished run is kept in the store at once: a benchmark that was killed goes on where
    it was when it is started again.
    """
    options = RunOptions(Store(store), jobs or cpu_count(), dask, stale)
    with _errors_in_words():
        _check_options(task_name, method_names, protocol, backbone, only, out)
        if task_name == "paper":
            _bench_paper(options, only, seeds or 5, out or Path("docs"), as_json)
            return
        if task_name == "trust":
            _bench_trust(options, only, seeds or 10, out, as_json)
            return
        seeds = seeds or 5
        planned = _plan(task_name, method_names, seeds, protocol.value, backbone.value)
        records = options.run(planned)
    summaries = summarize(records)
    if as_json:
        typer.echo(json.dumps(_bench_json(planned[0], summaries)))
        return
    runs = f"{seeds} seed{'s' * (seeds > 1)}"
    title = f"{task_name}: {summaries[0].metric} on the targets, {runs}, {protocol.value}"
    if protocol is ProtocolName.published:
        title += " (LEAKS labels of the targets)"
    if backbone is not Backbone.plain:
        title += f", backbone {backbone.value}"
    print_wide(bench_table(title, summaries))


def _check_options(
    task_name: str,
    wanted: str,
    protocol: ProtocolName,
    backbone: Backbone,
    only: str,
    out: Path | None,
) -> None:
    """Refuse an option that would have no effect."""
    if task_name in ("paper", "trust"):
        given = {
            "--methods": wanted != "all",
            "--protocol": protocol is not ProtocolName.leak_free,
            "--backbone": backbone is not Backbone.plain,
        }
    else:
        given = {"--only": only != "all", "--out": out is not None}
    for option, is_given in given.items():
        if is_given:
            typer.echo(f"{option} has no effect on {task_name}: leave it out.", err=True)
            raise typer.Exit(2)


@dataclass(frozen=True)
class RunOptions:
    """How the jobs of a benchmark are run."""

    store: Store
    jobs: int
    dask: str | None
    stale: bool

    def run(self, planned: Sequence[Job]) -> list[Record]:
        """Run them with progress on standard error."""
        with watch(len(planned)) as on_done:
            records = run_jobs(
                planned,
                self.store,
                n_jobs=self.jobs,
                dask=self.dask,
                any_code=self.stale,
                on_done=on_done,
            )
        old = sum(record.code != code_fingerprint() for record in records)
        if old:
            typer.echo(f"{old} of {len(records)} runs were made by other code.", err=True)
        return records


def _plan(task_name: str, wanted: str, seeds: int, protocol: Protocol, backbone: str) -> list[Job]:
    _check_known("task", [task_name], [*TASKS, "paper", "trust"])
    if protocol == "published":
        _check_known("task with a published protocol", [task_name], published_tasks())
    kind = load_task(task_name, protocol).kind
    ours, peer = method_names_of(kind, protocol, backbone), list(peers(kind))
    if backbone != "plain":
        peer = []
    names: list[str] = []
    for name in wanted.split(","):
        name = name.strip()
        _check_known("method", [name], ["all", *(["peers"] if peer else []), *ours, *peer])
        names += {"all": ours, "peers": peer}.get(name, [name])
    return [
        Job(task_name, name, seed, protocol, backbone)
        for name in dict.fromkeys(names)
        for seed in range(seeds)
    ]


def _bench_json(job: Job, summaries: Sequence[Summary]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "task": job.task,
        "protocol": job.protocol,
        "metric": summaries[0].metric,
        "methods": {summary.method: summary.to_dict() for summary in summaries},
        "warned": {summary.method: summary.warned for summary in summaries},
    }
    if job.protocol == "published":
        result["leaks"] = True
    if job.backbone != "plain":
        result["backbone"] = job.backbone
    return result


def _bench_paper(options: RunOptions, only: str, seeds: int, out: Path, as_json: bool) -> None:
    names = list(paper.PARTS) if only == "all" else [name.strip() for name in only.split(",")]
    _check_known("part", names, list(paper.PARTS))
    made = paper.make(names, run=options.run, seeds=seeds, out=out)
    if as_json:
        typer.echo(json.dumps({"written": [str(path) for path in made]}))
        return
    for path in made:
        typer.echo(str(path))


def _bench_trust(
    options: RunOptions, only: str, seeds: int, out: Path | None, as_json: bool
) -> None:
    names = list(TRUST_PARTS) if only == "all" else [name.strip() for name in only.split(",")]
    _check_known("part", names, list(TRUST_PARTS))
    found = make_trust(
        names,
        run=options.run,
        store=options.store,
        seeds=seeds,
        n_jobs=options.jobs,
        stale=options.stale,
        say=lambda text: typer.echo(text, err=True),
    )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "trust.md").write_text(found.to_markdown(), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
        return
    for table in trust_tables(found):
        print_wide(table)
    typer.echo(found.summary)


@contextmanager
def _errors_in_words() -> Iterator[None]:
    """What a user can mend ends in a message and exit code 2."""
    try:
        yield
    except (OSError, ImportError, ValueError, FailedRunsError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None


@app.command("methods")
def list_methods(
    markdown: Annotated[bool, typer.Option("--markdown", help="README's table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """List the methods: what each does, for which kinds of task, and where it comes from."""
    if markdown:
        typer.echo(methods.markdown_table())
        return
    known = methods.available().values()
    if as_json:
        fields = ("summary", "kinds", "citation")
        listing = {info.name: {field: getattr(info, field) for field in fields} for info in known}
        typer.echo(json.dumps({"methods": listing}))
        return
    table = Table()
    for column in ("method", "what it does", "kinds", "from"):
        table.add_column(column, no_wrap=column == "method")
    for info in known:
        table.add_row(info.name, info.summary, "\n".join(info.kinds), info.citation)
    Console().print(table)


@graph_app.command("help")
def graph_help(
    table: Annotated[Path, typer.Argument(help="Rows: a CSV, TSV or Parquet file.")],
    domain: Annotated[str, typer.Option(help="Column with the domain of each row.")],
    label: Annotated[str, typer.Option(help="Column with the label; empty where there is none.")],
    graph: Annotated[
        Path, typer.Option(help="Edges: a CSV file with columns source, target and maybe weight.")
    ],
    method: Annotated[
        str | None, typer.Option(help="Also try this method with each graph on hidden sources.")
    ] = None,
    kind: Annotated[
        KindName | None, typer.Option(help="What the label is; by default what it looks like.")
    ] = None,
    rewirings: Annotated[int, typer.Option(min=3, help="Random graphs to compare with.")] = 10,
    random_state: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Does my graph help? Compare it with a clique, no edges and random edges."""
    with _errors_in_words():
        rows = _read_rows(table, domain, label)
        edges, lonely = _read_graph(graph, rows[domain])
        value = graph_value(
            rows.drop(columns=[domain, label]),
            rows[label],
            rows[domain],
            edges,
            method=method,
            kind=None if kind is None else kind.value,
            n_rewirings=rewirings,
            random_state=random_state,
        )
    if lonely:
        some = ", ".join(lonely[:5]) + (", ..." if len(lonely) > 5 else "")
        typer.echo(f"Without an edge in {graph.name}: {some} ({len(lonely)}).", err=True)
    if as_json:
        typer.echo(json.dumps(value.to_dict()))
        return
    Console().print(graph_table(value))
    typer.echo(f"Does the graph help? {value}")


def _read_rows(path: Path, domain: str, label: str) -> pd.DataFrame:
    """A table whose domains are texts, as they stand in the file."""
    if path.suffix.lower() == ".parquet":
        rows = pd.read_parquet(path)
    else:
        separator = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
        rows = pd.read_csv(path, sep=separator, dtype={domain: str})
    for column in (domain, label):
        if column not in rows.columns:
            some = ", ".join(map(str, rows.columns[:20]))
            raise ValueError(f"{path.name} has no column {column!r}. It has: {some}.")
    if rows[domain].isna().any():
        at = int(rows[domain].isna().argmax())
        raise ValueError(f"{path.name}: row {at + 1} has no domain in column {domain!r}.")
    return rows.assign(**{domain: rows[domain].astype(str)})


def _read_graph(path: Path, domains: pd.Series[str]) -> tuple[DomainGraph, list[str]]:
    """The graph of an edge list with the domains of the rows; and those without an edge."""
    frame = pd.read_csv(path, dtype={"source": str, "target": str})
    graph = DomainGraph.from_frame(frame)
    lonely = [name for name in domains.unique().tolist() if name not in graph]
    if len(lonely) == domains.nunique():
        raise ValueError(
            f"No domain of the rows, such as {lonely[0]!r}, is in {path.name}, which joins "
            f"{graph.names[0]!r} and others. Both must use the same names."
        )
    return graph.with_domains(lonely), lonely


def _check_known(kind: str, names: list[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            typer.echo(f"Unknown {kind} {name!r}. Known: {', '.join(known)}.", err=True)
            raise typer.Exit(2)


def main() -> None:
    """Entry point of the ``grada`` command."""
    app()
