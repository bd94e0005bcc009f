"""One stage on a large table, in a process of its own.

``python -m benchmarks._large_table_once STAGE FOLDER [MEBIBYTES]``: the stage is ``fit``,
``predict`` or ``sklearn``. With a number of mebibytes, the operating system gives the process no
more memory than that for its data.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

TABLE, EDGES, TRUTH, MODEL, OUT = "table.parquet", "edges.csv", "truth.npy", "model", "out.csv"
EPOCHS = 20


def main() -> None:
    stage, folder = sys.argv[1], Path(sys.argv[2])
    if len(sys.argv) > 3:
        # The limit of data counts what is written to memory: heaps, arrays, stacks. The limit of
        # the address space (RLIMIT_AS) would count mapped files too, and what libraries reserve
        # and never touch. It must be set before torch and the like are imported.
        cap = int(float(sys.argv[3]) * 2**20)
        resource.setrlimit(resource.RLIMIT_DATA, (cap, cap))
    start, used = time.perf_counter(), time.process_time()
    with Watch() as watch:
        figures = {"fit": fit, "predict": predict, "sklearn": logistic_regression}[stage](folder)
    figures |= {
        "seconds_with_imports": time.perf_counter() - start,
        "cpu_seconds_with_imports": time.process_time() - used,
        **watch.peaks,
    }
    print(json.dumps(figures))


def fit(folder: Path) -> dict[str, Any]:
    """``grada fit --method grda``."""
    start = time.perf_counter()
    said = command(
        "fit",
        str(folder / TABLE),
        *("--domain", "place", "--label", "answer", "--graph", str(folder / EDGES)),
        *("--method", "grda", "--set", f"epochs={EPOCHS}", "--out", str(folder / MODEL)),
    )
    return {"seconds": time.perf_counter() - start, "notes": said["notes"]}


def predict(folder: Path) -> dict[str, Any]:
    """``grada predict``, for all rows of the table."""
    import grada.cli  # noqa: F401 - imported before the clock starts, as on the other side

    start, used = time.perf_counter(), time.process_time()
    said = command("predict", str(folder / MODEL), str(folder / TABLE), "--out", str(folder / OUT))
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - used
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "rows": said["rows"],
        "rows_per_second": said["rows"] / seconds,
        # Of one core; on a machine that does other work as well, this says what is possible.
        "rows_per_cpu_second": said["rows"] / cpu_seconds,
        "megabytes_written": (folder / OUT).stat().st_size / 1e6,
    }


def command(*words: str) -> dict[str, Any]:
    """What a command of grada prints as JSON; run in this process, whose memory is capped."""
    from grada.cli import app

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = app([*words, "--json"], standalone_mode=False)
    if code:
        sys.exit(f"grada {words[0]} ended with exit code {code}")
    said: dict[str, Any] = json.loads(printed.getvalue())
    return said


def logistic_regression(folder: Path) -> dict[str, Any]:
    """The same file with scikit-learn, which holds all of it in memory."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    start = time.perf_counter()
    frame = pd.read_parquet(folder / TABLE)
    answer = frame.pop("answer")
    place = frame.pop("place")
    read = time.perf_counter()
    known = answer.notna().to_numpy()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(frame[known], answer[known])
    fitted = time.perf_counter()
    found = model.predict_proba(frame)
    told = pd.DataFrame({"place": place, "prediction": model.classes_[found.argmax(axis=1)]})
    told[[f"probability of {name}" for name in model.classes_]] = found
    predicted = time.perf_counter()
    told.to_csv(folder / "out-sklearn.csv", index=False)
    written = time.perf_counter()
    return {
        "read_seconds": read - start,
        "fit_seconds": fitted - read,
        "predict_seconds": predicted - fitted,
        "write_seconds": written - predicted,
        # Reading counts, as it does on our side.
        "rows_per_second": len(frame) / (read - start + written - fitted),
    }


class Watch:
    """Mebibytes at the peak, looked up twenty times a second; the kernel keeps but one of them.

    ``data`` is what the cap counts: memory that was asked for, used or not. ``resident_data`` is
    what of it was in use, and ``resident`` that with the pages of mapped files and libraries,
    which the system may take back at any time.
    """

    _LINES: ClassVar[dict[str, str]] = {
        "VmData": "data",
        "RssAnon": "resident_data",
        "VmRSS": "resident",
    }

    def __enter__(self) -> Watch:
        self.peaks = {f"peak_{name}_mebibytes": 0.0 for name in self._LINES.values()}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.05):
            for line in Path("/proc/self/status").read_text().splitlines():
                name, _, value = line.partition(":")
                if name in self._LINES:
                    what = f"peak_{self._LINES[name]}_mebibytes"
                    self.peaks[what] = max(self.peaks[what], int(value.split()[0]) / 1024)


if __name__ == "__main__":
    main()
