"""The time of a log: it never goes back, and a clock that was ahead once does not stop it."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.waiting import until

from australis import NetworkBuilder, Node, Order
from australis.algebra.network import Network
from australis.engine.clock import STEP_US, LogClock

SECOND = 1_000_000
HOUR = 3_600 * SECOND


class World:
    """A clock that can be set, and the time that really passes."""

    def __init__(self) -> None:
        self.passed, self.clock = 0, 1_000 * HOUR

    def wait(self, microseconds: int) -> None:
        self.passed += microseconds
        self.clock += microseconds

    def log_clock(self, least: int = 0) -> LogClock:
        return LogClock(lambda: self.clock, ticks_ns=lambda: self.passed * 1000, least=lambda: least)


def test_time_continues_at_the_pace_of_a_clock_that_was_set_back() -> None:
    world = World()
    now = world.log_clock()
    begin = now()
    world.wait(5 * SECOND)
    world.clock -= HOUR
    assert now() == begin + 5 * SECOND
    world.wait(7 * SECOND)
    assert now() == begin + 12 * SECOND


def test_time_continues_from_the_last_event_of_a_log_that_is_ahead() -> None:
    world = World()
    now = world.log_clock(least=world.clock + HOUR)
    assert now() == world.clock + HOUR
    world.wait(3 * SECOND)
    assert now() == world.clock + HOUR


def test_a_clock_that_was_set_back_by_mistake_is_right_again_when_it_is_set_forward() -> None:
    world = World()
    now = world.log_clock()
    now()
    world.clock -= HOUR
    now()
    world.wait(SECOND)
    world.clock += HOUR
    assert now() == world.clock


def test_a_clock_that_is_set_forward_is_followed(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    now = world.log_clock()
    now()
    world.clock += HOUR
    with caplog.at_level(logging.WARNING, "australis"):
        assert now() == world.clock
    assert caplog.messages == ["the clock was set forward by 3,600 s: what is due by it is due now"]


def test_a_small_correction_leaves_no_lead() -> None:
    world = World()
    now = world.log_clock()
    begin = now()
    world.clock -= STEP_US // 2
    assert now() == begin
    world.wait(STEP_US)
    assert now() == world.clock


def test_a_clock_that_is_behind_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    now = world.log_clock(least=world.clock + HOUR)
    with caplog.at_level(logging.WARNING, "australis"):
        now()
        world.wait(SECOND)
        now()
    (message,) = caplog.messages
    assert message.startswith("the clock is 3,600 s behind the time of the log")


@given(st.lists(st.tuples(st.integers(0, 10 * SECOND), st.integers(-2 * HOUR, 2 * HOUR)), max_size=20))
def test_time_only_passes_and_never_stands_still_for_long(steps: list[tuple[int, int]]) -> None:
    world = World()
    now = world.log_clock()
    before = now()
    for waited, step in steps:
        world.wait(waited)
        world.clock += step
        assert now() >= before + waited - STEP_US
        before = max(before, now())
        world.wait(2 * STEP_US)
        assert now() >= before + STEP_US
        before = now()


def counts() -> Network:
    """A count that is emitted, at the latest, a fifth of a second after the first tuple."""
    net = NetworkBuilder("n")
    stream = net.input("x", "k long not null, t long not null")
    order = Order("t", group_by=["k"])
    stream.aggregate({"c": "count(*)"}, order, size=10, timeout="200 ms", as_="a").output("o")
    return net.build()


def test_timeouts_fire_after_a_clock_that_was_ahead_is_set_right(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ahead = HOUR

    def clock() -> int:
        return time.time_ns() // 1000 + ahead

    def push(node: Node, key: int) -> None:
        node.push("x", pa.table({"k": [key], "t": [1]}))
        until(lambda: node.read("o").num_rows == key, 20)

    with Node(tmp_path / "root", runner="light", clock=clock) as node:
        node.deploy(counts())
        push(node, 1)
        ahead = 0
        push(node, 2)
    with caplog.at_level(logging.WARNING), Node(tmp_path / "root", runner="light", clock=clock) as node:
        node.deploy(counts())
        push(node, 3)
    assert any("behind the time of the log" in message for message in caplog.messages)
