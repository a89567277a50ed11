"""Nodes that know each other, find names and follow streams that move: real ones, over real connections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cluster.nodes import Linked, numbers
from tests.waiting import until

import australis
from australis.algebra.network import Network
from australis.cluster.catalogue import Kind
from australis.cluster.identity import NodeName
from australis.cluster.membership import Pace, State
from australis.errors import ClusterError

PACE = Pace(period_us=200_000, answer_us=400_000, suspect_us=1_000_000)


def network(name: str, *outputs: str) -> Network:
    net = australis.NetworkBuilder(name)
    stream = net.input("n", "k long not null, v double")
    for each in outputs:
        stream.output(each)
    return net.build()


class Some:
    """Nodes that begin with the address of the first one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.nodes: dict[str, Linked] = {}

    def add(self, name: str, *outputs: str, **options: object) -> Linked:
        seeds = [next(iter(self.nodes.values())).place] if self.nodes else []
        query = f"q{len(self.nodes)}"
        node = Linked(
            self._folder,
            name,
            network(query, *(outputs or ("unnamed",))),
            trusts=("lab", "shop"),
            seeds=seeds,
            pace=PACE,
            **options,  # type: ignore[arg-type]
        )
        self.nodes[name] = node
        return node

    def close(self) -> None:
        for each in self.nodes.values():
            each.close()

    def all_know_all(self) -> bool:
        return all(
            [each.name for each in node.cluster.members() if each.state is State.ALIVE] == sorted(self.nodes)
            for node in self.nodes.values()
        )


@pytest.fixture
def some(tmp_path: Path) -> Iterator[Some]:
    made = Some(tmp_path)
    yield made
    made.close()


def test_nodes_learn_of_each_other_and_of_one_that_leaves(some: Some) -> None:
    for name in ("lab/a", "lab/b", "shop/c", "shop/d"):
        some.add(name)
    until(some.all_know_all)
    some.nodes.pop("shop/c").close()
    until(
        lambda: (
            {each.name: each.state for each in some.nodes["lab/b"].cluster.members()}["shop/c"] is State.DEAD
        )
    )
    until(some.all_know_all)


def test_outputs_are_found_by_name_by_those_who_may_know_of_them(some: Some) -> None:
    some.add("lab/a", "speeds", "secrets", offers={"speeds": ["shop/*"]})
    here, there = some.add("lab/b", "other"), some.add("shop/c", "goods")
    until(some.all_know_all)
    until(lambda: bool(here.cluster.where("lab/secrets").places))
    found = here.cluster.where("lab/speeds")
    assert [(each.node, each.kind, each.detail) for each in found.places] == [
        ("lab/a", Kind.STREAM, "k long not null, v double")
    ]
    assert found.hops == 0, "nodes of one participant have one catalogue"
    until(lambda: bool(there.cluster.where("lab/speeds").places))
    assert there.cluster.where("lab/speeds").hops <= 2
    assert there.cluster.where("lab/secrets").places == ()
    assert {each.name for each in here.cluster.find("lab/*").names} >= {"lab/speeds", "lab/secrets", "lab/q0"}
    assert {each.name for each in there.cluster.find("*").names} == {"lab/speeds", "shop/goods", "shop/q2"}


def test_a_link_by_name_finds_its_stream_and_follows_it_when_it_moves(some: Some) -> None:
    first = some.add("lab/a", "speeds", offers={"speeds": ["shop/*"]})
    second = some.add("lab/b", "other", offers={"speeds": ["shop/*"]})
    reader = some.add("shop/c", "seen")
    until(some.all_know_all)
    reader.cluster.link("n", "lab/speeds")
    first.node.push("n", numbers(1, 2))
    first.node.drain()
    until(lambda: reader.seen() == [1, 2])
    # The stream moves: the new place has it, then the old place says so.
    second.node.change(network("q1", "other", "speeds"))
    first.cluster.withdraw("lab/speeds", NodeName("lab", "b"))
    first.node.change(network("q0", "unnamed"))
    second.node.push("n", numbers(3))
    second.node.drain()
    until(lambda: reader.seen() == [1, 2, 3])
    (status,) = reader.cluster.status().links_in
    assert status.source == "lab/b/speeds"


def test_a_link_by_name_waits_until_somebody_has_the_stream(some: Some) -> None:
    some.add("lab/a", "other")
    reader = some.add("lab/c", "seen")
    until(some.all_know_all)
    reader.cluster.link("n", "lab/speeds")
    until(lambda: reader.cluster.status().links_in[0].problem != "")
    (status,) = reader.cluster.status().links_in
    assert (status.source, status.problem) == ("lab/speeds", "no node that is alive has lab/speeds")
    late = some.add("lab/b", "speeds")
    late.node.push("n", numbers(7))
    late.node.drain()
    until(lambda: reader.seen() == [7])
    reader.cluster.unlink("n")
    assert reader.cluster.status().links_in == []


def test_an_input_reads_one_stream(some: Some) -> None:
    node = some.add("lab/a", "seen")
    node.cluster.link("n", "lab/speeds")
    for source in ("lab/other", "lab/b/speeds"):
        with pytest.raises(ClusterError, match="reads lab/speeds already"):
            node.cluster.link("n", source)


def test_a_node_has_names_of_its_own_participant_only(some: Some) -> None:
    node = some.add("lab/a", "seen")
    for name in ("shop/x", "lab", "lab/", "lab/a/x"):
        with pytest.raises(ClusterError, match="is no name here"):
            node.cluster.announce(name, Kind.PIECE)


def test_who_does_not_listen_has_no_directory(tmp_path: Path) -> None:
    with Linked(tmp_path, "lab/a", listens=False) as node:
        with pytest.raises(ClusterError, match="has no directory"):
            node.cluster.members()
        with pytest.raises(ClusterError, match="follows no names"):
            node.cluster.link("n", "lab/speeds")
        assert node.cluster.status().links_in == []


def test_connections_that_are_not_used_end_and_all_know_all_nevertheless(some: Some) -> None:
    for name in ("lab/a", "lab/b", "lab/c"):
        some.add(name, idle_s=0.05)
    until(some.all_know_all)
    node = some.nodes["lab/b"].cluster
    until(lambda: any(each.problem == "it was not used" for each in node.status().peers))
    until(some.all_know_all)
    assert all(each.state is State.ALIVE for each in node.members())


def test_the_old_place_says_where_a_stream_has_gone(some: Some) -> None:
    first, _, reader = some.add("lab/a", "speeds"), some.add("lab/b", "other"), some.add("lab/c", "seen")
    first.cluster.withdraw("lab/speeds", NodeName("lab", "b"))
    first.node.change(network("q0", "unnamed"))
    reader.cluster.connect("lab/a", first.place)
    reader.cluster.link("n", "lab/a/speeds")
    until(lambda: reader.cluster.status().links_in[0].problem != "")
    assert "'speeds' is at lab/b now (moved)" in reader.cluster.status().links_in[0].problem
