"""One run of a benchmark: what is to be run, how, and what came out."""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import warnings
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

import grada
from grada.benchmark._compare import run
from grada.benchmark._settings import Protocol, method_for
from grada.benchmark._tasks import TASKS, is_task, load_task
from grada.datasets import Task
from grada.graph import Name
from grada.methods import Method
from grada.training import AdaptationWarning

_LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "torch_geometric", "skada")
#: What cannot change the outcome of a run. Of the benchmark itself only these can; the settings
#: of a method are in the key of a run already.
_WITHOUT_EFFECT = ("cli", "_printing.py", "report", "paper", "benchmark")
_WITH_EFFECT = (
    "_compare.py",
    "_jobs.py",
    "_peers.py",
    "_published.py",
    "_said.py",
    "_tasks.py",
)


@dataclass(frozen=True)
class Job:
    """What is to be run: plain words and numbers, so that any process can do it.

    Parameters
    ----------
    task : str
        Name of a task of the benchmark.
    method : str
        Name of a method or of a peer.
    seed : int
    protocol : {"leak-free", "published"}
    backbone : {"plain", "adagraph"}
    sources : tuple of names, optional
        Sources instead of the task's own.
    """

    task: str
    method: str
    seed: int
    protocol: Protocol = "leak-free"
    backbone: str = "plain"
    sources: tuple[Name, ...] | None = None

    def __post_init__(self) -> None:
        if not is_task(self.task):
            raise ValueError(f"Unknown task {self.task!r}; known: {', '.join(TASKS)}.")
        if self.protocol not in get_args(Protocol):
            known = ", ".join(get_args(Protocol))
            raise ValueError(f"Unknown protocol {self.protocol!r}; known: {known}.")
        if self.sources is not None:  # plain names in one order, so that the same set is one job
            plain = [name.item() if isinstance(name, np.generic) else name for name in self.sources]
            object.__setattr__(self, "sources", tuple(sorted(plain, key=repr)))

    def load(self) -> Task:
        """The task, the same object for all jobs of this process that ask for it."""
        task, _ = _load(self.task, self.protocol, self.sources)
        return task

    @property
    def data(self) -> str:
        """Checksum of the task: rows, labels, domains, graph and sources."""
        return _load(self.task, self.protocol, self.sources)[1]

    def resolve(self) -> Method:
        """The method with the settings fixed for this task and protocol."""
        return method_for(self.method, self.load(), self.protocol, self.backbone)

    @property
    def key(self) -> str:
        """Same key, same run: the job, the settings in force and the data."""
        said = {**asdict(self), "settings": settings_of(self.resolve()), "data": self.data}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Record:
    """What came out of a job, as one line of the results store."""

    key: str
    task: str
    method: str
    seed: int
    protocol: str
    backbone: str
    sources: list[Name]
    settings: dict[str, Any]
    metric: str
    mean: float
    worst: float
    levels: dict[str, float]
    domains: list[tuple[Name, float]]
    seconds: float
    data: str
    code: str
    versions: dict[str, str]
    rmse: float | None = None
    unit: str = ""
    notes: list[str] = field(default_factory=list)
    #: What ``auto`` said about its own predictions, and what was true: see ``what_was_said``.
    said: dict[str, Any] | None = None

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Read a line back; ValueError if it is not one."""
        fields = json.loads(line)
        if not isinstance(fields, dict):
            raise ValueError("not an object")
        try:
            fields["domains"] = [(name, score) for name, score in fields["domains"]]
            return cls(**fields)
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a run: {error}") from None

    @property
    def per_domain(self) -> dict[Name, float]:
        """Score of each target domain."""
        return dict(self.domains)


def execute(job: Job) -> Record:
    """Run a job. The warnings of the method become notes of the record.

    Parameters
    ----------
    job : Job

    Returns
    -------
    Record
    """
    task, method = job.load(), job.resolve()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run(task, method, random_state=job.seed)
    notes = [str(note.message) for note in caught if _matters(note)]
    score = result.evaluation
    return Record(
        key=job.key,
        task=job.task,
        method=job.method,
        seed=job.seed,
        protocol=job.protocol,
        backbone=job.backbone,
        sources=list(task.sources),
        settings=settings_of(method),
        metric=score.metric,
        mean=score.mean,
        worst=score.worst,
        levels=dict(score.per_level),
        domains=list(score.per_domain.items()),
        seconds=round(result.seconds, 3),
        data=job.data,
        code=code_fingerprint(),
        versions=versions(),
        rmse=score.rmse,
        unit=score.unit,
        notes=list(dict.fromkeys([*result.history.messages, *notes])),
        said=result.said,
    )


def _matters(note: warnings.WarningMessage) -> bool:
    """Whether a warning is about the fit: ours, or that a solver did not converge."""
    return issubclass(note.category, AdaptationWarning | ConvergenceWarning) or (
        "converge" in str(note.message)
    )


def settings_of(method: Method) -> dict[str, Any]:
    """All settings of a method as plain JSON values; modules and the like as their text."""
    params = method.get_params(deep=False)
    plain = (str, int, float, bool, type(None))
    return {
        "class": type(method).__name__,
        **{
            name: value if isinstance(value, plain) else repr(value)
            for name, value in params.items()
        },
    }


def checksum(task: Task) -> str:
    """Checksum of all that a task is made of, hidden labels included.

    Parameters
    ----------
    task : Task

    Returns
    -------
    str
        The first 16 hexadecimal digits of a sha256.
    """
    digest = hashlib.sha256()
    table = task.X.to_numpy() if isinstance(task.X, pd.DataFrame) else np.asarray(task.X)
    weights = task.graph.weights
    parts = (table, task.reveal(), weights.indptr, weights.indices, weights.data)
    for array in parts:
        # Rounded: another computer may standardise to another last digit.
        exact = array.astype(str) if array.dtype == object else np.round(array, 9)
        digest.update(np.ascontiguousarray(exact).tobytes())
    words = [
        list(map(str, task.domain)),
        list(map(str, task.graph.names)),
        list(map(str, task.sources)),
    ]
    digest.update(json.dumps(words).encode())
    return digest.hexdigest()[:16]


@cache
def code_fingerprint() -> str:
    """Fingerprint of the code that decides about figures, and of the libraries it uses.

    Comments and docstrings do not count, nor does what only plans, prints or draws.

    Returns
    -------
    str
        The first 12 hexadecimal digits of a sha256.
    """
    home = Path(grada.__file__).parent
    files = [
        path
        for pattern in ("*.py", "*.json")  # learned weights decide as much as code does
        for path in home.rglob(pattern)
        if path.relative_to(home).parts[0] not in _WITHOUT_EFFECT
    ]
    files += [home / "benchmark" / name for name in _WITH_EFFECT]
    digest = hashlib.sha256(json.dumps(versions(), sort_keys=True).encode())
    for path in sorted(files):
        text = path.read_text(encoding="utf-8")
        digest.update(path.relative_to(home).as_posix().encode())
        digest.update((_bare(ast.parse(text)) if path.suffix == ".py" else text).encode())
    return digest.hexdigest()[:12]


def _bare(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


@cache
def versions() -> dict[str, str]:
    """Versions of Python, grada and the libraries that figures depend on."""
    found = {"python": platform.python_version(), "grada": grada.__version__}
    for library in _LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return found


@lru_cache(maxsize=8)
def _load(name: str, protocol: Protocol, sources: tuple[Name, ...] | None) -> tuple[Task, str]:
    task = load_task(name, protocol) if sources is None else _load(name, protocol, None)[0]
    if sources is not None:
        task = task.with_sources(sources)
    return task, checksum(task)
