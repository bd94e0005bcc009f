from collections.abc import Callable, Sequence

import numpy as np
import pytest

from grada.report.page.data import (
    Candidate,
    Curve,
    Domain,
    Encodings,
    Headline,
    Level,
    PageData,
)


def _page(names: Sequence[str]) -> PageData:
    """A page with every part, of made-up figures, for domains on a ring."""
    n = len(names)
    rng = np.random.default_rng(0)
    turn = 2 * np.pi * np.arange(n) / n
    domains = tuple(
        Domain(
            name=name,
            role="source" if at % 3 == 0 else "target",
            hops=None if at % 7 == 5 else int(min(at % 3, 1)),
            n_rows=100 * (at + 1),
            n_labelled=100 * (at + 1) if at % 3 == 0 else 0,
            x=float(0.5 + 0.5 * np.cos(turn[at])),
            y=float(0.5 + 0.5 * np.sin(turn[at])),
            estimate=None if at % 3 == 0 else round(float(rng.uniform(0.05, 1)), 3),
            low=None if at % 3 == 0 else 0.01,
            high=None if at % 3 == 0 else 1.0,
            measured=None if at % 3 == 0 else 0.5,
            plain=None if at % 3 == 0 else 0.4,
            seen=0.9 if at % 3 == 0 else None,
            confidence=0.8,
            values=(0.25, 0.75),
        )
        for at, name in enumerate(names)
    )
    points = tuple((float(x), float(y)) for x, y in rng.random((60, 2)).round(3))
    return PageData(
        title="Shops in towns",
        kind="classification",
        metric="accuracy",
        verdict="Adaptation helps.",
        method="grda",
        created="2026-01-01 00:00 UTC",
        headlines=(Headline("expected accuracy", "93.1 %", "90 % interval 90 % to 95 %"),),
        outputs=("no", "yes"),
        domains=domains,
        n_domains=n,
        edges=tuple((at, at + 1, 1.0) for at in range(n - 1)),
        levels=(Level("0", 2, seen=0.9), Level("1", 3, 0.8, 0.7, 0.6)),
        curves=(
            Curve("discriminator_loss", (1, 2, 3), (0.5, 0.6, 0.65)),
            Curve("discriminator_bound", (1, 2, 3), (0.66, 0.66, 0.66)),
            Curve("probe_loss", (3,), (0.64,)),
        ),
        training="converged",
        encodings=Encodings(
            pca=points,
            tsne=points,
            domain=tuple(int(at) for at in rng.integers(n, size=60)),
            group=tuple(int(at) for at in rng.integers(2, size=60)),
        ),
        candidates=(
            Candidate("propagation", 1.0, 0.9, 0.8, 1.2),
            Candidate("grda", 0.0, None, None, 0.0, "Too slow.", ("It warned.",)),
        ),
        summary={"rows": "1,500"},
        warnings=("2 domains have fewer than 10 rows.",),
        notes=("Sampled.",),
        settings={"method": "grda"},
        versions={"grada": "0"},
        checksums={"table.csv": "sha256 " + "0" * 64},
        command="grada fit table.csv",
    )


@pytest.fixture(scope="session")
def make_page() -> Callable[[Sequence[str]], PageData]:
    return _page
