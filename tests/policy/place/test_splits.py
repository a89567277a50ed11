"""A split box is equivalent to the original: the papers' examples, random networks, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.conformance.random_networks import Event, random_events, random_network, random_rows, with_ends
from tests.policy.place.splitting import (
    check,
    compare,
    partings,
    run,
    run_on,
    sorted_story,
    window_network,
)
from tests.rewrite.networks import random_queries

from australis.algebra.boxes import Aggregate, Filter, Join, Map, Tumble, Union, WSort
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network, Ref
from australis.algebra.order import Order
from australis.algebra.progress import Progress
from australis.algebra.user_functions import register_aggregate
from australis.errors import PolicyError
from australis.policy.place.parting.split import Assumed, Parting, Same, part
from australis.reference.network import ReferenceRun

SEED = st.integers(0, 2**32)
SORTED = Assumed(ascending=True, wait="1 h")
FIGURE_2 = [(1, 2), (1, 3), (2, 2), (2, 1), (2, 6), (4, 5), (4, 2)]


def tumble(functions: dict[str, str], schema: str = "A int not null, B int") -> Network:
    net = NetworkBuilder("figure6")
    net.input("s", schema).tumble(functions, ["A"], as_="tumble").output("out")
    return net.build()


# --- the papers' examples


def test_figure_5_a_filter_needs_a_union() -> None:
    net = NetworkBuilder("figure5")
    net.input("s", "A int, B int").filter("A > 1", as_="filter").output("out")
    parting = part(net.build(), "filter", "B < 3")
    assert parting.same is Same.ALL
    kinds = [type(node.box) for node in parting.apply(net.build()).boxes.values()]
    assert kinds == [Filter, Filter, Filter, Union]
    assert not parting.divides


def test_figure_6_as_in_the_text() -> None:
    """The split takes place after tuple #3; machine 1 continues the run that it is in."""
    network = tumble({"result": "count(*)"})
    parting = part(network, "tumble", "B < 3", SORTED)
    split = parting.apply(network)
    # A last Map says that a sum of counts is never NULL, as a count is not.
    kinds = [type(node.box) for node in split.boxes.values()]
    assert kinds == [Filter, Tumble, Tumble, Union, WSort, Tumble, Map]
    assert split.boxes["tumble"].box == network.boxes["tumble"].box == split.boxes["tumble_copy"].box
    before, after = ReferenceRun(network), ReferenceRun(split)
    rows = [{"A": a, "B": b} for a, b in FIGURE_2]
    emitted = [dict(e.values) for n, row in enumerate(rows[:3]) for e in before.push("s", row, n, 0)]
    assert emitted == [{"A": 1, "result": 2}]

    after.machines["tumble"] = before.machines["tumble"]
    for number, row in enumerate(rows[3:], 3):
        assert after.push("s", row, number, 0) == []
    machines = {name: after.counters()[name] for name in ("tumble", "tumble_copy")}
    assert [machines["tumble"].received, machines["tumble_copy"].received] == [2, 2], "4 and 7; 5 and 6"
    assert [machines["tumble"].emitted, machines["tumble_copy"].emitted] == [1, 1], "A = 2 in two parts"
    # WSort emits the parts when it has waited; the Tumble after it adds them up when the next run comes.
    assert after.tick(3_600_000_001) == []
    ended = [dict(e.values) for e in after.flush(3_600_000_001)]
    assert [*emitted, *ended] == [{"A": 1, "result": 2}, {"A": 2, "result": 3}, {"A": 4, "result": 2}]


def test_what_comes_later_than_a_merge_waits_is_lost() -> None:
    """The paper assumes a large enough timeout; this is what it is for."""
    network = tumble({"result": "count(*)"})
    split = part(network, "tumble", "B < 3", Assumed(ascending=True, wait="1 us")).apply(network)
    running = ReferenceRun(split)
    rows = [(1, 2), (1, 3), (2, 2), (2, 6), (3, 6), (4, 6), (4, 2)]
    for number, (a, b) in enumerate(rows):
        running.push("s", {"A": a, "B": b}, number, now=number * 100)
    running.flush(1000)
    assert running.counters()["tumble_sort"].late == 1, "the part of A = 2 with B < 3"


