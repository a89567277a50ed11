"""What rules must leave alone or survive: user functions, odd measurements, deep texts, odd names."""

from __future__ import annotations

import math

import pytest

from australis import NetworkBuilder, Order
from australis.algebra.boxes import Filter
from australis.algebra.network import Network, Ref
from australis.algebra.user_functions import register_aggregate, register_function
from australis.rewrite.improve import RULES, improve
from australis.rewrite.rewrite import kept
from australis.rewrite.statistics import Measure, Statistics, cost

TIME = Order("at", 2, ("k",))


@pytest.fixture
def user_functions() -> None:
    """A function and an aggregate of the user, with unknown side effects."""
    register_function("odd:same", lambda values: values, takes=("int",), returns="int")
    register_aggregate(
        "odd:count", init=int, incr=lambda n, _: n + 1, final=int, takes=("int",), returns="long"
    )


@pytest.mark.usefixtures("user_functions")
def test_functions_of_the_user_see_the_tuples_that_they_would_see() -> None:
    net = NetworkBuilder("n")
    given = net.input("x", "at int not null, k int, g string")
    for name in ("a", "b"):
        mapped = given.map({"at": "at", "k": "k", "y": "`odd:same`(k)", "unread": "`odd:same`(at)"})
        chosen = mapped.filter("k > 1").filter("`odd:same`(k) > 2").filter("`odd:same`(k) > 3")
        chosen.map({"at": "at", "k": "k"}).aggregate({"n": "`odd:count`(k)"}, TIME, 3).output(name)
    network = net.build()
    calls = [node for node in network.boxes.values() if "odd:" in str(node.box)]
    found = improve(network).network
    assert [node.box for node in found.boxes.values() if "odd:" in str(node.box)] == [n.box for n in calls]
    assert all(found.boxes[box_id].sources == network.boxes[box_id].sources for box_id in ("map1", "filter2"))


@pytest.mark.parametrize("us", [0.0, math.inf, math.nan, -1.0])
@pytest.mark.parametrize("share", [0.0, math.inf, math.nan, -1.0, 3.0])
def test_odd_measurements_end_in_a_network(us: float, share: float) -> None:
    net = NetworkBuilder("n")
    x = (
        net.input("x", "at int not null, k int, g string")
        .filter("g like 'a%'", as_="f")
        .filter("k > 1", as_="g")
    )
    x.map({"k": "k + 1", "g": "g"}, as_="m").filter("g = 'b'", as_="h").output("out")
    measure = Measure(us, (share, 1.0))
    for known in ({"f": measure}, dict.fromkeys("fgmh", measure)):
        assert improve(net.build(), Statistics(known)).network.outputs.keys() == {"out"}


def chain(filters: int) -> Network:
    net = NetworkBuilder("n")
    stream = net.input("x", "k int")
    for number in range(filters):
        stream = stream.filter(f"k > {number}")
    stream.output("out")
    return net.build()


def test_a_text_that_would_be_too_deep_is_not_written() -> None:
    boxes = improve(chain(80)).network.boxes.values()
    predicates = [node.box.predicates for node in boxes if isinstance(node.box, Filter)]
    assert 1 < len(predicates) < 10
    assert sum(text.count(">") for (text,) in predicates) == 80


def test_names_that_have_to_be_quoted() -> None:
    net = NetworkBuilder("n")
    x = net.input("x", {"select": "int", "case": "int", "k": "int", "g": "string"})
    x.map({"like": "`select`", "case": "`case`", "up": "upper(g)"}, as_="m").filter("`like` > `case`").map(
        {"case": "`case`"}
    ).output("out")
    found = improve(net.build()).network
    assert found.boxes["x_narrow"].box.output_schemas(found.schemas[Ref("x")])[0].names == ("select", "case")


def test_a_group_without_boxes_goes_and_new_ids_are_free() -> None:
    net = NetworkBuilder("n")
    x = net.input("x", "at int, k int, g string")
    with net.group("inner"):
        same = x.map({"at": "at", "k": "k", "g": "g"}, as_="same")
    same.filter("k > 1", as_="f").output("out")
    assert not improve(net.build()).network.groups
    net = NetworkBuilder("n")
    x = net.input("x", "at int, k int, g string")
    x.filter("k > 1", as_="x_narrow").map({"at": "at"}, as_="m").output("out")
    assert [*improve(net.build()).network.boxes] == ["x_narrow2", "x_narrow", "m"]


def test_boxes_that_stay_are_known_with_their_state() -> None:
    net = NetworkBuilder("n")
    x = net.input("x", "at int not null, k int, g string")
    x.map({"at": "at", "k": "k", "up": "upper(g)"}, as_="m").filter("k > 1", as_="f").aggregate(
        {"n": "count(*)"}, TIME, 3, as_="w"
    ).output("out")
    x.bsort(TIME, as_="s").map({"k": "k"}, as_="n").output("sorted")
    network = net.build()
    fresh, running = improve(network), improve(network, Statistics(running=("w", "s")))
    assert kept(network, fresh.network) == {"w"}
    assert kept(network, running.network) == {"w", "s"}


def test_a_selectivity_that_flips_turns_the_filters_round() -> None:
    net = NetworkBuilder("n")
    x = net.input("x", "k int, g string, h string").filter("g like '%a%'", as_="g")
    x.filter("h like '%b%'", as_="h").output("out")
    network = net.build()

    def order(g: float, h: float) -> tuple[str, ...]:
        known = {"g": Measure(1.0, (g, 1 - g)), "h": Measure(1.0, (h, 1 - h))}
        return improve(network, Statistics(known)).network.order

    assert order(0.1, 0.6) == ("g", "h")
    assert order(0.6, 0.1) == ("h", "g")


def test_cost_counts_what_flows_and_improving_lowers_it() -> None:
    net = NetworkBuilder("n")
    left, table = net.input("x", "at int not null, k int, g string"), net.table("t", "k int")
    dear = left.filter("g like '%a%'", as_="dear").filter("k = 1", as_="cheap")
    dear.join(table, "left.k = right.k", left=Order("at"), as_="j").output("out")
    network = net.build()
    known = {
        "dear": Measure(2.0, (0.9, 0.1)),
        "cheap": Measure(0.5, (0.1, 0.9)),
        "j": Measure(1.0, (3.0,)),
    }
    before = cost(network, Statistics(known), {"x": 100.0, "t": 1e9})
    assert before == pytest.approx(100 * (2.0 + 0.9 * 0.5 + 0.09 * 1.0))
    found = improve(network, Statistics(known))
    after = cost(found.network, found.statistics, {"x": 100.0})
    assert after == pytest.approx(100 * (0.5 + 0.1 * 2.0 + 0.09 * 1.0))


def test_every_rule_is_a_function_in_a_file_of_its_name() -> None:
    for rule in RULES:
        assert rule.__module__ == f"australis.rewrite.rules.{getattr(rule, '__name__', '')}"
        assert rule.__doc__
