"""Virtual threads: which one runs when, in virtual time, by a seed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest

from australis.errors import SimulationError
from australis.sim.machine.chance import PRIORITIES, Chances, draw_chances
from australis.sim.machine.machine import Machine, ThreadFailed
from australis.sim.machine.stuck import Stuck
from australis.sim.machine.threads import START_US


def quiet(seed: int) -> Machine:
    return Machine(seed, draw_chances(seed).calm())


def begun_since(before: set[threading.Thread]) -> set[threading.Thread]:
    """Real threads that began since and run still; those of other tests may end meanwhile."""
    return set(threading.enumerate()) - before


def count_with(machine: Machine, guard: Callable[[], AbstractContextManager[object]]) -> int:
    """Two threads that add 1 three times each, with a switch point between reading and writing."""
    total = 0

    def main() -> None:
        lock = guard()

        def add() -> None:
            nonlocal total
            for _ in range(3):
                with lock:
                    found = total
                    machine.pause("between")
                    total = found + 1

        for thread in [machine.threads.start(add, name) for name in "ab"]:
            thread.join()

    machine.run(main)
    return total


def test_a_lost_update_is_found_without_a_lock_and_never_with_one() -> None:
    without = [count_with(quiet(seed), nullcontext) for seed in range(200)]
    assert sum(total < 6 for total in without) > 50
    for seed in range(200):
        machine = quiet(seed)
        assert count_with(machine, machine.threads.lock) == 6
        machine = quiet(seed)
        assert count_with(machine, machine.threads.condition) == 6


def cross(machine: Machine) -> None:
    first, second = machine.threads.lock(), machine.threads.lock()

    def take(one: AbstractContextManager[object], other: AbstractContextManager[object]) -> None:
        with one, other:
            pass

    threads = [
        machine.threads.start(lambda: take(first, second), "upwards"),
        machine.threads.start(lambda: take(second, first), "downwards"),
    ]
    for thread in threads:
        thread.join()


def test_a_deadlock_is_reported_with_what_each_thread_waits_for() -> None:
    reports = []
    for seed in range(50):
        machine = quiet(seed)
        try:
            machine.run(lambda machine=machine: cross(machine))
        except Stuck as error:
            reports.append(f"{error} {error.__notes__}")
    assert 5 < len(reports) < 50
    for report in reports:
        assert "no thread can run" in report
        assert "seed" in report
        assert "upwards of harness waits for lock" in report
        assert "held by upwards" in report
        assert "held by downwards" in report
        assert "main of harness waits for the end of" in report
        assert "with one, other" in report, "the line where it waits"


def test_waits_notices_and_timeouts_in_virtual_time() -> None:
    machine, seen = Machine(3, Chances(step_ns=1)), []

    def main() -> None:
        changed, begin = machine.threads.condition(), machine.threads.ticks_ns()

        def wait(name: str, timeout: float | None) -> None:
            with changed:
                woken = changed.wait(timeout)
            seen.append((name, woken, round((machine.threads.ticks_ns() - begin) / 1e9, 3)))

        for name, timeout in (("short", 2.0), ("none", 0.0), ("late", 3600.0), ("long", None)):
            machine.threads.start(lambda name=name, timeout=timeout: wait(name, timeout), name)
        machine.sleep(5.0)
        with changed:
            changed.notify_all()
        machine.sleep(1.0)

    machine.run(main)
    assert seen[:2] == [("none", False, 0.0), ("short", False, 2.0)]
    assert sorted(seen[2:]) == [("late", True, 5.0), ("long", True, 5.0)]


def test_time_stands_still_while_a_thread_can_run() -> None:
    machine = Machine(1, Chances(step_ns=1))

    def main() -> tuple[int, int]:
        before = machine.threads.now_us()
        for _ in range(100):
            machine.pause("work")
        between = machine.threads.now_us()
        machine.sleep(86_400.0)
        return between - before, machine.threads.now_us() - between

    assert machine.run(main) == (0, 86_400_000_000)


def test_the_wall_clock_and_the_clock_for_durations() -> None:
    machine = Machine(1, Chances())

    def main() -> None:
        assert START_US <= machine.threads.now_us() < START_US + 1_000
        assert machine.threads.ticks_ns() < machine.threads.ticks_ns()

    machine.run(main)


def test_events() -> None:
    machine, seen = Machine(5, Chances()), []

    def main() -> None:
        event = machine.threads.event()
        seen.append(event.wait(1.0))
        machine.threads.start(lambda: (machine.sleep(2.0), event.set()), "setter")  # type: ignore[arg-type]
        seen.extend([event.is_set(), event.wait(), event.is_set(), event.wait(0.0)])
        event.clear()
        seen.extend([event.is_set(), event.wait(0.5)])

    machine.run(main)
    assert seen == [False, False, True, True, True, False, False]


def test_a_lock_is_re_entrant_and_wait_gives_it_up_however_often_it_is_held() -> None:
    for seed in range(20):
        machine = quiet(seed)

        def main(machine: Machine = machine) -> bool:
            changed, over = machine.threads.condition(), []

            def notify() -> None:
                with changed:
                    over.append(True)
                    changed.notify_all()

            with changed, changed:
                machine.threads.start(notify, "notifier")
                while not over:
                    changed.wait()
                with pytest.raises(RuntimeError, match="does not hold"), machine.threads.lock() as lock:
                    lock.__exit__(None, None, None)
            return over == [True]

        assert machine.run(main)


def test_only_the_holder_may_wait_and_notify() -> None:
    def main(machine: Machine) -> None:
        changed = machine.threads.condition()
        with pytest.raises(RuntimeError, match="main does not hold condition"):
            changed.wait()
        with pytest.raises(RuntimeError, match="main does not hold condition"):
            changed.notify_all()

    machine = quiet(1)
    machine.run(lambda: main(machine))


def test_join_waits_for_the_end_or_for_a_time() -> None:
    def main(machine: Machine) -> list[bool]:
        thread = machine.threads.start(lambda: machine.sleep(3.0), "sleeper")
        thread.join(1.0)
        before = thread.is_alive()
        thread.join()
        return [before, thread.is_alive()]

    machine = quiet(2)
    assert machine.run(lambda: main(machine)) == [True, False]


def test_an_exception_that_ends_a_thread_is_reported_at_the_end() -> None:
    def main(machine: Machine) -> None:
        machine.threads.start([].pop, "broken").join()

    machine = quiet(1)
    with pytest.raises(ThreadFailed, match="broken by IndexError") as caught:
        machine.run(lambda: main(machine))
    assert isinstance(caught.value.__cause__, IndexError)
    assert [thread.name for thread in caught.value.threads] == ["broken"]
    forgiven = quiet(1)
    forgiven.run(lambda: (main(forgiven), forgiven.failures.clear()))


def test_an_exception_of_the_harness_comes_out_of_the_run() -> None:
    machine = quiet(4)
    with pytest.raises(ZeroDivisionError) as caught:
        machine.run(lambda: 1 // 0)
    assert caught.value.__notes__[0].startswith("seed 4: ")


def test_a_run_without_an_end_is_stopped() -> None:
    def main(machine: Machine) -> None:
        def spin() -> None:
            while True:
                machine.pause("spin")

        machine.threads.start(spin, "spinner").join()

    for seed in range(10):
        machine = Machine(seed, draw_chances(seed).calm(), switches_most=500)
        before = set(threading.enumerate())
        with pytest.raises(
            Stuck, match=r"not ended after 501 switch points(.|\n)*spinner of harness can run"
        ):
            machine.run(lambda machine=machine: main(machine))
        assert begun_since(before) == set()


def test_the_harness_ends_all_that_it_leaves() -> None:
    before, machine, seen = set(threading.enumerate()), quiet(1), []

    def wait() -> None:
        try:
            machine.threads.event().wait()
        finally:
            seen.append("unwound")

    def main() -> None:
        for index in range(5):
            machine.threads.start(wait, f"waiter {index}")
        machine.sleep(1.0)

    machine.run(main)
    assert seen == ["unwound"] * 5
    assert begun_since(before) == set()


def test_an_interrupt_of_the_real_thread_ends_the_run() -> None:
    def main(machine: Machine) -> None:
        def spin() -> None:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            while True:
                machine.pause("spin")

        machine.threads.start(spin, "spinner").join()

    before, machine = set(threading.enumerate()), quiet(1)
    with pytest.raises(KeyboardInterrupt):
        machine.run(lambda: main(machine))
    assert begun_since(before) == set()


def test_a_machine_runs_once() -> None:
    machine = quiet(1)
    assert machine.run(lambda: "result") == "result"
    with pytest.raises(SimulationError, match="has run before"):
        machine.run(lambda: "again")


def test_real_threads_are_refused() -> None:
    machine, refused = quiet(1), []

    def meddle() -> None:
        try:
            machine.pause("from outside")
        except SimulationError as error:
            refused.append(str(error))

    def main() -> None:
        real = threading.Thread(target=meddle)
        real.start()
        real.join()

    machine.run(main)
    assert "is used by a real thread" in refused[0]
    with pytest.raises(SimulationError, match="used by a real thread"):
        quiet(1).threads.lock()


def runs_ahead(chances: Chances, seed: int) -> bool:
    """Whether one thread takes forty steps before another takes its second."""
    machine, steps, found = Machine(seed, chances), {"a": 0, "b": 0}, []

    def work(name: str) -> None:
        for _ in range(40):
            machine.pause("step")
            steps[name] += 1
            found.append(min(steps.values()) < 2 and max(steps.values()) == 40)

    def main() -> None:
        for thread in [machine.threads.start(lambda name=name: work(name), name) for name in "ab"]:
            thread.join()

    machine.run(main)
    return any(found)


def test_priorities_find_orders_that_a_uniform_choice_misses() -> None:
    by_priority = Chances(schedule=PRIORITIES, change_every=100)
    assert sum(runs_ahead(by_priority, seed) for seed in range(50)) > 10
    assert not any(runs_ahead(Chances(), seed) for seed in range(50))


def test_priorities_let_no_thread_starve() -> None:
    machine, seen = Machine(1, Chances(schedule=PRIORITIES, change_every=10)), []

    def main() -> None:
        over = machine.threads.event()

        def spin() -> None:
            while not over.is_set():
                pass

        for index in range(3):
            machine.threads.start(spin, f"spinner {index}")
        machine.sleep(0.0)
        seen.append("slept")
        over.set()

    machine.run(main)
    assert seen == ["slept"]
