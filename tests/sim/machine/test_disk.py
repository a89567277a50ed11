"""The virtual disk: what is synced stays, what is not may be lost, torn, or restored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pyarrow as pa
import pytest

from australis.sim.machine.chance import Chances
from australis.sim.machine.disk import VirtualDisk
from australis.sim.machine.machine import Machine

DATA = b"0123456789"


def survive(seed: int, work: Callable[[VirtualDisk], None], power: bool = True) -> dict[str, bytes]:
    """What is on a disk after work in a life that then crashes."""
    machine = Machine(seed, Chances())
    disk = VirtualDisk(machine)

    def main() -> None:
        life = machine.begin_life()
        life.start(lambda: work(disk), "work").join()
        (machine.crash if power else machine.kill)(life)

    machine.run(main)
    return disk.contents()


def in_life(work: Callable[[VirtualDisk], None], chances: Chances, seed: int = 1) -> VirtualDisk:
    """A disk after work in a life."""
    machine = Machine(seed, chances)
    disk = VirtualDisk(machine)
    machine.run(lambda: machine.begin_life().start(lambda: work(disk), "work").join())
    return disk


def test_files_are_read_listed_moved_and_deleted_as_in_a_folder() -> None:
    def work(disk: VirtualDisk) -> None:
        disk.make_folder("segments/deep")
        disk.create("segments/b", DATA)
        disk.create("segments/deep/a", pa.py_buffer(DATA))
        disk.create("other", b"")
        assert disk.names("segments") == ["segments/b", "segments/deep/a"]
        assert disk.open("segments/deep/a").read() == DATA
        disk.move("segments/b", "new/place/c")
        assert [disk.exists("segments/b"), disk.exists("new/place/c")] == [False, True]
        disk.create("new/d", b"")
        disk.move("new/d", "new/place/c")
        assert disk.open("new/place/c").read() == b"", "a move replaces what was there"
        disk.delete("other")
        assert disk.names("") == ["new/place/c", "segments/deep/a"]
        assert disk.bytes_written == 2 * len(DATA)

    in_life(work, Chances())


def test_what_is_not_there_and_what_is() -> None:
    def work(disk: VirtualDisk) -> None:
        for action in (disk.open, disk.delete, disk.sync, lambda name: disk.move(name, "b")):
            with pytest.raises(FileNotFoundError, match="'a'"):
                action("a")
        with pytest.raises(FileNotFoundError):
            disk.create("no folder/a", b"")
        disk.create("a", b"")
        with pytest.raises(FileExistsError):
            disk.create("a", b"")

    in_life(work, Chances())


def test_tokens_never_repeat() -> None:
    machine, seen = Machine(1, Chances()), []
    disk = VirtualDisk(machine)

    def main() -> None:
        for _ in range(3):
            life = machine.begin_life()
            life.start(lambda: seen.extend([disk.token(), disk.token()]), "work").join()
            machine.crash(life)

    machine.run(main)
    assert len(set(seen)) == 6


def test_a_synced_file_survives_whole_and_another_is_lost_torn_zeroed_or_whole() -> None:
    def work(disk: VirtualDisk) -> None:
        disk.create("synced", DATA)
        disk.create("volatile", DATA)
        disk.sync("synced")

    found = Counter[str]()
    for seed in range(300):
        left = survive(seed, work)
        assert left.pop("synced") == DATA
        found[kind(left.get("volatile"))] += 1
    assert set(found) == {"lost", "torn", "zeroed", "whole"}
    assert found["lost"] > found["torn"] > found["whole"]


def kind(data: bytes | None) -> str:
    if data is None:
        return "lost"
    if data == DATA:
        return "whole"
    if len(data) < len(DATA):
        assert DATA.startswith(data)
        return "torn"
    assert DATA.startswith(data.rstrip(b"\0"))
    return "zeroed"


def test_a_killed_process_loses_nothing_but_a_later_power_loss_does() -> None:
    def work(disk: VirtualDisk) -> None:
        disk.create("a", DATA)
        disk.create("b", DATA)
        disk.delete("b")

    assert all(survive(seed, work, power=False) == {"a": DATA} for seed in range(20))

    def main(machine: Machine, disk: VirtualDisk) -> None:
        for end in (machine.kill, machine.crash):
            life = machine.begin_life()
            if end == machine.kill:
                life.start(lambda: work(disk), "work").join()
            end(life)

    lost = 0
    for seed in range(20):
        machine = Machine(seed, Chances())
        disk = VirtualDisk(machine)
        machine.run(lambda machine=machine, disk=disk: main(machine, disk))
        lost += "a" not in disk.contents()
    assert 0 < lost < 20


def test_deletes_may_be_undone_each_for_itself_unless_something_was_synced_after() -> None:
    def work(disk: VirtualDisk, is_settled: bool) -> None:
        for name in "abc":
            disk.create(name, DATA)
            disk.sync(name)
        disk.delete("a")
        disk.delete("b")
        if is_settled:
            disk.sync("c")

    found = {tuple(survive(seed, lambda disk: work(disk, False))) for seed in range(50)}
    assert found == {("c",), ("a", "c"), ("b", "c"), ("a", "b", "c")}
    assert {tuple(survive(seed, lambda disk: work(disk, True))) for seed in range(50)} == {("c",)}


def test_a_move_is_all_or_nothing_and_brings_back_what_it_replaced() -> None:
    def work(disk: VirtualDisk) -> None:
        for name in ("old", "new"):
            disk.create(name, name.encode())
            disk.sync(name)
        disk.move("new", "old")

    found = {tuple(sorted(survive(seed, work).items())) for seed in range(50)}
    assert found == {(("old", b"new"),), (("new", b"new"), ("old", b"old"))}


def test_a_file_is_never_there_twice_however_changes_are_undone() -> None:
    def work(disk: VirtualDisk) -> None:
        disk.create("a", b"a")
        disk.sync("a")
        disk.move("a", "b")
        disk.create("a", b"other")
        disk.move("b", "c")
        disk.delete("a")
        disk.move("c", "a")

    places = Counter[str]()
    for seed in range(200):
        left = survive(seed, work)
        assert sum(data == b"a" for data in left.values()) == 1, left
        places.update(name for name, data in left.items() if data == b"a")
    assert set(places) == {"a", "b", "c"}


@pytest.mark.parametrize("kind", ["create", "sync", "open", "delete", "move"])
def test_operations_fail_with_their_chance(kind: str) -> None:
    actions = {
        "create": lambda disk: disk.create("new", DATA),
        "sync": lambda disk: disk.sync("a"),
        "open": lambda disk: disk.open("a"),
        "delete": lambda disk: disk.delete("a"),
        "move": lambda disk: disk.move("a", "b"),
    }
    errors = Counter[str]()

    def main(machine: Machine, disk: VirtualDisk) -> None:
        disk.create("a", DATA)
        machine.begin_life().start(lambda: attempt(disk), "work").join()
        assert disk.exists("a"), "what fails to be deleted or moved stays"

    def attempt(disk: VirtualDisk) -> None:
        with pytest.raises(OSError, match=r"Input/output|No space") as caught:
            actions[kind](disk)
        errors[caught.value.strerror] += 1

    for seed in range(20):
        machine = Machine(seed, Chances(**{kind: 1.0}))
        disk = VirtualDisk(machine)
        machine.run(lambda machine=machine, disk=disk: main(machine, disk))
        assert machine.faults.counts == {kind: 1}
        assert DATA.startswith(disk.contents().get("new", b""))
    assert len(errors) == (1 if kind in ("open", "delete") else 2)


def test_a_sync_after_a_failed_one_may_save_nothing() -> None:
    found = Counter[str]()
    for seed in range(100):
        machine = Machine(seed, Chances(sync=1.0))
        disk = VirtualDisk(machine)

        def work(machine: Machine = machine, disk: VirtualDisk = disk) -> None:
            disk.create("a", DATA)
            with pytest.raises(OSError, match="a"):
                disk.sync("a")
            machine.calm()
            disk.sync("a")

        def main(machine: Machine = machine) -> None:
            life = machine.begin_life()
            life.start(work, "work").join()
            machine.crash(life)

        machine.run(main)
        found[kind(disk.contents().get("a"))] += 1
    assert set(found) == {"lost", "torn", "zeroed", "whole"}
    assert found["whole"] > 40


def test_a_failure_may_come_again_and_the_harness_is_spared() -> None:
    def attempts(again: float) -> float:
        failed = []

        def work(disk: VirtualDisk) -> None:
            for index in range(2_000):
                try:
                    disk.create(f"{index}", b"")
                    failed.append(False)
                except OSError:
                    failed.append(True)

        in_life(work, Chances(create=0.02, again=again))
        return sum(failed) / len(failed)

    assert attempts(0.0) < 0.05
    assert attempts(0.9) > 0.1
    machine = Machine(1, Chances(create=1.0))
    disk = VirtualDisk(machine)
    machine.run(lambda: disk.create("a", b""))


def test_an_operation_may_take_long() -> None:
    machine = Machine(1, Chances(stall=0.5, stall_ms_most=1_000))
    disk = VirtualDisk(machine)

    def work() -> None:
        for index in range(20):
            disk.create(f"{index}", b"")

    machine.run(lambda: machine.begin_life().start(work, "work").join())
    assert machine.faults.counts["stall"] > 3
    assert machine.scheduler.now_ns > 1_000_000_000
