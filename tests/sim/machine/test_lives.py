"""Lives: power loss ends all threads of a process at once, and nothing that they still do has an effect."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from australis.sim.machine import scheduler
from australis.sim.machine.chance import Chances, draw_chances
from australis.sim.machine.disk import VirtualDisk
from australis.sim.machine.lives import Life, PowerLoss
from australis.sim.machine.machine import Machine, ThreadFailed


def quiet(seed: int) -> Machine:
    return Machine(seed, draw_chances(seed).calm())


def crowd(machine: Machine, seen: list[str]) -> None:
    """A thread that starts others, which wait for everything there is to wait for."""
    lock, changed, event = machine.threads.lock(), machine.threads.condition(), machine.threads.event()

    def work(name: str) -> None:
        try:
            with lock:
                machine.pause("work")
            if name == "a":
                event.wait()
            with changed:
                if changed.wait(1e6 if name == "b" else None):
                    seen.append("woken")
        finally:
            seen.append(name)

    threads = [machine.threads.start(lambda name=name: work(name), name) for name in "abcd"]
    for thread in threads:
        thread.join()


def test_power_loss_unwinds_all_threads_and_leaves_none_behind() -> None:
    before = threading.active_count()
    for seed in range(25):
        machine, seen = quiet(seed), []

        def main(machine: Machine = machine, seen: list[str] = seen, crash_at: int = 1 + seed) -> Life:
            life = machine.begin_life(crash_at=crash_at)
            life.start(lambda: crowd(machine, seen), "crowd").join()
            assert life.is_over
            assert life.threads == []
            return life

        assert machine.run(main).switches == 1 + seed
        assert "woken" not in seen
        assert len(seen) == len(set(seen))
        assert machine.faults.counts == {"power loss": 1}
        assert threading.active_count() == before


def test_the_harness_may_crash_a_life_and_all_its_threads_have_ended_on_return() -> None:
    for seed in range(20):
        machine, seen = quiet(seed), []

        def main(machine: Machine = machine, seen: list[str] = seen) -> None:
            life = machine.begin_life()
            thread = life.start(lambda: crowd(machine, seen), "crowd")
            machine.sleep(1.0)
            assert thread.is_alive()
            machine.crash(life)
            assert life.is_over
            assert sorted(seen) == ["a", "b", "c", "d"]
            assert not thread.is_alive()
            with pytest.raises(PowerLoss):
                life.start(lambda: None, "too late")

        machine.run(main)


def test_whatever_a_dead_thread_does_raises_and_has_no_effect() -> None:
    machine, refused = quiet(1), []
    disk = VirtualDisk(machine)

    def try_all(actions: list[object]) -> None:
        for action in actions:
            try:
                action()  # type: ignore[operator]
            except PowerLoss:
                refused.append(action)

    def work() -> None:
        threads = machine.threads
        lock, changed, event = threads.lock(), threads.condition(), threads.event()
        other = threads.start(lambda: machine.sleep(1e6), "other")
        disk.create("kept", b"1")
        disk.sync("kept")
        uses = [
            *(lock.__enter__, changed.__enter__, changed.wait, changed.notify_all),
            *(event.set, event.clear, event.is_set, event.wait, other.join, other.is_alive),
            *(threads.lock, threads.condition, threads.event, threads.now_us, threads.ticks_ns),
            lambda: threads.start(lambda: disk.delete("kept"), "never"),
            lambda: machine.sleep(1.0),
            *(lambda: disk.delete("kept"), lambda: disk.create("late", b""), lambda: disk.open("kept")),
            *(lambda: disk.move("kept", "moved"), lambda: disk.sync("kept"), disk.token),
            *(lambda: disk.exists("kept"), lambda: disk.names(""), lambda: disk.make_folder("late")),
        ]
        try:
            with lock, changed:
                changed.wait()
        finally:
            try_all(uses)
            assert len(refused) == len(uses)

    def main() -> None:
        life = machine.begin_life()
        life.start(work, "work")
        machine.sleep(1.0)
        machine.crash(life)
        assert len(refused) > 20

    machine.run(main)
    assert disk.contents() == {"kept": b"1"}


def test_a_lock_of_a_dead_life_refuses_the_living() -> None:
    machine, made = quiet(1), []

    def hold() -> None:
        made.append(machine.threads.lock())
        with made[0]:
            machine.threads.event().wait()

    def main() -> None:
        life = machine.begin_life()
        life.start(hold, "holder")
        machine.sleep(1.0)
        machine.threads.start(lambda: (machine.sleep(1.0), life.end()), "end")  # type: ignore[arg-type]
        with pytest.raises(PowerLoss), made[0]:
            pass
        assert life.is_over
        with pytest.raises(PowerLoss), made[0]:
            pass

    machine.run(main)


def test_threads_belong_to_the_life_of_the_thread_that_starts_them() -> None:
    machine, seen = quiet(1), []

    def note(name: str, then: float) -> None:
        machine.sleep(then)
        seen.append(name)

    def main() -> None:
        first, second = machine.begin_life("first"), machine.begin_life("second")
        for life in (first, second):
            child = partial(machine.threads.start, partial(note, life.name, 2.0), "child")
            life.start(child, "parent")
        machine.sleep(1.0)
        machine.crash(first)
        assert second.wait()

    machine.run(main)
    assert seen == ["second"]


def test_waiting_for_a_life_has_a_timeout() -> None:
    machine = Machine(1, Chances())

    def main() -> list[bool]:
        life = machine.begin_life()
        life.start(lambda: machine.sleep(1.0), "one")
        life.start(lambda: machine.sleep(3.0), "two")
        return [life.wait(2.0), life.wait(2.0), life.wait(2.0)]

    assert machine.run(main) == [False, True, True]


def test_the_seed_plans_crashes_within_a_range_and_no_more_than_wanted() -> None:
    points = []
    for seed in range(60):
        machine = Machine(seed, Chances(crashes=2, crash_within=50, kill=0.5))

        def main(machine: Machine = machine) -> list[Life]:
            lives = [machine.begin_life() for _ in range(1)]
            while True:
                lives[-1].start(lambda: [machine.pause("work") for _ in range(60)], "work").join()  # type: ignore[arg-type]
                if not lives[-1].is_over:
                    return lives
                lives.append(machine.begin_life())

        *crashed, last = machine.run(main)
        assert (len(crashed), last.switches) == (2, 61)
        assert sum(machine.faults.counts.values()) == 2
        points += [life.switches for life in crashed]
    assert min(points) >= 1
    assert 40 < max(points) <= 50
    assert len(set(points)) > 20


def test_only_an_error_of_a_living_thread_is_a_failure() -> None:
    def translate(machine: Machine) -> None:
        try:
            machine.threads.event().wait()
        except BaseException as error:
            raise ValueError("power?") from error

    def resist(machine: Machine) -> None:
        while True:
            try:
                machine.pause("resist")
            except BaseException:
                continue

    def main(machine: Machine, what: object) -> None:
        life = machine.begin_life()
        life.start(lambda: what(machine), "odd")  # type: ignore[operator]
        machine.sleep(0.0)
        machine.crash(life)

    machine = quiet(1)
    machine.run(lambda: main(machine, translate))
    stubborn = quiet(1)
    with pytest.raises(ThreadFailed, match="does not end with its life"):
        stubborn.run(lambda: main(stubborn, resist))


def test_a_generator_that_power_loss_cuts_off_is_closed_in_silence() -> None:
    machine, closed = quiet(1), []

    def rows() -> Iterator[int]:
        lock = machine.threads.lock()
        try:
            with lock:
                yield 1
        finally:
            closed.append(True)
            machine.pause("in a finaliser")

    def work() -> None:
        kept = rows()
        loop = [kept, next(kept)]
        loop.append(loop)
        machine.threads.event().wait()

    def main() -> None:
        life = machine.begin_life()
        life.start(work, "work")
        machine.sleep(1.0)
        machine.crash(life)

    machine.run(main)
    assert closed == [True]


def test_many_runs_leave_neither_threads_nor_memory_behind() -> None:
    def main(machine: Machine) -> None:
        life = machine.begin_life()
        life.start(lambda: crowd(machine, []), "crowd")
        machine.sleep(1.0)
        machine.crash(life)

    def run(seed: int) -> None:
        machine = quiet(seed)
        machine.run(lambda: main(machine))

    threads = threading.active_count()
    for seed in range(40):
        run(seed)
    gc.collect()
    before = len(gc.get_objects())
    for seed in range(100):
        run(seed)
    gc.collect()
    assert len(gc.get_objects()) - before < 100
    assert threading.active_count() == threads


@pytest.fixture(autouse=True)
def few_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "LOSSES_MOST", 100)
