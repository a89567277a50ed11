"""Aurora 5.2.2.4: the position of every soldier at each heartbeat, from reports within 10 minutes.

The picture of Figure 11 is lost; the trace here is built to the text.
"""

from __future__ import annotations

from typing import Any

from tests.golden.engines import Engine, clock

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order


def heartbeats() -> Network:
    net = NetworkBuilder("figure11")
    h = net.input("H", "Time timestamp")
    x = net.input("X", "Sid int, Time timestamp, Pos int")
    h.resample(
        x, {"Pos": "avg(Pos)"}, "10 min", left=Order("Time"), right=Order("Time", group_by=("Sid",))
    ).output("positions")
    return net.build()


def report(sid: int, time: str, pos: int) -> dict[str, Any]:
    return {"Sid": sid, "Time": clock(time), "Pos": pos}


def position(sid: int, time: str, pos: float) -> dict[str, Any]:
    return {"Sid": sid, "Time": clock(time), "Pos": pos}


def test_results_come_in_the_order_in_which_computations_conclude(engine: Engine) -> None:
    trace = engine(heartbeats())

    assert trace.push("H", Time=clock("2:00")) == []
    assert trace.push("X", **report(1, "1:55", 10)) == []  # tuple #1
    assert trace.push("X", **report(2, "2:00", 20)) == []  # tuple #2
    # The first tuple of soldier 2 that is later than 2:10 (tuple #3) concludes that soldier's computation.
    assert trace.push("X", **report(2, "2:12", 24)) == [position(2, "2:00", 20.0)]
    assert trace.push("X", **report(1, "2:05", 20)) == []
    assert trace.push("X", **report(1, "2:10", 30)) == []  # 2:10 is still within 10 minutes
    assert trace.push("X", **report(1, "2:11", 40)) == [position(1, "2:00", 20.0)]


def test_a_heartbeat_that_soldiers_have_passed_is_answered_at_once(engine: Engine) -> None:
    trace = engine(heartbeats())
    trace.push_all(
        "X", [report(1, "1:55", 10), report(2, "2:05", 20), report(1, "2:30", 12), report(2, "2:12", 22)]
    )

    assert trace.push("H", Time=clock("2:00")) == [position(1, "2:00", 10.0), position(2, "2:00", 20.0)]
    assert trace.push("H", Time=clock("2:15")) == []  # no soldier has passed 2:25 with a report near 2:15
    assert trace.push("X", **report(2, "2:26", 26)) == [position(2, "2:15", 21.0)]


def test_heartbeats_every_15_minutes(engine: Engine) -> None:
    trace = engine(heartbeats())
    trace.push_all("H", [{"Time": clock(time)} for time in ("2:00", "2:15", "2:30")])

    assert trace.push_all("X", [report(1, "1:58", 10), report(1, "2:06", 20)]) == []
    # 2:27 is behind 2:10 and 2:25, so it concludes two computations, in the order of their heartbeats.
    assert trace.push("X", **report(1, "2:27", 40)) == [position(1, "2:00", 15.0), position(1, "2:15", 20.0)]
    assert trace.flush() == [position(1, "2:30", 40.0)]
