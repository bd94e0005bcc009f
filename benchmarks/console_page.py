"""Run the commands of docs/tables.md and write their output there.

``python -m benchmarks.console_page``

A command is a line ``$ ...`` in a block of the language "console"; what follows it up to the next
one, or to the end of the block, is what it printed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "tables.md"
_BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
_SHOWN = 34


def commands(page: str) -> list[str]:
    """All commands of a page, in order."""
    lines = "".join(_BLOCK.findall(page)).splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def run(command: str, folder: Path) -> tuple[int, str]:
    """Exit code and output of a command, as on a terminal of 100 columns."""
    here = str(Path(sys.executable).parent)
    path = os.pathsep.join([here, os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:

        def remade(block: re.Match[str]) -> str:
            lines = []
            for command in commands(f"```console\n{block[0]}```"):
                code, said = run(command, Path(folder))
                if code:
                    sys.exit(f"{command} ended with exit code {code}:\n{said}")
                shown = [line.rstrip() for line in said.splitlines() if line.strip()]
                more = ["..."] if len(shown) > _SHOWN else []
                lines += [f"$ {command}", *shown[:_SHOWN], *more]
            return "\n".join(lines) + "\n"

        page = _BLOCK.sub(remade, page)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
