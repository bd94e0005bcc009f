import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from threadpoolctl import threadpool_limits


@pytest.fixture
def data_home(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the published data files; without it the test is skipped, or fails if strict."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    home = Path(os.environ.get("GRADA_DATA_HOME", beside))
    if not (home / "toy_d60_spiral.pkl").is_file():
        complain = pytest.fail if os.environ.get("GRADA_TEST_STRICT") == "1" else pytest.skip
        complain("needs the published data files: set GRADA_DATA_HOME to their folder")
    monkeypatch.setenv("GRADA_DATA_HOME", str(home))
    return home


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Tests run side by side; small networks and matrices on several threads would only queue."""
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield
