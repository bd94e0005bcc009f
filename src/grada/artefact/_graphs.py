"""graph.json: domains and edges by their names, for people and for the model."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from scipy import sparse

from grada.artefact._registry import ArtefactError
from grada.graph import DomainGraph


def write_graphs(graphs: list[DomainGraph]) -> bytes:
    """All graphs of a model, each once."""
    lines = ",\n".join(_one(graph) for graph in graphs)
    return ('{"graphs": [\n' + lines + "\n]}\n").encode("utf-8", "surrogatepass")


def read_graphs(data: bytes) -> list[DomainGraph]:
    """The same graphs again."""
    try:
        saved = json.loads(data.decode("utf-8", "surrogatepass"))
        return [_graph(each) for each in saved["graphs"]]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise ArtefactError(f"graph.json is malformed: {error}") from error


def _one(graph: DomainGraph) -> str:
    half = sparse.triu(graph.weights, 1, format="coo")
    edges = [
        [graph.names[a], graph.names[b], weight]
        for a, b, weight in zip(
            half.row.tolist(), half.col.tolist(), half.data.tolist(), strict=True
        )
    ]
    listed = ",\n  ".join(json.dumps(edge, ensure_ascii=False) for edge in edges)
    names = json.dumps(list(graph.names), ensure_ascii=False)
    return f'{{"names": {names},\n "edges": [\n  {listed}]}}'


def _graph(saved: dict[str, Any]) -> DomainGraph:
    names = saved["names"]
    place = {(type(name), name): at for at, name in enumerate(names)}
    first = np.array([place[type(a), a] for a, _, _ in saved["edges"]], dtype=np.int64)
    second = np.array([place[type(b), b] for _, b, _ in saved["edges"]], dtype=np.int64)
    weight = np.array([float(w) for _, _, w in saved["edges"]], dtype=np.float64)
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    shape = (len(names), len(names))
    matrix = sparse.csr_array((np.concatenate([weight, weight]), ends), shape=shape)
    return DomainGraph(names, matrix)
