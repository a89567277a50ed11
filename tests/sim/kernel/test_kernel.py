"""The kernel of the virtual world: time, machines and links."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.errors import SimulationError
from australis.sim.kernel.clock import Clock
from australis.sim.kernel.links import Faults, Links, Net
from australis.sim.kernel.nodes import VirtualNode


@given(st.lists(st.integers(0, 5)))
def test_what_is_planned_happens_in_order_and_ties_as_planned(delays: list[int]) -> None:
    clock, seen = Clock(), []
    for serial, delay in enumerate(delays):
        clock.after(delay, lambda *what: seen.append((clock.now, *what)), serial)
    clock.run()
    assert seen == sorted((float(delay), serial) for serial, delay in enumerate(delays))
    assert clock.happened == len(delays)


def test_again_and_again() -> None:
    clock, seen = Clock(), []
    clock.every(2.0, lambda: seen.append(clock.now), first=1.0)
    clock.every(3.0, lambda: seen.append(clock.now))
    clock.run(until=6.5)
    assert (seen, clock.now) == ([1.0, 3.0, 3.0, 5.0, 6.0], 6.5)
    clock.run(until=2.0)
    assert clock.now == 6.5, "time does not go back"
    clock.run(until=7.0)
    assert seen[-1] == 7.0, "until then, and then too"


def test_work_is_done_in_turn_and_none_of_it_by_a_machine_that_crashed() -> None:
    clock, seen = Clock(), []
    node = VirtualNode(clock, "n", capacity=2.0)
    for name, amount in {"a": 2.0, "b": 2.0, "c": 99.0}.items():
        node.work(amount, lambda name: seen.append((clock.now, name)), name)
    clock.at(2.5, node.crash)
    clock.at(2.6, node.work, 1.0, seen.append, "lost")
    clock.at(3.0, node.restart)
    clock.at(4.0, node.work, 1.0, lambda name: seen.append((clock.now, name)), "d")
    clock.run()
    assert seen == [(1.0, "a"), (2.0, "b"), (4.5, "d")]
    assert node.queued == 0


def sent(links: Links, times: list[float], seed: int = 0) -> list[tuple[float, object]]:
    clock, seen = Clock(), []
    net = Net(clock, Random(seed), links, lambda *what: seen.append((clock.now, what[2])))
    for number, time in enumerate(times):
        clock.at(time, net.send, "a", "b", number)
    clock.run()
    return seen


def test_a_page_leaves_when_it_is_full_or_due() -> None:
    found = sent(Links(latency=1, page_tuples=2, wait=5), [0, 1, 2, 20, 21])
    assert found == [(2, 0), (2, 1), (8, 2), (22, 3), (22, 4)]


def test_a_page_waits_for_those_that_the_link_still_carries() -> None:
    assert sent(Links(latency=1, tuple_time=2), [0, 0, 10]) == [(3, 0), (5, 1), (13, 2)]
    assert sent(Links(latency=1, tuple_time=2, page_tuples=2), [0, 0, 10]) == [(5, 0), (5, 1), (13, 2)]


def test_links_lose_double_and_delay() -> None:
    bad = Links(faults=Faults(loss=0.2, duplication=0.3, delay=5))
    found = sent(bad, [number / 10 for number in range(1000)])
    numbers = [number for _, number in found]
    assert len(set(numbers)) == pytest.approx(800, rel=0.1)
    assert len(numbers) == pytest.approx(1.3 * 800, rel=0.1)
    assert numbers != sorted(numbers)
    assert max(time - number / 10 for time, number in found) <= 5
    assert found == sent(bad, [number / 10 for number in range(1000)])
    assert found != sent(bad, [number / 10 for number in range(1000)], seed=1)


def test_a_connection_keeps_its_order_however_late_pages_are() -> None:
    late = Faults(duplication=0.3, delay=5)
    found = sent(Links(faults=late, ordered=True), [number / 10 for number in range(300)])
    assert [number for _, number in found] == sorted(number for _, number in found)
    assert any(time - number / 10 > 4 for time, number in found)


def test_a_message_of_a_node_to_itself_is_never_lost() -> None:
    clock, seen = Clock(), []
    net = Net(clock, Random(1), Links(latency=9, faults=Faults(loss=0.99)), lambda *what: seen.append(what))
    net.send("a", "a", "note")
    clock.run()
    assert (seen, clock.now) == ([("a", "a", "note")], 0.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VirtualNode(Clock(), "n", 0), "n: has the capacity 0; expected a number above 0"),
        (lambda: Links(page_tuples=0), "links.page_tuples: is 0; expected 1 or more"),
        (lambda: Links(wait=-1), "links: have the time -1; expected 0 or more"),
        (lambda: Faults(loss=1.0), "faults: are Faults("),
        (lambda: Clock().after(-1, print), "clock: was asked for -1; expected 0 or later"),
    ],
)
def test_what_cannot_be_is_refused(make: object, message: str) -> None:
    with pytest.raises(SimulationError) as refused:
        make()  # type: ignore[operator]
    assert str(refused.value).startswith(message)
