"""From a network to superboxes: each box in one, and every stream that is read elsewhere is an arc."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.random_networks import random_network

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import QUARANTINE, ConnectionPoint, Network, Ref
from australis.algebra.order import Order
from australis.plan.spread import SpreadKind
from australis.plan.superboxes import QUARANTINE_ARC, Discipline, Plan, plan

DISCIPLINES = st.sampled_from(list(Discipline))


def network() -> Network:
    """Two components: a filter that two aggregates read, and a box on another input; one input passes."""
    net = NetworkBuilder("n")
    stream, other = net.input("s", "k int, t long not null"), net.input("o", "x int")
    some = stream.filter("k > 0", as_="some")
    by_key = Order("t", group_by=("k",))
    some.aggregate({"n": "count(*)"}, by_key, size=10, as_="ten").output("ten")
    some.aggregate({"n": "count(*)"}, by_key, size=100, as_="hundred").output("hundred")
    other.map({"y": "x + 1"}, as_="more").output("more")
    stream.output("all")
    return net.build()


@given(st.randoms(use_true_random=False), DISCIPLINES)
def test_each_box_is_in_one_superbox(random: Random, discipline: Discipline) -> None:
    network = random_network(random)
    found = plan(network, discipline)
    assert sorted(box for each in found.superboxes.values() for box in each.boxes) == sorted(network.boxes)


@given(st.randoms(use_true_random=False), DISCIPLINES)
def test_arcs_connect_what_the_network_connects(random: Random, discipline: Discipline) -> None:
    network = random_network(random)
    found = plan(network, discipline)
    check_arcs(found)
    for name, output in network.outputs.items():
        arc = found.arcs[found.outputs[name]]
        assert arc.schema.names == network.schemas[output.source].names
    assert found.outputs[QUARANTINE] == QUARANTINE_ARC


def check_arcs(found: Plan) -> None:
    """Readers and writers of arcs and superboxes agree, and writers come before readers."""
    numbers = {name: number for number, name in enumerate(found.superboxes)}
    for arc in found.arcs.values():
        writers = [each.id for each in found.superboxes.values() if arc.id in each.writes.values()]
        readers = [each.id for each in found.superboxes.values() if arc.id in each.reads.values()]
        assert writers == ([] if arc.writer is None else [arc.writer])
        assert list(arc.readers) == readers
        assert all(numbers[writer] < numbers[reader] for writer in writers for reader in readers)
    for superbox in found.superboxes.values():
        assert {*superbox.reads.values(), *superbox.writes.values()} <= set(found.arcs)


@given(st.randoms(use_true_random=False), DISCIPLINES)
def test_an_input_is_checked_in_one_place(random: Random, discipline: Discipline) -> None:
    network = random_network(random)
    found = plan(network, discipline)
    read = {arc for each in found.superboxes.values() for arc in each.reads.values()}
    admitted = sorted(name for each in found.superboxes.values() for name in each.admits)
    assert admitted == sorted(read & set(network.inputs))


def test_connected_boxes_are_one_superbox() -> None:
    found = plan(network()).superboxes
    assert [each.boxes for each in found.values()] == [("some", "ten", "hundred"), ("more",), ()]
    assert list(found) == ["some+2", "more", "=all"]
    assert [each.spread.kind for each in found.values()] == [
        SpreadKind.KEYS, SpreadKind.ROWS, SpreadKind.ROWS
    ]  # fmt: skip


@pytest.mark.parametrize("discipline", [Discipline.BOX, Discipline.TRAIN])
def test_a_box_by_itself_is_spread_as_its_component(discipline: Discipline) -> None:
    found = plan(network(), discipline)
    assert list(found.superboxes) == ["some", "ten", "hundred", "more", "=all"]
    ten = found.superboxes["ten"]
    assert (ten.reads, ten.writes) == ({"arc_0": "some"}, {"out_0": "ten"})
    assert ten.spread.keys == {Ref("arc_0"): ("k",)}
    assert found.superboxes["some"].spread.kind is SpreadKind.ROWS
    assert found.arcs["some"].readers == ("ten", "hundred")
    assert list(found.upstream("hundred")) == ["some", "hundred"]


def test_an_output_that_reads_an_input_has_a_passage() -> None:
    found = plan(network())
    passage = found.superboxes["=all"]
    assert (passage.reads, passage.writes) == ({"s": "s"}, {"out_0": "=all"})
    assert found.outputs["all"] == "=all"
    assert passage.admits == frozenset(), "the boxes after the input have checked its tuples"


def test_a_component_with_an_input_of_its_own_admits_it() -> None:
    found = plan(network())
    assert {name: set(each.admits) for name, each in found.superboxes.items()} == {
        "some+2": {"s"}, "more": {"o"}, "=all": set()
    }  # fmt: skip


def test_a_stream_with_a_connection_point_is_an_arc() -> None:
    net = network()
    points = {"inside": ConnectionPoint(Ref("some"), history=5), "outside": ConnectionPoint(Ref("s"))}
    found = plan(Network(net.name, net.inputs, net.boxes, net.outputs, points))
    assert found.arcs["some"].points == ("inside",)
    assert found.arcs["some"].writer == "some+2"
    assert found.arcs["s"].points == ("outside",)


def test_names_of_inner_streams_meet_no_other_name() -> None:
    net = NetworkBuilder("n")
    stream = net.input("arc_0", "k int")
    stream.filter("k > 0", as_="some").union(stream, as_="both").output("out")
    found = plan(net.build(), Discipline.BOX).superboxes["both"]
    assert sorted(found.reads) == ["arc_0", "arc_0_"]
    assert found.reads["arc_0"] == "arc_0"


def test_stored_tables_are_not_streams() -> None:
    net = NetworkBuilder("n")
    names = net.table("names", "k int, name string")
    net.input("s", "k int, t long").join(names, "left.k = right.k", left=Order("t"), as_="join").output("out")
    found = plan(net.build()).superboxes["join"]
    assert (found.streams, found.tables) == ({"s": "s"}, {"names": "names"})