# --- random networks


@pytest.mark.parametrize(
    "drawn", [partial(random_network, boxes_most=4), partial(random_queries, boxes_most=3)]
)
@given(SEED)
def test_random_boxes_in_two(drawn: Callable[[Random], Network], seed: int) -> None:
    random = Random(seed)
    network = drawn(random)
    stored = random_rows(random, network.inputs["stored"].schema, 5) if "stored" in network.inputs else []
    events = with_ends(random, random_events(random, network, 12))
    for parting in partings(random, network, Assumed()):
        check(network, parting, (stored, events))


@given(SEED)
def test_windows_in_parts(seed: int) -> None:
    """Whatever the predicate: groups are split, and added up again."""
    random = Random(seed)
    network = window_network(random, sorted_by_network=False)
    by = "k" if isinstance(network.boxes["window"].box, Tumble) else "at"
    rows = random_rows(random, network.inputs["s"].schema, random.randint(0, 24))
    rows = [{**row, "k": row["k"] or 0} for row in rows]
    story = sorted_story(random, network, rows, by)
    for parting in partings(random, network, SORTED):
        check(network, parting, story)


@given(SEED)
def test_windows_after_a_sort_need_no_assumption(seed: int) -> None:
    random = Random(seed)
    network = window_network(random, sorted_by_network=True)
    found = [each for each in partings(random, network, Assumed(wait="1 h")) if each.box == "window"]
    assert found
    story = ([], with_ends(random, random_events(random, network)))
    for parting in found:
        check(network, parting, story)


@given(SEED)
def test_a_window_is_split_while_it_runs(seed: int) -> None:
    """Its state stays with it, wherever the parts are added up."""
    random = Random(seed)
    network = window_network(random, sorted_by_network=False)
    by = "k" if isinstance(network.boxes["window"].box, Tumble) else "at"
    rows = [{**row, "k": row["k"] or 0} for row in random_rows(random, network.inputs["s"].schema, 16)]
    story = sorted_story(random, network, rows, by)
    window = network.boxes["window"].box
    found = [
        each
        for each in partings(random, network, SORTED)
        if each.box == "window" and each.put["window"].box == window and not each.divides
    ]
    assume(found)
    whole = run(network, story)
    for parting in found:
        compare(network, parting, story, whole, run_on(network, parting.apply(network), "window", story))


def test_a_box_may_be_split_again() -> None:
    net = NetworkBuilder("n")
    net.input("s", "A int, B int").map({"A": "A", "C": "A + B"}, as_="m").output("out")
    network = net.build()
    once = part(network, "m", "B < 3").apply(network)
    twice = part(once, "m_copy", "A < 2")
    assert twice.same is Same.ALL
    again = part(once, "m", "A < 2")
    rows = tuple(({"A": a, "B": b}, 0) for a, b in FIGURE_2)
    story: tuple[list[dict[str, object]], list[Event]] = ([], [Event(1, "s", rows), Event(2, ending=True)])
    for parting in (twice, again):
        assert run(parting.apply(once), story) == run(network, story)


def test_a_parting_fits_only_the_box_that_it_was_made_for() -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", "A int, B int").filter("A > 1", as_="f")
    stream.map({"A": "A", "C": "A + B"}, as_="m").output("out")
    network = net.build()
    parting = part(network, "m", "B < 3")
    assert parting.fits(network)
    assert not parting.fits(parting.apply(network)), "it is split already"
    assert not parting.fits(part(network, "f", "B < 3").apply(network)), "it reads another stream"


# --- connection points


def test_a_connection_point_stays_whole_between_boxes_that_are_split() -> None:
    net = NetworkBuilder("n")
    net.input("s", "A int, B int").filter("A > 1", as_="f").point("kept", history=10).map(
        {"A": "A"}, as_="m"
    ).output("o")
    network = net.build()
    split = part(network, "f", "B < 3").apply(network)
    assert split.connection_points["kept"].at == Ref("f_merge")
    both = part(split, "m", "A < 3").apply(split)
    assert both.connection_points["kept"].at == both.boxes["m_route"].sources[0] == Ref("f_merge")


