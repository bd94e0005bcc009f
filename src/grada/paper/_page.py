"""Parts of the page, kept in results.json, and the page that is written from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grada.benchmark import Job, Record, versions

RunJobs = Callable[[Sequence[Job]], list[Record]]


@dataclass(frozen=True)
class Context:
    """What a part needs to be made.

    Parameters
    ----------
    run : callable
        From jobs to their records, in the same order.
    seeds : int
        Runs of each method.
    out : path
        Folder of the page. Figures go to ``figures`` in it.
    """

    run: RunJobs
    seeds: int
    out: Path

    def figure(self, name: str) -> Path:
        """Where a figure goes, without suffix."""
        folder = self.out / "figures"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / name


@dataclass(frozen=True)
class Part:
    """A table or a figure of the page: its text, and the numbers behind it."""

    title: str
    markdown: str
    data: Mapping[str, Any] = field(default_factory=dict)
    files: Sequence[Path] = ()
    code: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for results.json; `code` says which states of the code made the runs."""
        return {
            "title": self.title,
            "markdown": self.markdown,
            "data": self.data,
            "code": sorted(set(self.code)),
            "versions": versions(),
        }


def write_page(parts: Mapping[str, Part], order: Sequence[str], out: Path) -> list[Path]:
    """Put these parts into results.json, and write results.md from all that it has then.

    Parameters
    ----------
    parts : mapping from name to Part
    order : sequence of str
        Names of all parts there can be, as they come on the page.
    out : path

    Returns
    -------
    list of paths
        What was written.
    """
    out.mkdir(parents=True, exist_ok=True)
    numbers, page = out / "results.json", out / "results.md"
    known = read_parts(out)
    known |= {name: part.to_dict() for name, part in parts.items()}
    ordered = {name: known[name] for name in order if name in known}
    _replace(numbers, json.dumps({"parts": ordered}, indent=1) + "\n")
    sections = [f"## {part['title']}\n\n{part['markdown']}" for part in ordered.values()]
    _replace(page, "\n".join([_HEAD, *sections]).rstrip() + "\n")
    return [*(path for part in parts.values() for path in part.files), numbers, page]


def read_parts(out: Path) -> dict[str, Any]:
    """Parts that are in results.json already.

    Raises
    ------
    ValueError
        The file is not one of ours.
    """
    numbers = out / "results.json"
    if not numbers.exists():
        return {}
    try:
        parts = json.loads(numbers.read_text(encoding="utf-8"))["parts"]
        return {name: dict(part) for name, part in parts.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{numbers} is damaged. Delete it and make the page again.") from None


def _replace(path: Path, text: str) -> None:
    """Write under another name first, so that a crash leaves the old file or the new one."""
    draft = path.with_name(path.name + ".part")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table.

    Examples
    --------
    >>> print(table(["method", "score"], [["grda", "51.0"]]))
    | method | score |
    |---|---|
    | grda | 51.0 |
    <BLANKLINE>
    """
    lines = [header, ["---"] * len(header), *rows]
    text = ["| " + " | ".join(line) + " |" for line in lines]
    text[1] = text[1].replace(" ", "")
    return "\n".join(text) + "\n"


_HEAD = """# Results: the paper's experiments, as published and leak-free

Made by `grada bench paper`, which runs what is missing and writes this page, `results.json` and
`figures/`. One part: `grada bench paper --only table-1`.

How to read the tables:

- **paper**: the figure printed in the paper (Xu et al., *Graph-Relational Domain Adaptation*,
  ICLR 2022).
- **published protocol (leaks)**: our code doing what the paper's code does. GRDA pairs rows by
  their position in the file; every domain of the DG files is stored in the same class order, so
  every pair is of one class: the discriminator sees the labels of the targets. On TPT-48 the source
  states give windows that start in any month. These figures show that the published ones can be
  reproduced, and where they come from. They are not what a user would get.
- **leak-free**: rows of every domain drawn independently of the others and of the order of the
  file; no label of a target is used for training or for choosing settings; calendar windows on
  TPT-48. This is grada's default everywhere.
- Mean over target domains, ± standard deviation over seeds. Accuracy in %; on TPT-48 the squared
  error summed over six months in standardised units (the paper's "MSE"), and its root mean square
  over months in °F.
- **warned**: leak-free runs in which the method itself warned that something is wrong, such as
  encodings that are not aligned.
- The rows `plain` are the yardstick without networks: logistic regression, or ridge regression
  with its penalty chosen by cross-validation over source domains. The rows `skada-...` are methods
  of the library skada, which sees no graph; default settings, one run, support vector machine or
  ridge regression as base model.

**Settings.** They stand in one file, `src/grada/benchmark/_settings.py`. Leak-free runs use every
method's defaults on every task. The defaults were chosen on generated tasks with seeds of their
own: two Gaussians apart, translated, scaled and rotated; chains of domains drifting along an arc;
shifts in ten features; generated DG tasks; small generated regressions. No label of a target
of the tasks below was used to choose them; GNN-SSL-V2 was looked at once on DG-15 and DG-60 before
and after its weight of self-loops was changed. Published runs follow the paper and its code as far
as they say (layers, initial weights, learning rate, steps), for 200 epochs, the methods that GRDA
is compared with 64 units wide instead of 512; graph networks and yardstick have defaults. What
had to be changed to reproduce GRDA's figures is in the same file; there the labels of the targets
were looked at, for those figures leak them anyway: for DG-60 several dozen combinations were tried
on the same five seeds that the table shows, so its figure by that protocol is the best found, and
other seeds may fall below it.
"""
