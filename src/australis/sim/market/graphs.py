"""Who has contracts with whom (section 5 of the paper on contracts, and its Table 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

Pairs = NDArray[np.int64]
"""A row for each two nodes that have a contract."""
SWEEPS = 4


def drawn_pairs(nodes: int, least: int, rng: np.random.Generator) -> Pairs:
    """Each node joins one that is there; then all with too few partners look for one more, time and again."""
    partners: list[dict[int, None]] = [{} for _ in range(nodes)]
    for node, other in enumerate(rng.integers(0, np.arange(1, nodes)).tolist(), start=1):
        partners[node][other] = partners[other][node] = None
    enough = min(least, nodes - 1)
    while few := [node for node, own in enumerate(partners) if len(own) < enough]:
        for node, other in zip(few, rng.integers(nodes, size=len(few)).tolist(), strict=True):
            if other != node and len(partners[node]) < enough:
                partners[node][other] = partners[other][node] = None
    found = [(node, other) for node, own in enumerate(partners) for other in own if node < other]
    # Partners of one price are asked in the order of their contracts: no node is the first for all others.
    return rng.permutation(np.array(found, dtype=np.int64).reshape(-1, 2))


def degrees(pairs: Pairs, nodes: int) -> NDArray[np.int64]:
    """How many partners each node has."""
    return np.bincount(pairs.ravel(), minlength=nodes)


def diameter(pairs: Pairs, nodes: int) -> int:
    """The longest way between two nodes.

    >>> diameter(np.array([[0, 1], [1, 2], [1, 3]]), 4)
    2
    """
    return int(shortest_path(_graph(pairs, nodes), directed=False, unweighted=True).max())


def diameter_at_least(pairs: Pairs, nodes: int) -> int:
    """A bound of it for graphs that are too large for all ways: the longest of those that start far out."""
    graph, start, longest = _graph(pairs, nodes), 0, 0
    for _ in range(SWEEPS):
        ways = shortest_path(graph, directed=False, unweighted=True, indices=start)
        start, longest = int(ways.argmax()), max(longest, int(ways.max()))
    return longest


def _graph(pairs: Pairs, nodes: int) -> Any:
    ones = np.ones(len(pairs))
    return coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes)).tocsr()
