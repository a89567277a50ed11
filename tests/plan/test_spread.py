"""How tuples may be spread: keys are traced from what boxes group by to the inputs, or there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import Ref
from australis.algebra.order import Order
from australis.algebra.progress import Progress
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


def test_boxes_of_one_stream_and_of_several_agree() -> None:
    net, stream = start()
    count(stream.map({"k": "k", "t": "t"}), "k", as_="a").output("a")
    other = net.input("o", "k int, t long")
    both = stream.map({"k": "k", "t": "t"}).union(other)
    count(both, "k", as_="b").output("b")
    found = spread(net)
    assert (found.keys[Ref("s")], found.keys[Ref("o")], found.keys[Ref("b")]) == (("k",),) * 3
    assert spread_of(net.build(), net.build().order, spreads_joins=False) == Spread(SpreadKind.ONE)


def test_branches_of_different_keys_that_meet_in_a_union_have_none() -> None:
    net, stream = start()
    count(stream.map({"k": "k", "g": "g", "t": "t"}), "g", as_="a").output("a")
    other = net.input("o", "k int, t long")
    count(stream.map({"k": "k", "t": "t"}).union(other), "k", as_="b").output("b")
    assert spread(net) == Spread(SpreadKind.ONE)


BY_K = Order("t", group_by=("k",))
ONE_STATE: dict[str, Callable[[Stream], Stream]] = {
    "tumble": lambda stream: stream.tumble({"n": "count(*)"}, ("k",)),
    "wsort": lambda stream: stream.wsort("k", timeout="1 s"),
    "xsection": lambda stream: stream.xsection({"n": "count(*)"}, "t", size=3),
    "join without groups": lambda stream: stream.join(
        stream, "left.k = right.k", size=1, left=Order("t"), right=Order("t", group_by=("k",))
    ),
    "join without equal keys": lambda stream: stream.join(
        stream, "left.k < right.k", size=1, left=BY_K, right=BY_K
    ),
    "join of two attributes": lambda stream: stream.map({"k": "k", "i": "k + 0", "t": "t"}).join(
        stream, "left.i = right.k", size=1, left=Order("t", group_by=("i",)), right=BY_K
    ),
    "as-of join without keys": lambda stream: stream.asof(stream, left=BY_K, right=Order("t")),
    "resample": lambda stream: stream.resample(
        stream, {"n": "count(*)"}, 1, left=Order("t"), right=Order("t", group_by=("k",))
    ),
}


@pytest.mark.parametrize("name", ONE_STATE)
def test_boxes_that_keep_one_state_for_all_tuples(name: str) -> None:
    net, stream = start()
    ONE_STATE[name](stream).output("out")
    assert spread(net) == Spread(SpreadKind.ONE)


# --- boxes of two streams

MARKED = Order("t", by="progress")


def two() -> tuple[NetworkBuilder, Stream, Stream]:
    net = NetworkBuilder("n")
    left = net.input("s", SCHEMA, progress=Progress("t", 1))
    return net, left, net.input("o", "id int, g string, t long, y double", progress=Progress("t", 1))


def joined(one: Stream, other: Stream, **more: Any) -> Stream:
    by_key = {"left": BY_K, "right": Order("t", group_by=("id",)), **more}
    return one.join(other, "left.k = right.id", size=1, as_="join", **by_key)


@pytest.mark.parametrize(
    "orders",
    [
        {},
        {"left": MARKED},
        {"right": MARKED},
        {"left": MARKED, "right": MARKED},
        {"left": Order("t", 2, ("g", "k"))},
    ],
)
def test_a_join_is_spread_by_what_it_equates(orders: dict[str, Order]) -> None:
    net, left, right = two()
    met = joined(left, right, **orders).map({"id": "id", "t": "left_t"}, as_="ids")
    count(met, "id", as_="count").output("out")
    found = spread(net)
    names = {"s": "k", "o": "id", "join": "k", "ids": "id", "count": "id"}
    assert found.keys == {Ref(box): (name,) for box, name in names.items()}
    assert found.groups == {"join": (("k",), ("id",)), "count": (("id",),)}


def test_other_boxes_of_two_streams_are_spread_alike() -> None:
    net, left, right = two()
    by_id = Order("t", group_by=("id",))
    latest = left.asof(right, "left.k = right.id", left=BY_K, right=by_id, as_="latest")
    near = latest.resample(
        right,
        {"n": "count(*)"},
        1,
        left=Order("left_t"),
        right=by_id,
        predicate="left.k = right.id",
        as_="near",
    )
    assert near
    latest.output("out")
    found = spread(net)
    assert found.kind is SpreadKind.ONE, "the left order of the Resample has no groups"


@pytest.mark.parametrize(
    ("how", "keys"),
    [
        ("inner", ["k", "id"]),
        ("left", ["k"]),
        ("right", ["id"]),
        ("full", []),
        ("semi", ["k"]),
        ("anti", ["k"]),
    ],
)
def test_what_may_be_null_because_there_is_no_partner_is_no_key(how: str, keys: list[str]) -> None:
    for name in ("k", "id"):
        net, left, right = two()
        met = joined(left, right, how=how)
        if name == "id" and how in ("semi", "anti"):
            continue
        count(met.map({name: name, "t": "t" if how in ("semi", "anti") else "left_t"}), name).output("out")
        assert spread(net).kind is (SpreadKind.KEYS if name in keys else SpreadKind.ONE)


def test_what_a_join_does_not_equate_is_no_key() -> None:
    """A tuple of the other side has another value of it."""
    for name in ("left_g", "y"):
        net, left, right = two()
        count(joined(left, right).map({name: name, "t": "left_t"}), name).output("out")
        assert spread(net) == Spread(SpreadKind.ONE)


def test_a_join_of_a_stream_with_itself_by_two_attributes_has_no_key() -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", "a int, b int, t long")
    orders = {"left": Order("t", group_by=("a",)), "right": Order("t", group_by=("b",))}
    stream.join(stream, "left.a = right.b", size=1, **orders).output("out")
    assert spread(net) == Spread(SpreadKind.ONE)


def test_a_join_of_what_joins_and_aggregates_make() -> None:
    net, left, right = two()
    means = left.aggregate({"n": "count(*)"}, BY_K, size=10, as_="means")
    third = net.input("third", "who int, t long")
    met = joined(means, right)
    met.join(
        third,
        "left.id = right.who",
        size=1,
        left=Order("left_t", group_by=("id",)),
        right=Order("t", group_by=("who",)),
        as_="all",
    ).output("out")
    found = spread(net)
    assert {str(ref): names for ref, names in found.keys.items()} == {
        "s": ("k",),
        "o": ("id",),
        "third": ("who",),
        "means": ("k",),
        "join": ("k",),
        "all": ("k",),
    }, "also by the name of an attribute that the second join does not equate"
    assert found.groups["all"] == (("id",), ("who",))


def test_pairs_stay_together_where_a_side_has_its_key_twice() -> None:
    net, left, right = two()
    twice = right.map({"one": "id", "two": "id", "g": "g", "t": "t"})
    order = Order("t", group_by=("two", "g"))
    twice.join(
        left,
        "left.g = right.g and left.two = right.k",
        size=1,
        left=order,
        right=Order("t", group_by=("k", "g")),
    ).output("out")
    (groups,) = spread(net).groups.values()
    assert list(zip(*groups, strict=True)) == [("g", "g"), ("two", "k")]


def test_older_plans_spread_nothing_that_is_connected_with_two_streams() -> None:
    net, left, right = two()
    joined(left, right).output("out")
    found = plan(net.build(), Discipline.SUPERBOX, spreads_joins=False).superboxes.values()
    assert [each.spread.kind.value for each in found] == ["one"]


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
