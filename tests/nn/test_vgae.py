"""The auto-encoder: what it leaves alone, and what it says when its package is missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch

from grada import DomainGraph


def test_torch_is_left_as_it_was() -> None:
    pytest.importorskip("torch_geometric")
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        points = DomainGraph.grid(4, 4).embed("vgae", random_state=0)
        assert torch.get_num_threads() == 2
        assert torch.equal(torch.get_rng_state(), state)
        torch.rand(3)
        assert np.array_equal(points, DomainGraph.grid(4, 4).embed("vgae", random_state=0))
    finally:
        torch.set_num_threads(threads)


def test_neighbours_with_the_same_neighbours_share_a_place() -> None:
    pytest.importorskip("torch_geometric")
    assert not DomainGraph.clique(5).embed("vgae", random_state=1).any()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric.nn", None)
    with pytest.raises(ImportError, match=r'pip install "grada\[gnn\]"'):
        DomainGraph.chain(3).embed("vgae")
