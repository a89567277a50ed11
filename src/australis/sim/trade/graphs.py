"""Which nodes have contracts (section 5 of the paper on contracts, and its Table 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Pairs = NDArray[np.int64]
"""A row for each pair of nodes with a contract."""


def drawn_pairs(nodes: int, least: int, rng: np.random.Generator) -> Pairs:
    """Each node joins an existing one; then those with too few partners get one more, repeatedly."""
    partners: list[dict[int, None]] = [{} for _ in range(nodes)]
    for node, other in enumerate(rng.integers(0, np.arange(1, nodes)).tolist(), start=1):
        partners[node][other] = partners[other][node] = None
    enough = min(least, nodes - 1)
    while few := [node for node, own in enumerate(partners) if len(own) < enough]:
        for node, other in zip(few, rng.integers(nodes, size=len(few)).tolist(), strict=True):
            if other != node and len(partners[node]) < enough:
                partners[node][other] = partners[other][node] = None
    found = [(node, other) for node, own in enumerate(partners) for other in own if node < other]
    # Partners of equal price are asked in the order of their contracts: no node is the first for all others.
    return rng.permutation(np.array(found, dtype=np.int64).reshape(-1, 2))


def degrees(pairs: Pairs, nodes: int) -> NDArray[np.int64]:
    """How many partners each node has."""
    return np.bincount(pairs.ravel(), minlength=nodes)


def longest_ways(pairs: Pairs, nodes: int, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distance of the farthest node from each of some start nodes.

    >>> longest_ways(np.array([[0, 1], [1, 2], [1, 3]]), 4, np.arange(4)).tolist()
    [2, 1, 2, 2]
    """
    everyone = np.arange(nodes)
    ways = np.concatenate([pairs, pairs[:, ::-1], np.stack([everyone, everyone], axis=1)])
    ways = ways[np.argsort(ways[:, 0], kind="stable")]
    first = np.searchsorted(ways[:, 0], everyone)
    # A bit for each start, set for all nodes that are reached from it.
    here = np.packbits(everyone[:, None] == starts, axis=1)
    steps = np.zeros(len(starts), dtype=np.int64)
    while True:
        reached = np.bitwise_or.reduceat(here[ways[:, 1]], first, axis=0)
        new = np.bitwise_or.reduce(here ^ reached, axis=0)
        if not new.any():
            return steps
        steps += np.unpackbits(new, count=len(starts))
        here = reached