# --- what cannot be


def built(make: object) -> Network:
    net = NetworkBuilder("n")
    schema, progress = "at int not null, k int not null, x double, v int", Progress("at")
    stream = net.input("s", schema, progress=progress)
    make(stream).output("o")  # type: ignore[operator]
    return net.build()


AT = Order("at")
REFUSED = {
    "median": (lambda s: s.tumble({"m": "median(v)"}, ["k"], as_="b"), "v > 1", "computed in parts"),
    "first": (lambda s: s.aggregate({"m": "first(v)"}, AT, 2, align=True, as_="b"), "v > 1", "in parts"),
    "ordered": (lambda s: s.tumble({"m": "first(v ORDER BY x)"}, ["k"], as_="b"), "v > 1", "in parts"),
    "distinct": (lambda s: s.tumble({"m": "count(distinct v)"}, ["k"], as_="b"), "v > 1", "in parts"),
    "doubles": (lambda s: s.tumble({"m": "sum(x)"}, ["k"], as_="b"), "v > 1", "doubles"),
    "timeout": (lambda s: s.tumble({"m": "count(*)"}, ["k"], timeout="1 s", as_="b"), "v > 1", "timeout"),
    "NULL": (lambda s: s.tumble({"m": "count(*)"}, ["v"], as_="b"), "k > 1", "NULL"),
    "unaligned": (lambda s: s.aggregate({"m": "count(*)"}, AT, 2, as_="b"), "v > 1", "first tuple"),
    "tuples": (lambda s: s.slide({"m": "count(*)"}, 3, as_="b"), "v > 1", "first tuple"),
    "late": (
        lambda s: s.aggregate({"m": "count(*)"}, Order("at", late=True), 2, align=True, as_="b"),
        "v > 1",
        "late output",
    ),
    "progress": (
        lambda s: s.aggregate({"m": "count(*)"}, Order("at", by="progress"), 2, align=True, as_="b"),
        "v > 1",
        "goes by progress",
    ),
    "wsort": (lambda s: s.wsort("at", timeout="1 s", as_="b"), "v > 1", "depends on all tuples"),
    "bsort": (
        lambda s: s.bsort(Order("at", 2), as_="b"),
        "v > 1",
        "depends on tuples that 'v > 1' separates",
    ),
    "zeros": (lambda s: s.bsort(Order("at", 2, ("x",)), as_="b"), "x > 1", "separates"),
    "downstream": (
        lambda s: s.bsort(Order("at", 2, ("k",)), as_="b").tumble({"n": "count(*)"}, ["k"]),
        "k > 1",
        "tumble1 downstream depends",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_split_says_why(case: str) -> None:
    make, keeps, why = REFUSED[case]
    with pytest.raises(PolicyError, match=why) as told:
        part(built(make), "b", keeps, SORTED)
    assert told.value.problem.path in ("b", "functions.m")
    assert told.value.problem.expected


def test_a_box_that_is_not_there_is_refused() -> None:
    with pytest.raises(PolicyError, match="tomble: there is no such box; expected one of tumble"):
        part(tumble({"result": "count(*)"}), "tomble", "B < 3")


def test_a_stream_is_not_assumed_to_be_sorted() -> None:
    with pytest.raises(PolicyError, match="nothing says that s is sorted by A"):
        part(tumble({"result": "count(*)"}), "tumble", "B < 3")


def test_functions_of_the_user_are_left_alone() -> None:
    register_aggregate(
        "place:n", init=int, incr=lambda n, _: n + 1, final=int, takes=("int",), returns="long"
    )
    with pytest.raises(PolicyError, match="calls a user function"):
        part(tumble({"result": "`place:n`(B)"}), "tumble", "B < 3", SORTED)


def test_doubles_may_be_rounded_where_that_is_allowed() -> None:
    network = tumble({"m": "avg(B)"}, "A int not null, B double")
    parting = part(network, "tumble", "B < 3", Assumed(ascending=True, rounding=True))
    assert parting.apply(network).output_schema("out") == network.output_schema("out")


def test_groups_that_stay_whole_need_no_combining() -> None:
    """Any function then: only the order is restored, or not even that."""
    runs = part(tumble({"m": "median(B)"}), "tumble", "A < 2", SORTED)
    assert [type(runs.put[each].box) for each in runs.merges] == [Union, WSort]
    windows = part(
        built(lambda s: s.aggregate({"m": "median(v)"}, Order("at", 1, ("k",)), 2, as_="b")), "b", "k < 2"
    )
    assert [type(windows.put[each].box) for each in windows.merges] == [Union]
    assert runs.divides
    assert windows.divides


def test_both_sides_of_a_join_are_routed_by_what_they_are_paired_by() -> None:
    net = NetworkBuilder("n")
    left, right = net.input("a", "at int, k int"), net.input("b", "at int, j int")
    join = left.join(
        right, "left.k = right.j", size=2, left=Order("at", 0, ("k",)), right=Order("at", 0, ("j",))
    )
    join.output("o")
    network = net.build()
    parting = part(network, "join1", "k > 1")
    predicates = [node.box.predicates for node in parting.put.values() if isinstance(node.box, Filter)]
    assert predicates == [("(k > 1) OR at IS NULL",), ("((j > 1)) OR at IS NULL",)]
    with pytest.raises(PolicyError, match="separates"):
        part(network, "join1", "at > 1")


@pytest.mark.parametrize("grouped", ["left", "right"])
def test_a_join_that_counts_lateness_over_all_groups_is_not_split(grouped: str) -> None:
    net = NetworkBuilder("n")
    left, right = net.input("a", "at int, k int"), net.input("b", "at int, k int")
    orders = {side: Order("at", 1, ("k",) if side == grouped else ()) for side in ("left", "right")}
    left.join(right, "left.k = right.k", size=2, **orders).output("o")
    with pytest.raises(PolicyError, match="separates"):
        part(net.build(), "join1", "k > 1")


def test_the_sequence_stays_where_a_tuple_can_come_only_one_way() -> None:
    net = NetworkBuilder("n")
    stream, other = net.input("s", "A int"), net.input("t", "A int")
    few, many = stream.route("A < 3")
    odd = stream.filter("A % 2 = 1")
    for name, pair in {
        "ports": (few, many),
        "inputs": (few, other),
        "both": (few, odd),
        "same": (few, few),
    }.items():
        pair[0].union(pair[1]).map({"A": "A"}, as_=name).output(f"of_{name}")
    network = net.build()
    same = {name: part(network, name, "A < 2").same for name in ("ports", "inputs", "both", "same")}
    assert same == {"ports": Same.ALL, "inputs": Same.ALL, "both": Same.MOMENTS, "same": Same.MOMENTS}


def test_what_an_order_has_no_place_for_is_rejected_where_it_was() -> None:
    net = NetworkBuilder("n")
    net.input("s", "at long, k int").bsort(Order("at", 1, ("k",)), as_="b").output("o")
    network = net.build()
    parting = part(network, "b", "k > 1")
    rows = tuple(({"at": at, "k": k}, 0) for at in (None, 2**62, -(2**62), 1) for k in (1, 2))
    story = ([], [Event(1, "s", rows), Event(2, ending=True)])
    check(network, parting, story)
    assert sum(map(len, (each["quarantine"] for each in run(network, story)))) == 6


def test_every_kind_of_box_is_split_somewhere() -> None:
    """The random networks above would prove little if all of this were refused."""
    kinds: set[type] = set()
    merged: set[Same] = set()
    for seed in range(60):
        random = Random(seed)
        found: list[tuple[Network, Parting]] = []
        for network, assumed in (
            (random_queries(random), Assumed()),
            (window_network(random, sorted_by_network=False), SORTED),
        ):
            found += [(network, each) for each in partings(random, network, assumed)]
        kinds |= {type(network.boxes[each.box].box) for network, each in found}
        merged |= {each.same for _, each in found}
    assert kinds >= {Filter, Map, Union, Aggregate, Tumble, Join}
    assert merged == set(Same)
