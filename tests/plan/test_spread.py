"""How tuples may be spread: keys are traced from what boxes group by to the inputs, or there are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import Ref
from australis.algebra.order import Order
from australis.plan.spread import Spread, SpreadKind, spread_of
from australis.plan.superboxes import Discipline, plan

SCHEMA = "k int, g string, t long, x double"


def count(stream: Stream, *by: str, as_: str = "count") -> Stream:
    return stream.aggregate({"n": "count(*)"}, Order("t", group_by=by), size=10, as_=as_)


def spread(net: NetworkBuilder) -> Spread:
    network = net.build()
    return spread_of(network, network.order)


def start() -> tuple[NetworkBuilder, Stream]:
    net = NetworkBuilder("n")
    return net, net.input("s", SCHEMA)


def test_boxes_without_a_memory_take_rows_anywhere() -> None:
    net, stream = start()
    stream.filter("k > 0").map({"y": "x + 1"}).output("out")
    assert spread(net) == Spread(SpreadKind.ROWS)


def test_keys_come_through_a_filter_and_a_sort() -> None:
    net, stream = start()
    count(stream.filter("k > 0", as_="some").bsort(Order("t", group_by=("g",)), as_="sort"), "g").output(
        "out"
    )
    found = spread(net)
    assert found.kind is SpreadKind.KEYS
    assert {found.keys[Ref(name)] for name in ("s", "some", "sort", "count")} == {("g",)}


def test_keys_are_renamed_by_a_map() -> None:
    net, stream = start()
    count(stream.map({"who": "k", "t": "t"}, as_="renamed"), "who").output("out")
    found = spread(net)
    assert (found.keys[Ref("s")], found.keys[Ref("renamed")]) == (("k",), ("who",))


def test_a_computed_attribute_is_not_a_key() -> None:
    net, stream = start()
    count(stream.map({"k": "k + 1", "t": "t"}), "k").output("out")
    assert spread(net) == Spread(SpreadKind.ONE)


def test_of_several_keys_those_remain_that_come_unchanged() -> None:
    net, stream = start()
    count(stream.map({"k": "k + 1", "g": "g", "t": "t"}), "k", "g").output("out")
    assert spread(net).keys[Ref("s")] == ("g",)


def test_boxes_agree_on_what_they_share() -> None:
    net, stream = start()
    count(stream, "k", "g", as_="a").output("a")
    count(stream, "g", "x", as_="b").output("b")
    assert spread(net).keys[Ref("s")] == ("g",)


def test_boxes_that_share_no_key_run_in_one_partition() -> None:
    net, stream = start()
    count(stream, "k", as_="a").output("a")
    count(stream, "g", as_="b").output("b")
    assert spread(net) == Spread(SpreadKind.ONE)


def test_a_box_without_groups_takes_the_keys_from_all() -> None:
    net, stream = start()
    count(stream, "k", as_="a").output("a")
    count(stream, as_="b").output("b")
    assert spread(net) == Spread(SpreadKind.ONE)


def test_an_aggregate_after_another_keeps_its_key() -> None:
    net, stream = start()
    first = stream.aggregate({"n": "count(*)"}, Order("t", group_by=("k", "g")), size=10, as_="first")
    first.aggregate({"m": "max(n)"}, Order("t", group_by=("g",)), size=100, as_="second").output("out")
    found = spread(net)
    assert (found.keys[Ref("s")], found.keys[Ref("first")], found.keys[Ref("second")]) == (("g",),) * 3


def test_what_an_aggregate_computes_is_not_a_key() -> None:
    net, stream = start()
    second = Order("t", group_by=("n",))
    count(stream, "k", as_="first").aggregate({"m": "count(*)"}, second, size=10).output("out")
    assert spread(net) == Spread(SpreadKind.ONE)


def test_a_union_has_the_key_of_both_inputs() -> None:
    net, stream = start()
    other = net.input("o", SCHEMA)
    count(stream.union(other, as_="all"), "g").output("out")
    found = spread(net)
    assert (found.keys[Ref("s")], found.keys[Ref("o")], found.keys[Ref("all")]) == (("g",),) * 3


def test_a_union_of_keys_by_other_names() -> None:
    net, stream = start()
    other = net.input("o", "id int, t long").map({"k": "id", "t": "t"})
    count(stream.map({"k": "k", "t": "t"}).union(other), "k").output("out")
    found = spread(net)
    assert (found.keys[Ref("s")], found.keys[Ref("o")]) == (("k",), ("id",))


def test_a_union_with_a_computed_attribute_has_no_key() -> None:
    net, stream = start()
    other = net.input("o", "id int, t long").map({"k": "id + 0", "t": "t"})
    count(stream.map({"k": "k", "t": "t"}).union(other), "k").output("out")
    assert spread(net) == Spread(SpreadKind.ONE)


def test_a_union_of_two_attributes_of_one_input_has_no_key() -> None:
    """A tuple of this input would belong to two partitions."""
    net = NetworkBuilder("n")
    stream = net.input("s", "a int, b int, t long")
    one, other = stream.map({"k": "a", "t": "t"}), stream.map({"k": "b", "t": "t"})
    count(one.union(other), "k").output("out")
    assert spread(net) == Spread(SpreadKind.ONE)


def test_branches_of_different_keys_that_meet_in_a_union_have_none() -> None:
    net, stream = start()
    count(stream.map({"k": "k", "t": "t"}), "k", as_="a").output("a")
    other = net.input("o", "k int, t long")
    count(stream.map({"k": "k", "t": "t"}).union(other), "k", as_="b").output("b")
    assert spread(net) == Spread(SpreadKind.ONE)


def joined(stream: Stream) -> Stream:
    order = Order("t", group_by=("k",))
    return stream.join(stream, "left.k = right.k", size=1, left=order, right=order)


ONE_STATE: dict[str, Callable[[Stream], Stream]] = {
    "tumble": lambda stream: stream.tumble({"n": "count(*)"}, ("k",)),
    "wsort": lambda stream: stream.wsort("k", timeout="1 s"),
    "xsection": lambda stream: stream.xsection({"n": "count(*)"}, "t", size=3),
    "join": joined,
    "resample": lambda stream: stream.resample(
        stream, {"n": "count(*)"}, 1, left=Order("t"), right=Order("t", group_by=("k",))
    ),
}


@pytest.mark.parametrize("name", ONE_STATE)
def test_boxes_that_keep_one_state_for_all_tuples(name: str) -> None:
    net, stream = start()
    ONE_STATE[name](stream).output("out")
    assert spread(net) == Spread(SpreadKind.ONE)


# --- stored tables


def with_names() -> tuple[NetworkBuilder, Stream, Stream]:
    net, stream = start()
    return net, stream, net.table("names", "id int, name string")


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
def test_a_lookup_without_an_order_takes_rows_anywhere(how: str) -> None:
    net, stream, names = with_names()
    stream.filter("k > 0").join(names, "left.k = right.id", how=how, table="right").output("out")
    assert spread(net) == Spread(SpreadKind.ROWS)


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
def test_keys_come_through_a_lookup_without_an_order(how: str) -> None:
    net, stream, names = with_names()
    counted = stream.bsort(Order("t", group_by=("k", "g")), as_="sort")
    count(counted.join(names, "left.k = right.id", how=how, table="right", as_="named"), "g").output("out")
    found = spread(net)
    assert found.kind is SpreadKind.KEYS
    assert found.keys == {Ref(name): ("g",) for name in ("s", "sort", "named", "count")}


@pytest.mark.parametrize("how", ["inner", "right"])
def test_keys_come_through_a_lookup_on_the_other_side(how: str) -> None:
    net, stream = start()
    ranks = net.table("ranks", "g string, rank int")
    named = ranks.join(stream, "left.g = right.g", how=how, table="left", as_="named")
    count(named, "right_g").output("out")
    found = spread(net)
    assert (found.keys[Ref("s")], found.keys[Ref("named")]) == (("g",), ("right_g",))


def test_a_join_with_a_table_is_spread_by_the_groups_of_its_stream() -> None:
    net, stream, names = with_names()
    named = stream.join(names, "left.k = right.id", left=Order("t", group_by=("k", "g")), as_="named")
    count(named, "g", "name").output("out")
    found = spread(net)
    assert (found.keys[Ref("s")], found.keys[Ref("named")]) == (("g",), ("g",))
    assert Ref("names") not in found.keys


def test_a_join_with_a_table_whose_stream_has_no_groups_runs_in_one_partition() -> None:
    net, stream, names = with_names()
    stream.join(names, "left.k = right.id", left=Order("t")).output("out")
    assert spread(net) == Spread(SpreadKind.ONE)


def test_what_comes_from_a_table_is_not_a_key() -> None:
    net, stream, names = with_names()
    count(stream.join(names, "left.k = right.id", table="right"), "name").output("out")
    assert spread(net) == Spread(SpreadKind.ONE)


@pytest.mark.parametrize(("discipline", "kind"), [("train", SpreadKind.ROWS), ("superbox", SpreadKind.ONE)])
def test_a_lookup_by_itself_takes_rows_whatever_is_around_it(discipline: str, kind: SpreadKind) -> None:
    net, stream, names = with_names()
    count(stream.join(names, "left.k = right.id", table="right", as_="named")).output("out")
    superboxes = plan(net.build(), Discipline(discipline)).superboxes
    assert next(each for each in superboxes.values() if "named" in each.boxes).spread.kind is kind


def test_older_plans_spread_nothing_that_is_connected_with_a_table() -> None:
    net, stream, names = with_names()
    sorted_by_key = stream.bsort(Order("t", group_by=("g",)), as_="sort")
    sorted_by_key.join(names, "left.k = right.id", table="right", as_="named").filter("k > 0").output("out")
    found = plan(net.build(), Discipline.TRAIN, spreads_tables=False).superboxes.values()
    assert [each.spread.kind.value for each in found] == ["one", "one", "rows"]
    found = plan(net.build(), Discipline.TRAIN).superboxes.values()
    assert [each.spread.kind.value for each in found] == ["keys", "rows", "rows"]
