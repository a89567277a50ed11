"""Contract graphs are connected, have their least contracts, and look like those of Table 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.sim.market.experiments import PAPER_GRAPHS, table_1
from australis.sim.market.graphs import degrees, diameter, diameter_at_least, drawn_pairs


@given(st.integers(2, 40), st.integers(1, 12), st.integers(0, 1000))
def test_graphs_are_connected_and_have_their_least_contracts(nodes: int, least: int, seed: int) -> None:
    pairs = drawn_pairs(nodes, least, np.random.default_rng(seed))
    assert degrees(pairs, nodes).min() >= min(least, nodes - 1)
    assert np.isfinite(diameter(pairs, nodes))
    assert len({tuple(pair) for pair in pairs.tolist()}) == len(pairs)
    assert (pairs[:, 0] < pairs[:, 1]).all()


def test_a_long_way_is_found_by_sweeps() -> None:
    pairs = np.array([[node, node + 1] for node in range(30)])
    assert diameter_at_least(pairs, 31) == diameter(pairs, 31) == 30


@pytest.mark.parametrize("least", PAPER_GRAPHS)
def test_graphs_are_those_of_table_1(least: int) -> None:
    most, longest = PAPER_GRAPHS[least]
    ours = table_1(least, runs=2)
    assert ours.most == pytest.approx(most, abs=3)
    # That of a tree by chance is longer than the paper says; docs/simulation.md has more of it.
    assert ours.diameter == pytest.approx(longest, abs=1) or (least == 1 and 19 < ours.diameter < 30)
