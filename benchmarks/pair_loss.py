"""The pair loss as matrices against a Python double loop over pairs of domains."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks._measure import Ratio, Requirement, Result, interleave, milliseconds
from grada.datasets import make_dg
from grada.nn import edge_logits, pair_loss, pair_weights

DOMAINS, ROWS, DIM = 60, 10, 8
# A call is short: several a round, so that the clock and a single hiccup do not matter.
CALLS = 10
ROUNDS = 15


def run() -> Result:
    weights = make_dg(DOMAINS).graph.weights.toarray()
    edges = torch.tensor(weights, dtype=torch.float32)
    z = torch.randn(DOMAINS * ROWS, DIM, generator=torch.Generator().manual_seed(0))
    _check_same(z, edges)

    def ours() -> None:
        for _ in range(CALLS):
            _with_gradient(matrix_loss, z, edges)

    seconds = interleave(
        {"ours": ours, "loop": lambda: _with_gradient(loop_loss, z, edges)},
        rounds=ROUNDS,
        warmup=2,
    )
    per_call = [value / CALLS for value in seconds["ours"]]
    speedup = Ratio.of(seconds["loop"], per_call)
    times = {"ours_ms": milliseconds(per_call), "loop_ms": milliseconds(seconds["loop"])}
    return Result(
        name="pair_loss",
        summary=f"{times['ours_ms']:.2f} ms against {times['loop_ms']:.0f} ms in a double loop",
        settings={
            "domains": DOMAINS,
            "rows_per_domain": ROWS,
            "dim": DIM,
            "logits": "signed",
            "weights": "balanced",
            "timed": "from z and the edges between domains to the loss and its gradient in z",
            "rounds": ROUNDS,
            "calls_per_round": {"ours": CALLS, "loop": 1},
        },
        figures=times,
        requirements=[Requirement("double loop / ours", speedup, "at least", 20.0)],
    )


def matrix_loss(z: Tensor, edges: Tensor) -> Tensor:
    """What GRDA computes, from the edges between domains on."""
    between = edges.repeat_interleave(ROWS, dim=0).repeat_interleave(ROWS, dim=1)
    valid = 1.0 - torch.eye(len(z))
    return pair_loss(edge_logits(z, "signed"), pair_weights(between, valid, balanced=True))


def loop_loss(z: Tensor, edges: Tensor) -> Tensor:
    """The same, pair of domains by pair of domains, with no more work in the loop than needed."""
    signs = torch.ones(DIM)
    signs[1::2] = -1.0
    lefts, rights = (z * signs).split(ROWS), z.split(ROWS)
    another_row = ~torch.eye(ROWS, dtype=torch.bool)
    joined = edges.tolist()
    edge_loss = non_edge_loss = torch.zeros(())
    n_edges = n_non_edges = 0
    for u, left in enumerate(lefts):
        for v, right in enumerate(rights):
            logits = left @ right.T
            if joined[u][v]:
                edge_loss = edge_loss + F.softplus(-logits).sum()
                n_edges += logits.numel()
            else:
                logits = logits[another_row] if u == v else logits
                non_edge_loss = non_edge_loss + F.softplus(logits).sum()
                n_non_edges += logits.numel()
    return 0.5 * edge_loss / n_edges + 0.5 * non_edge_loss / n_non_edges


def _with_gradient(
    loss: Callable[[Tensor, Tensor], Tensor], z: Tensor, edges: Tensor
) -> tuple[Tensor, Tensor]:
    leaf = z.clone().requires_grad_()
    value = loss(leaf, edges)
    value.backward()
    return value.detach(), leaf.grad


def _check_same(z: Tensor, edges: Tensor) -> None:
    """In double precision: 360,000 terms summed in another order differ in single."""
    ours = _with_gradient(matrix_loss, z.double(), edges.double())
    loop = _with_gradient(loop_loss, z.double(), edges.double())
    for what, mine, other in zip(("loss", "gradient"), ours, loop, strict=True):
        if not torch.allclose(mine, other, rtol=1e-6, atol=1e-9):
            raise RuntimeError(f"The two pair losses differ in their {what}.")
