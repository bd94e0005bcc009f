"""``grada bench``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from joblib import cpu_count

from grada import paper
from grada._printing import bench_table, print_wide, trust_tables, watch
from grada.benchmark import (
    TASKS,
    TRUST_PARTS,
    Job,
    Protocol,
    Record,
    Store,
    Summary,
    code_fingerprint,
    load_task,
    make_trust,
    peers,
    published_tasks,
    run_jobs,
    summarize,
)
from grada.benchmark import method_names as method_names_of
from grada.cli._shared import AsJson, app, check_known, errors_in_words


class ProtocolName(StrEnum):
    """Choices of ``--protocol``."""

    leak_free = "leak-free"
    published = "published"


class Backbone(StrEnum):
    """Choices of ``--backbone``."""

    plain = "plain"
    adagraph = "adagraph"


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
    as_json: AsJson = False,
) -> None:
    """Compare methods on a task over several seeds, or make the paper's tables, or that of trust.

    Every finished run is kept in the store at once: a benchmark that was killed goes on where
    it was when it is started again.
    """
    options = RunOptions(Store(store), jobs or cpu_count(), dask, stale)
    with errors_in_words():
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
    check_known("task", [task_name], [*TASKS, "paper", "trust"])
    if protocol == "published":
        check_known("task with a published protocol", [task_name], published_tasks())
    kind = load_task(task_name, protocol).kind
    ours, peer = method_names_of(kind, protocol, backbone), list(peers(kind))
    if backbone != "plain":
        peer = []
    names: list[str] = []
    for name in wanted.split(","):
        name = name.strip()
        check_known("method", [name], ["all", *(["peers"] if peer else []), *ours, *peer])
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
    check_known("part", names, list(paper.PARTS))
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
    check_known("part", names, list(TRUST_PARTS))
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
        page = out / "trust.md"
        # What is made in parts grows; what is made as a whole is new.
        earlier = page.read_text(encoding="utf-8") if only != "all" and page.is_file() else ""
        page.write_text(found.to_markdown(earlier), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
        return
    for table in trust_tables(found):
        print_wide(table)
    typer.echo(found.summary)
