"""The results store: one line of JSON a run, written as soon as the run is done."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from grada.benchmark._jobs import Job, Record, code_fingerprint

try:
    import fcntl
except ImportError:  # not on Windows: there, one process a store
    fcntl = None  # type: ignore[assignment]


class DamagedStoreError(ValueError):
    """A line of a results store is not a run."""


class Store:
    """Finished runs in a file.

    A run is one line, appended in one go and flushed to the disk, so that whatever kills the
    benchmark leaves every finished run behind, and at worst half a line at the end, which is
    not counted and not built upon.

    Parameters
    ----------
    path : path
        Need not exist yet. Several tasks, protocols and benchmarks may share it.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)

    def read(self) -> list[Record]:
        """All runs, each once: of several lines with the same key and code the first counts.

        Raises
        ------
        DamagedStoreError
            A line is not a run. An unfinished last one is passed over.
        """
        if not self.path.exists():
            return []
        text = self.path.read_text(encoding="utf-8", errors="replace")
        found: dict[tuple[str, str], Record] = {}
        *lines, _ = text.split("\n")  # what has no newline behind it was never finished
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = Record.from_json(line)
            except ValueError as error:
                raise DamagedStoreError(
                    f"{self.path}, line {number}: {error}. Delete the line, or name another store."
                ) from None
            found.setdefault((record.key, record.code), record)
        return list(found.values())

    def append(self, record: Record) -> None:
        """Add a run; other processes may add theirs to the same file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
            self._drop_unfinished(file)
            file.write(record.to_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def finished(self, jobs: Iterable[Job], *, any_code: bool = False) -> dict[Job, Record]:
        """Runs of these jobs that are there already.

        Parameters
        ----------
        jobs : iterable of Job
        any_code : bool
            Whether runs made by other code than the present count too (the latest of them).
        """
        current = code_fingerprint()
        by_key: dict[str, Record] = {}
        for record in self.read():
            if record.code == current or (
                any_code and by_key.get(record.key, record).code != current
            ):
                by_key[record.key] = record
        return {job: by_key[job.key] for job in jobs if job.key in by_key}

    @staticmethod
    def _drop_unfinished(file: IO[bytes]) -> None:
        """Cut off half a line that a killed writer left."""
        size = end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = file.seek(max(0, end - 4096))
            last = file.read(end - start).rfind(b"\n")
            if last >= 0:
                end = start + last + 1
                break
            end = start
        if end < size:
            file.truncate(end)
