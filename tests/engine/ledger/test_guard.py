"""The guard: who waits misses no change, waiting is not holding, and each thread knows what it holds."""

from __future__ import annotations

import threading

import pytest

from australis.engine.ledger.guard import Guard, is_held_here
from australis.engine.threads import SYSTEM, SystemThreads

LONG_S = 60.0
"""Longer than any of these tests may take."""


class ByHand(SystemThreads):
    """Threads of the system with a clock that a test moves; whoever waits does so for a million ticks."""

    now_ns = 0

    def ticks_ns(self) -> int:
        return self.now_ns

    def condition(self) -> threading.Condition:
        return _Slow(self)


class _Slow(threading.Condition):
    def __init__(self, threads: ByHand) -> None:
        super().__init__(threading.RLock())
        self._threads = threads

    def wait(self, timeout: float | None = None) -> bool:
        self._threads.now_ns += 1_000_000
        return super().wait(timeout)


@pytest.fixture
def guard() -> Guard:
    return Guard(SYSTEM)


def started(target: object) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread


def ended(thread: threading.Thread) -> bool:
    thread.join(LONG_S)
    return not thread.is_alive()


# --- waiting


def test_a_change_before_the_wait_is_not_missed(guard: Guard) -> None:
    version = guard.version
    with guard:
        guard.notify()
    assert ended(started(lambda: guard.wait_beyond(version)))


def test_a_wait_ends_with_a_change_or_with_its_time(guard: Guard) -> None:
    waiting = started(lambda: guard.wait_beyond(guard.version))
    guard.wait_beyond(guard.version, 0.01)
    assert waiting.is_alive()
    with guard:
        guard.notify()
    assert ended(waiting)


def test_no_wake_up_is_lost(guard: Guard) -> None:
    """Whoever notes the version, then looks, then waits for a later one, sees the last of many changes."""
    counted, seen = [0], [0, 0]
    last = 3_000

    def look(place: int) -> None:
        while seen[place] < last:
            version = guard.version
            seen[place] = counted[0]
            if seen[place] < last:
                guard.wait_beyond(version)

    def change() -> None:
        for _ in range(last):
            with guard:
                counted[0] += 1
                guard.notify()

    threads = [started(lambda place=place: look(place)) for place in range(2)] + [started(change)]
    assert all(ended(thread) for thread in threads)
    assert seen == [last, last]


def test_waiting_for_what_has_happened_is_no_waiting(guard: Guard) -> None:
    def refuse() -> None:
        raise AssertionError("nothing is left to wait for")

    guard.wait_until(lambda: True, refuse)


def test_waiting_in_vain_is_said_before_and_after_every_change(guard: Guard) -> None:
    checks: list[int] = []

    def check() -> None:
        checks.append(guard.version)
        if guard.version:
            raise ValueError("in vain")

    def wait() -> None:
        with pytest.raises(ValueError, match="in vain"):
            guard.wait_until(lambda: False, check)

    waiting = started(wait)
    while not checks:
        guard.wait_beyond(guard.version, 0.01)
    with guard:
        guard.notify()
    assert ended(waiting)
    assert checks == [0, 1]


# --- how long it is held


def test_the_longest_time_is_that_of_the_outermost() -> None:
    threads = ByHand()
    guard = Guard(threads)
    for ticks in (3, 8, 5):
        with guard:
            threads.now_ns += ticks
            with guard:
                threads.now_ns += 1
    assert guard.longest_ns == 9


def test_the_time_spent_waiting_does_not_count() -> None:
    threads = ByHand()
    guard = Guard(threads)

    with guard, guard:
        threads.now_ns += 9
        guard.wait(0.001)
        threads.now_ns += 7
    assert guard.longest_ns == 9
    with guard:
        threads.now_ns += 5
        guard.wait(0.001)
        threads.now_ns += 12
    assert guard.longest_ns == 12


def test_two_guards_in_one_thread_are_measured_apart() -> None:
    threads = ByHand()
    threads.now_ns = 1_000_000
    one, other = Guard(threads), Guard(threads)
    with one:
        threads.now_ns += 3
        with other:
            threads.now_ns += 4
            other.wait(0.001)
            assert is_held_here()
    assert (one.longest_ns, other.longest_ns) == (1_000_007, 4), "who waits for one holds the other"
    assert not is_held_here()


# --- who holds it


def test_each_thread_knows_what_it_holds(guard: Guard) -> None:
    seen: list[bool] = []
    assert not is_held_here()
    with guard:
        with guard:
            assert is_held_here()
        assert is_held_here(), "the outer one does"
        assert ended(started(lambda: seen.append(is_held_here())))
    assert not is_held_here()
    assert seen == [False]


def test_who_waits_holds_nothing_until_it_goes_on(guard: Guard) -> None:
    with guard, guard:
        taken = started(lambda: guard.wait_beyond(-1))
        while taken.is_alive():
            guard.wait(0.01)
        assert is_held_here()
    assert not is_held_here()


def test_an_error_inside_lets_go(guard: Guard) -> None:
    def fail() -> None:
        with guard:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not is_held_here()
    assert ended(started(lambda: guard.wait_beyond(-1)))
