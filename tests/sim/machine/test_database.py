"""The virtual home of a catalogue: SQLite, whose commits fail, are in doubt, and may be lost."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable

import pytest

from australis.sim.machine.chance import Chances
from australis.sim.machine.connection import VirtualConnection
from australis.sim.machine.database import VirtualHome
from australis.sim.machine.disk import VirtualDisk
from australis.sim.machine.lives import PowerLoss
from australis.sim.machine.machine import Machine

TABLES = "begin; create table t (x integer primary key); pragma user_version = 3; commit;"
Work = Callable[[VirtualConnection], None]


def prepare(db: VirtualConnection) -> None:
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.executescript(TABLES)


def insert(db: VirtualConnection, *values: int) -> None:
    db.execute("begin immediate")
    db.executemany("insert into t values (?)", [(value,) for value in values])
    db.execute("commit")


def rows(db: VirtualConnection) -> list[int]:
    return [x for (x,) in db.execute("select x from t order by x")]


def survive(seed: int, chances: Chances, work: Work) -> list[int]:
    """The contents of a table after work in a life that then loses power; the harness is spared failures."""
    machine = Machine(seed, chances)
    home = VirtualHome(machine)

    def main() -> list[int]:
        prepare(home.connect())
        life = machine.begin_life()
        life.start(lambda: work(home.connect()), "work").join()
        machine.crash(life)
        return rows(home.connect())

    return machine.run(main)


def test_it_behaves_as_a_connection_does() -> None:
    def work(db: VirtualConnection) -> None:
        assert db.execute("pragma quick_check(1)").fetchall() == [("ok",)]
        assert db.execute("pragma user_version").fetchall()[0][0] == 3
        db.execute("begin immediate")
        assert db.in_transaction
        inserted = db.execute("insert into t values (?) returning x", (1,))
        assert inserted.fetchone() == (1,)
        assert inserted.fetchone() is None
        with pytest.raises(sqlite3.IntegrityError):
            db.execute("insert into t values (:x)", {"x": 1})
        db.execute("commit")
        assert not db.in_transaction
        with pytest.raises(sqlite3.OperationalError, match="no transaction"):
            db.execute("commit")
        insert(db, 2, 3)
        db.execute("begin")
        db.execute("delete from t")
        db.execute("rollback")
        assert list(db.execute("select count(*) from t")) == [(3,)]
        db.execute("begin immediate")
        db.execute("delete from t")
        db.close()
        with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
            db.execute("select 1")

    assert survive(1, Chances(), work) == [1, 2, 3], "close undoes an open transaction"


def test_power_loss_undoes_an_open_transaction_and_no_other() -> None:
    for crash_at in range(1, 16):
        machine = Machine(crash_at, Chances())
        home, seen = VirtualHome(machine), []

        def work(db: VirtualConnection, seen: list[str] = seen) -> None:
            try:
                for value in range(10):
                    insert(db, value, value + 100)
                    seen.append("told")
            finally:
                for use in (lambda: db.execute("rollback"), lambda: db.in_transaction, db.close):
                    with pytest.raises(PowerLoss):
                        use()

        def main(machine: Machine = machine, home: VirtualHome = home, crash_at: int = crash_at) -> list[int]:
            prepare(home.connect())
            life = machine.begin_life(crash_at=crash_at)
            life.start(lambda: work(home.connect()), "work").join()
            return rows(home.connect())

        found = machine.run(main)
        done = len(found) // 2
        assert found == [*range(done), *range(100, 100 + done)], "whole transactions"
        assert len(seen) <= done <= len(seen) + 1, "told and not kept, or kept and not told"


def test_a_commit_fails_before_or_after_it_takes_effect() -> None:
    outcomes, told = Counter[tuple[str, bool, bool]](), []

    def work(db: VirtualConnection) -> None:
        with pytest.raises(sqlite3.OperationalError) as caught:
            insert(db, 1)
        is_open = db.in_transaction
        if is_open:
            db.execute("rollback")
        told.append(rows(db))
        outcomes[caught.value.sqlite_errorname, bool(told[-1]), is_open] += 1

    for seed in range(100):
        left = survive(seed, Chances(commit=1.0), work)
        assert left == told[-1], "reading tells what a power loss leaves"
    assert set(outcomes) == {
        ("SQLITE_FULL", False, False),
        ("SQLITE_FULL", False, True),
        ("SQLITE_IOERR_FSYNC", False, False),
        ("SQLITE_IOERR_FSYNC", True, False),
    }


def fail_and_look(seed: int, then: Work, power: bool) -> tuple[list[int], list[int]]:
    """What is read after a commit whose sync failed, and by the next life."""
    machine, told = Machine(seed, Chances(commit=1.0, doubt=1.0)), []
    home = VirtualHome(machine)

    def work() -> None:
        db = home.connect()
        with pytest.raises(sqlite3.OperationalError) as caught:
            insert(db, 1)
        if caught.value.sqlite_errorname == "SQLITE_IOERR_FSYNC":
            machine.calm()
            told.extend(rows(db))
            then(db)

    def main() -> list[int]:
        prepare(home.connect())
        insert(home.connect(), 0)
        life = machine.begin_life()
        life.start(work, "work").join()
        (machine.crash if power else machine.kill)(life)
        return rows(home.connect())

    return told, machine.run(main)


def test_a_commit_whose_sync_failed_seems_undone_and_the_next_life_may_find_it_done() -> None:
    def nothing(db: VirtualConnection) -> None:
        rows(db)

    killed = [fail_and_look(seed, nothing, power=False) for seed in range(40)]
    assert {tuple(left) for told, left in killed if told} == {(0, 1)}
    assert all(told in ([], [0]) for told, _ in killed)
    lost = [fail_and_look(seed, nothing, power=True) for seed in range(40)]
    assert {tuple(left) for told, left in lost if told} == {(0,), (0, 1)}


def test_another_commit_or_a_close_settles_what_was_in_doubt() -> None:
    for power in (False, True):
        after = [fail_and_look(seed, lambda db: insert(db, 2), power) for seed in range(20)]
        assert {tuple(left) for told, left in after if told} == {(0, 2)}
        after = [fail_and_look(seed, lambda db: db.close(), power) for seed in range(20)]
        assert {tuple(left) for told, left in after if told} == {(0,)}


def test_without_syncs_a_power_loss_brings_back_an_older_state() -> None:
    def work(db: VirtualConnection) -> None:
        insert(db, 1)
        db.execute("pragma synchronous = off")
        for value in range(2, 6):
            insert(db, value)

    found = {tuple(survive(seed, Chances(), work)) for seed in range(60)}
    assert (1,) in found
    assert (1, 2, 3, 4, 5) in found
    assert all(left == tuple(range(1, 1 + len(left))) for left in found), "what is left has no gaps"
    assert len(found) > 2

    def settle(db: VirtualConnection) -> None:
        work(db)
        db.execute("pragma synchronous = extra")
        insert(db, 6)

    assert {tuple(survive(seed, Chances(), settle)) for seed in range(20)} == {(1, 2, 3, 4, 5, 6)}


def test_the_tables_too_may_be_lost_without_syncs() -> None:
    def work(db: VirtualConnection) -> None:
        db.execute("pragma synchronous = normal")
        db.executescript(TABLES)

    versions = set()
    for seed in range(20):
        machine = Machine(seed, Chances())
        home = VirtualHome(machine)

        def main(machine: Machine = machine, home: VirtualHome = home) -> int:
            assert not home.has_catalog()
            life = machine.begin_life()
            life.start(lambda: work(home.connect()), "work").join()
            assert home.has_catalog()
            machine.crash(life)
            return home.connect().execute("pragma user_version").fetchone()[0]

        versions.add(machine.run(main))
    assert versions == {0, 3}


def test_a_statement_fails_and_may_undo_its_transaction() -> None:
    outcomes = Counter[tuple[str, bool]]()

    def main(machine: Machine, home: VirtualHome) -> None:
        prepare(home.connect())
        machine.begin_life().start(lambda: work(home.connect()), "work").join()

    def work(db: VirtualConnection) -> None:
        for _ in range(200):
            try:
                insert(db, 1)
            except sqlite3.OperationalError as error:
                outcomes[error.sqlite_errorname, db.in_transaction] += 1
            except sqlite3.IntegrityError:
                pass
            if db.in_transaction:
                db.execute("rollback")

    machine = Machine(1, Chances(statement=0.3))
    home = VirtualHome(machine)
    machine.run(lambda: main(machine, home))
    names = ("SQLITE_FULL", "SQLITE_IOERR_WRITE")
    assert set(outcomes) == {("SQLITE_IOERR_READ", False), *((n, b) for n in names for b in (False, True))}


def test_a_transaction_is_not_seen_by_others_before_it_ends() -> None:
    for seed in range(30):
        machine, seen = Machine(seed, Chances()), []
        home = VirtualHome(machine)

        def write(machine: Machine = machine, home: VirtualHome = home) -> None:
            db = home.connect()
            for value in range(5):
                db.execute("begin immediate")
                db.execute("insert into t values (?)", (2 * value,))
                machine.pause("within a transaction")
                db.execute("insert into t values (?)", (2 * value + 1,))
                db.execute("commit")

        def read(home: VirtualHome = home, seen: list[int] = seen) -> None:
            db = home.connect()
            for _ in range(10):
                seen.extend(count for (count,) in db.execute("select count(*) from t"))

        def main(machine: Machine = machine, home: VirtualHome = home) -> None:
            prepare(home.connect())
            life = machine.begin_life()
            threads = [life.start(write, "writer"), life.start(read, "reader")]
            for thread in threads:
                thread.join()

        machine.run(main)
        assert all(count % 2 == 0 for count in seen)


def test_the_lock_is_of_a_life() -> None:
    machine, seen = Machine(1, Chances()), []
    home = VirtualHome(machine)

    def hold(is_closed: bool) -> None:
        lock = home.lock()
        with pytest.raises(OSError, match="unavailable"):
            home.lock()
        if is_closed:
            lock.close()
        seen.append("held")

    def main() -> None:
        for is_closed in (True, False, False):
            life = machine.begin_life()
            life.start(lambda is_closed=is_closed: hold(is_closed), "holder").join()
            if not is_closed:
                with pytest.raises(OSError, match="unavailable"):
                    home.lock()
                machine.kill(life)

    machine.run(main)
    assert seen == ["held"] * 3


def test_a_durable_commit_settles_the_disk_that_it_shares_a_file_system_with() -> None:
    def names(seed: int, is_shared: bool) -> tuple[str, ...]:
        machine = Machine(seed, Chances())
        disk = VirtualDisk(machine)
        home = VirtualHome(machine, disk if is_shared else None)

        def work() -> None:
            db = home.connect()
            prepare(db)
            disk.create("a", b"")
            disk.sync("a")
            disk.move("a", "b")
            insert(db, 1)

        def main() -> None:
            life = machine.begin_life()
            life.start(work, "work").join()
            machine.crash(life)

        machine.run(main)
        return tuple(disk.contents())

    assert {names(seed, True) for seed in range(20)} == {("b",)}
    assert {names(seed, False) for seed in range(20)} == {("a",), ("b",)}
