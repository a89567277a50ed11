"""Contract graphs are connected, have their least contracts, and look like those of Table 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path

from australis.sim.trade.experiments import PAPER_GRAPHS, table_1
from australis.sim.trade.graphs import degrees, drawn_pairs, longest_ways


@given(st.integers(2, 40), st.integers(1, 12), st.integers(0, 1000))
def test_graphs_are_connected_and_have_their_least_contracts(nodes: int, least: int, seed: int) -> None:
    pairs = drawn_pairs(nodes, least, np.random.default_rng(seed))
    assert degrees(pairs, nodes).min() >= min(least, nodes - 1)
    assert connected_components(coo_array((np.ones(len(pairs)), pairs.T), shape=(nodes, nodes)))[0] == 1
    assert len({tuple(pair) for pair in pairs.tolist()}) == len(pairs)
    assert (pairs[:, 0] < pairs[:, 1]).all()


def test_ways_are_as_long_as_the_steps_to_the_farthest_node() -> None:
    chain = np.array([[node, node + 1] for node in range(30)])
    assert longest_ways(chain, 31, np.array([0, 7, 30])).tolist() == [30, 23, 30]


@given(st.integers(2, 30), st.integers(1, 4), st.integers(0, 1000))
def test_ways_are_the_shortest_ones(nodes: int, least: int, seed: int) -> None:
    pairs = drawn_pairs(nodes, least, np.random.default_rng(seed))
    linked = np.zeros((nodes, nodes))
    linked[pairs[:, 0], pairs[:, 1]] = 1
    ways = shortest_path(linked, directed=False, unweighted=True)
    assert longest_ways(pairs, nodes, np.arange(nodes)).tolist() == ways.max(axis=0).tolist()


@pytest.mark.parametrize("least", PAPER_GRAPHS)
def test_graphs_are_those_of_table_1(least: int) -> None:
    most, diameter = PAPER_GRAPHS[least]
    ours = table_1(least)
    assert ours.most == pytest.approx(most, abs=1.5)
    assert round(ours.diameter) == diameter
    assert ours.diameter <= ours.longest


def test_ways_of_many_are_those_of_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    every = table_1(3, runs=2)
    monkeypatch.setattr("australis.sim.trade.experiments.STARTS", 100)
    assert table_1(3, runs=2).diameter == pytest.approx(every.diameter, abs=0.2)
