"""Aurora 5.2.2.3: soldiers of two platoons who report the same position within 10 minutes.

The picture of Figure 10 is lost; the trace here is built to the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from tests.golden.engines import Engine, clock

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order

Step = tuple[str, dict[str, Any]]


def report(sid: int, time: str, pos: int) -> dict[str, Any]:
    return {"Sid": sid, "Time": clock(time), "Pos": pos}


X = [report(1, "1:00", 10), report(2, "1:05", 20), report(1, "1:20", 30), report(2, "1:40", 20)]
Y = [report(7, "1:08", 20), report(8, "1:10", 10), report(7, "1:15", 20), report(8, "1:31", 30)]

PAIRS = {
    (1, "1:00", 8, "1:10", 10),  # exactly 10 minutes apart
    (2, "1:05", 7, "1:08", 20),
    (2, "1:05", 7, "1:15", 20),
}


def same_position(slack: int = 0) -> Network:
    net = NetworkBuilder("figure10")
    schema = "Sid int, Time timestamp, Pos int"
    order = Order("Time", slack=slack)
    x, y = net.input("X", schema), net.input("Y", schema)
    x.join(y, "left.Pos = right.Pos", size="10 min", left=order, right=order).output("pairs")
    return net.build()


def pairs(rows: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    found = {
        (row["left_Sid"], row["left_Time"], row["right_Sid"], row["right_Time"], row["left_Pos"])
        for row in rows
    }
    assert len(found) == len(rows), "a pair comes out once"
    return found


EXPECTED = {(x, clock(t), y, clock(u), pos) for x, t, y, u, pos in PAIRS}


def interleavings() -> Iterator[list[Step]]:
    """Every way in which the tuples of X and Y can arrive, each stream in its own order."""
    for places in combinations(range(len(X) + len(Y)), len(X)):
        x, y = iter(X), iter(Y)
        yield [("X", next(x)) if place in places else ("Y", next(y)) for place in range(len(X) + len(Y))]


def test_a_pair_leaves_when_its_second_tuple_arrives(engine: Engine) -> None:
    trace = engine(same_position())
    by_time = sorted([("X", row) for row in X] + [("Y", row) for row in Y], key=lambda step: step[1]["Time"])

    emitted = [len(trace.push(stream, **row)) for stream, row in by_time]

    #       X 1:00, X 1:05, Y 1:08, Y 1:10, Y 1:15, X 1:20, Y 1:31, X 1:40
    assert emitted == [0, 0, 1, 1, 1, 0, 0, 0]


def test_the_pair_is_the_concatenation_with_the_older_ts(engine: Engine) -> None:
    trace = engine(same_position())
    trace.push("Y", **Y[1])

    assert trace.push("X", **X[0]) == [
        {
            "left_Sid": 1,
            "left_Time": clock("1:00"),
            "left_Pos": 10,
            "right_Sid": 8,
            "right_Time": clock("1:10"),
            "right_Pos": 10,
        }
    ]


def test_the_result_does_not_depend_on_the_interleaving(engine: Engine) -> None:
    network = same_position()
    for steps in interleavings():
        trace = engine(network)
        emitted = [row for stream, values in steps for row in trace.push(stream, **values)]
        assert pairs(emitted) == EXPECTED, steps


@pytest.mark.parametrize("slack", [1, 2])
def test_join_with_slack_is_join_without_after_bsort(engine: Engine, slack: int) -> None:
    """The identity of section 5.2.2.3, on streams in which one tuple is late by one."""
    net = NetworkBuilder("identity")
    schema = "Sid int, Time timestamp, Pos int"
    x = net.input("X", schema).bsort(Order("Time", slack=slack))
    y = net.input("Y", schema).bsort(Order("Time", slack=slack))
    x.join(y, "left.Pos = right.Pos", size="10 min", left=Order("Time"), right=Order("Time")).output("pairs")
    late_x = [X[1], X[0], X[2], X[3]]

    found = []
    for network in (net.build(), same_position(slack)):
        trace = engine(network)
        emitted = trace.push_all("X", late_x) + trace.push_all("Y", Y) + trace.flush()
        found.append(pairs(emitted))

    assert found == [EXPECTED, EXPECTED]


def test_without_slack_the_late_tuple_joins_nothing(engine: Engine) -> None:
    trace = engine(same_position())

    emitted = trace.push_all("X", [X[1], X[0], X[2], X[3]]) + trace.push_all("Y", Y)

    assert pairs(emitted) == {pair for pair in EXPECTED if pair[0] != 1}
