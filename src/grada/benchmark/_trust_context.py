"""What the parts of the table of trust need to be made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from grada.benchmark._jobs import Job, Record, code_fingerprint
from grada.benchmark._runner import FailedRunsError
from grada.benchmark._store import Store
from grada.benchmark._trust_table import Row

#: What figures that are no runs of a method depend on, beside all that runs depend on.
_OWN_CODE = ("_trust_extras.py", "_graph_value_trial.py")

Call = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass
class Context:
    """How runs are made and where figures are kept.

    Attributes
    ----------
    run : callable
        From jobs to their records.
    store : Store
        Where ``run`` keeps records. Figures that are no runs of a method are kept beside it.
    seeds : int
        Runs of each method on a real file.
    n_jobs : int
        Processes side by side.
    stale : bool
        Whether what other code made counts.
    say : callable
        Told what is being done.
    details, tasks : dict, list
        Filled in by the parts: what stands behind their rows.
    failed : list of str
        What went wrong on the way.
    """

    run: Callable[[Sequence[Job]], list[Record]]
    store: Store
    seeds: int = 10
    n_jobs: int = 1
    stale: bool = False
    say: Callable[[str], object] = print
    details: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    tasks: list[dict[str, Any]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def records(self, jobs: Sequence[Job]) -> list[Record]:
        """Run jobs. Those that fail are noted, and the others returned."""
        try:
            return self.run(jobs)
        except FailedRunsError as error:
            self.failed.append(str(error))
            return list(self.store.finished(jobs, any_code=self.stale).values())

    def compute(self, calls: Mapping[str, Call]) -> dict[str, Any]:
        """Values of functions by key, side by side; what was kept is not computed again.

        Parameters
        ----------
        calls : mapping of keys to functions and their arguments
            Values must be plain, as they are kept as JSON.

        Returns
        -------
        dict
            Without those that failed, which are noted.
        """
        found = self._kept()
        wanted = {key: call for key, call in calls.items() if key not in found}
        run = Parallel(n_jobs=min(self.n_jobs, max(1, len(wanted))), return_as="generator")
        for key, value, problem in run(
            delayed(_attempt)(key, *call) for key, call in wanted.items()
        ):
            self.say(f"{key}: {'done' if problem is None else problem}")
            if problem is not None:
                self.failed.append(f"{key}: {problem}")
                continue
            found[key] = value
            self._keep(key, value)
        return {key: found[key] for key in calls if key in found}

    @property
    def _file(self) -> Path:
        return self.store.path.with_name(f"{self.store.path.stem}-trust.jsonl")

    def _kept(self) -> dict[str, Any]:
        if not self._file.exists():
            return {}
        lines = self._file.read_text(encoding="utf-8").split("\n")[:-1]  # the last was not finished
        entries = [json.loads(line) for line in lines if line]
        code = _code()
        return {
            entry["key"]: entry["value"] for entry in entries if self.stale or entry["code"] == code
        }

    def _keep(self, key: str, value: Any) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "code": _code(), "value": value}) + "\n")


Part = Callable[[Context], list[Row]]


def _attempt(key: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return key, function(*arguments), None
    except (ArithmeticError, RuntimeError, ValueError) as error:
        return key, None, f"{type(error).__name__}: {error}"


def _code() -> str:
    digest = hashlib.sha256(code_fingerprint().encode())
    for name in _OWN_CODE:
        digest.update(Path(__file__).with_name(name).read_bytes())
    return digest.hexdigest()[:12]
