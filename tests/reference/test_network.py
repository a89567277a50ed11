"""Whole networks: how a batch travels, the end, tables, counters and the quarantine."""

from __future__ import annotations

from typing import Any

from australis.algebra.builder import NetworkBuilder
from australis.algebra.counters import Counters
from australis.algebra.network import QUARANTINE
from australis.algebra.order import Order
from australis.reference.network import Emission, ReferenceRun

SECOND = 1_000_000


def rows(emissions: list[Emission]) -> list[tuple[Any, ...]]:
    return [(emission.output, *emission.values.values()) for emission in emissions]


def batch(*values: int) -> list[tuple[dict[str, Any], int]]:
    return [({"a": value}, 0) for value in values]


def diamond() -> ReferenceRun:
    net = NetworkBuilder("diamond")
    even, odd = net.input("s", "a int").route("a % 2 = 0")
    odd.union(even).output("out")
    return ReferenceRun(net.build())


def test_what_one_tuple_causes_comes_before_what_the_next_one_does() -> None:
    assert rows(diamond().push_batch("s", batch(1, 2, 3, 4), 0)) == [("out", a) for a in (1, 2, 3, 4)]


def test_what_one_tuple_causes_is_taken_port_by_port() -> None:
    net = NetworkBuilder("twice")
    stream = net.input("s", "a int")
    stream.map({"a": "a + 10"}).union(stream).output("out")
    emitted = ReferenceRun(net.build()).push_batch("s", batch(1, 2), 0)
    assert rows(emitted) == [("out", a) for a in (11, 1, 12, 2)]


def test_a_batch_of_one_is_the_tuple_at_a_time_case() -> None:
    run = diamond()
    assert [rows(run.push("s", {"a": a}, 0, 0)) for a in (1, 2, 3)] == [
        [("out", 1)],
        [("out", 2)],
        [("out", 3)],
    ]


def test_emissions_come_output_by_output_with_their_ts() -> None:
    net = NetworkBuilder("two")
    stream = net.input("s", "a int")
    stream.map({"b": "a + 1"}).output("later")
    stream.output("plain")
    run = ReferenceRun(net.build())
    assert run.push_batch("s", [({"a": 1}, 10), ({"a": 2}, 20)], 0) == [
        Emission("later", {"b": 2}, 10),
        Emission("later", {"b": 3}, 20),
        Emission("plain", {"a": 1}, 10),
        Emission("plain", {"a": 2}, 20),
    ]


def test_the_end_goes_through_the_network_box_by_box() -> None:
    net = NetworkBuilder("chain")
    sorted_ = net.input("s", "a int").bsort(Order("a", slack=2))
    sorted_.aggregate({"n": "count(*)"}, Order("a"), size=10).output("out")
    run = ReferenceRun(net.build())
    assert run.push_batch("s", batch(12, 1), 0) == []
    assert rows(run.flush(0)) == [("out", 1, 1), ("out", 11, 1)]


def test_time_reaches_every_box() -> None:
    net = NetworkBuilder("waiting")
    net.input("s", "a int").wsort("a", timeout="1 s").output("sorted")
    net.input("other", "a int").output("others")
    run = ReferenceRun(net.build())
    run.push_batch("s", batch(2, 1), 0)
    assert rows(run.tick(SECOND)) == []
    assert rows(run.push("other", {"a": 9}, 0, SECOND + 1)) == [("sorted", 1), ("sorted", 2), ("others", 9)]


def test_a_table_is_loaded_before_the_streams() -> None:
    net = NetworkBuilder("names")
    table = net.table("table", "k int not null, name string")
    net.input("s", "a int").join(table, "left.a = right.k", left=Order("a")).output("named")
    run = ReferenceRun(net.build())
    rejected = run.load("table", [{"k": 1, "name": "one"}, {"k": None, "name": "none"}])
    assert [emission.values["reason"] for emission in rejected] == [
        "'k' is NULL, which its schema does not allow"
    ]
    assert rows(run.push("s", {"a": 1}, 5, 0)) == [("named", 1, 1, "one")]


def test_counters() -> None:
    net = NetworkBuilder("counted")
    stream = net.input("s", "a int")
    stream.aggregate({"n": "count(*)"}, Order("a"), size=10, timeout="1 s", as_="windows").output("out")
    stream.filter("a > 5", as_="greater").output("great")
    run = ReferenceRun(net.build())
    run.push_batch("s", batch(6, 5), 0)
    run.tick(SECOND + 1)
    run.push("s", {"a": 7}, 0, SECOND + 1)
    run.push("s", {"a": None}, 0, SECOND + 1)
    assert run.counters() == {
        "windows": Counters(received=4, emitted=1, late=1, ignored=1, rejected=1),
        "greater": Counters(received=4, emitted=4),
    }


# --- quarantine


def test_the_quarantine_has_the_path_the_reason_and_the_tuple() -> None:
    net = NetworkBuilder("soldiers")
    stream = net.input("reports", "sid int not null, time timestamp")
    with net.group("detect"):
        stream.aggregate({"n": "count(*)"}, Order("time"), size="1 s", as_="count").output("out")
    run = ReferenceRun(net.build())
    emissions = run.push_batch(
        "reports",
        [({"sid": 1, "time": None}, 10), ({"sid": None, "time": 0}, 20), ({"sid": 3}, 30)],
        0,
    )
    assert emissions == [
        Emission(QUARANTINE, {"path": path, "reason": reason, "tuple": text}, ts)
        for path, reason, text, ts in (
            (
                "soldiers.reports",
                "'sid' is NULL, which its schema does not allow",
                '{"sid": null, "time": "1970-01-01T00:00:00Z"}',
                20,
            ),
            ("soldiers.reports", "'time' is missing", '{"sid": 3}', 30),
            (
                "soldiers.detect.count",
                "'time' is NULL, which has no place in an order",
                '{"sid": 1, "time": null}',
                10,
            ),
        )
    ]


def test_a_rejected_tuple_of_a_join_is_shown_with_the_schema_of_its_side() -> None:
    net = NetworkBuilder("pairs")
    left, right = net.input("l", "a double, x int"), net.input("r", "b double, y int")
    left.join(right, "TRUE", size=1.0, left=Order("a"), right=Order("b"), as_="join").output("out")
    run = ReferenceRun(net.build())
    emission = run.push("r", {"b": float("inf"), "y": 1}, 0, 0)[0]
    assert emission.values["path"] == "pairs.join"
    assert emission.values["tuple"] == '{"b": "Infinity", "y": 1}'
