"""Nodes serve what others read by the graphs of the outputs there (Aurora* 7.1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cluster.nodes import Linked, numbers
from tests.engine.in_process import InProcess
from tests.waiting import until

import australis
from australis.algebra.network import Network
from australis.algebra.quality import Quality
from australis.policy.schedule.priorities import StateBased

GOOD_S, WORTHLESS_S = 2.0, 6.0
QUALITY = Quality(delay=((0, 1), (GOOD_S, 1), (WORTHLESS_S, 0)), loss=((0, 0), (1, 1)), weight=3)
SCHEMA = "k long not null, v double"


def network(quality: Quality | None = None, other: Quality | None = None) -> Network:
    net = australis.NetworkBuilder("passing")
    stream = net.input("n", SCHEMA).filter("k >= 0", as_="all")
    stream.output("seen", quality=quality)
    if other is not None:
        stream.filter("k % 2 = 0", as_="even").output("even", quality=other)
    return net.build()


def given(linked: Linked) -> dict[str, Quality]:
    """The graphs that a node serves its outputs by, as they were inferred elsewhere."""
    links = linked.cluster.status().links_out
    return {each.output: each.worth for each in links if each.worth is not None}


def test_a_stream_has_the_graphs_of_what_is_behind_it(tmp_path: Path) -> None:
    """Also over two links; and no longer, once nobody reads it."""
    with (
        Linked(tmp_path, "lab/a", network()) as first,
        Linked(tmp_path, "lab/b", network()) as second,
        Linked(tmp_path, "lab/c", network(QUALITY)) as third,
    ):
        second.reads(first)
        third.reads(second)

        def is_told() -> bool:
            first.node.push("n", numbers(1))
            return "seen" in given(first)

        until(is_told, 30)
        for linked in (second, first):
            found = given(linked)["seen"]
            assert found.weight == 3
            assert found.loss == ((0.0, 0.0), (1.0, 1.0))
            (start, end) = found.delay[-2:]
            assert 0.2 * GOOD_S * 0.9 < start[0] <= GOOD_S
            assert end[0] - start[0] == pytest.approx(WORTHLESS_S - GOOD_S, abs=0.01)
        assert given(third) == {}
        third.cluster.unlink("n")
        until(lambda: second.cluster._worths.given == {} and given(first) == {}, 30)


def test_several_outputs_behind_a_stream_add_up(tmp_path: Path) -> None:
    other = Quality(delay=((0, 1), (9, 0)), loss=((0, 0.5), (1, 1)), weight=1)
    with (
        Linked(tmp_path, "lab/a", network()) as first,
        Linked(tmp_path, "lab/b", network(QUALITY, other)) as second,
    ):
        second.reads(first)

        def is_told() -> bool:
            first.node.push("n", numbers(1, 2, 3))
            return "seen" in given(first)

        until(is_told, 30)
        found = given(first)["seen"]
        assert found.weight == 4
        assert found.loss[0] == (0.0, pytest.approx(0.125))


def test_nodes_of_others_are_not_heeded(tmp_path: Path) -> None:
    with (
        Linked(tmp_path, "lab/a", network(), offers={"seen": ["shop/*"]}, trusts=("shop",)) as ours,
        Linked(tmp_path, "shop/b", network(QUALITY), trusts=("lab",)) as theirs,
    ):
        theirs.reads(ours)

        def is_refused() -> bool:
            ours.node.push("n", numbers(1))
            return ours.cluster.status().refused.get("foreign_worth", 0) > 0

        until(is_refused, 30)
        assert given(ours) == {}


URGENT = Quality(delay=((0, 1), (0.5, 1), (5, 0)), loss=((0, 0), (1, 1)))


def shed_of_a_backlog(root: Path, net: Network, inferred: Quality | None) -> int:
    """How many tuples of a backlog a node sheds that is held to have no time at all for it."""
    with australis.Node(root, runner="light[1]", headroom=1e-6, train=100) as node:
        node.deploy(net)
        node.infer("seen", inferred)
        node.pause()
        for number in range(100):
            node.push("n", numbers(*range(100 * number, 100 * number + 100)))
        node.resume()
        node.drain()
        return 10_000 - node.read("seen").num_rows


def test_a_node_sheds_by_inferred_graphs(tmp_path: Path) -> None:
    assert shed_of_a_backlog(tmp_path / "a", network(), None) == 0
    assert shed_of_a_backlog(tmp_path / "b", network(), URGENT) > 0


def test_an_output_with_graphs_keeps_them(tmp_path: Path) -> None:
    own = Quality(delay=((0, 1), (1e6, 1), (2e6, 0)))
    assert shed_of_a_backlog(tmp_path, network(own), URGENT) == 0


@pytest.mark.parametrize("asked", [None, "fifo"])
def test_a_schedule_that_nobody_asked_for_follows_inferred_graphs(tmp_path: Path, asked: str | None) -> None:
    with australis.Node(tmp_path, runner=InProcess(), schedule=asked) as node:
        node.deploy(network())
        steering = node._deployed.steering
        before = type(steering._schedule)
        node.infer("seen", URGENT)
        assert type(steering._schedule) is (before if asked else StateBased)
        node.change(network(None, QUALITY))
        assert steering._layout.qualities == {"seen": URGENT, "even": QUALITY}
        node.infer("seen", None)
        assert steering._layout.qualities == {"seen": Quality(), "even": QUALITY}
