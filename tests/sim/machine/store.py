"""A small store, and lives of it that fail: what the tests of the virtual machine simulate."""

from __future__ import annotations

import sqlite3

from australis.sim.machine.chance import Chances, draw_chances
from australis.sim.machine.database import VirtualHome
from australis.sim.machine.disk import VirtualDisk
from australis.sim.machine.machine import Machine


class Store:
    """A small store: a file is written and synced, then its name is committed; unknown files are swept."""

    def __init__(self, machine: Machine, disk: VirtualDisk, home: VirtualHome) -> None:
        self.machine, self.disk = machine, disk
        self.lock, self.files = home.lock(), machine.threads.lock()
        self.db = home.connect()
        if self.db.execute("pragma user_version").fetchone() == (0,):
            self.db.executescript("begin; create table file (name text); pragma user_version = 1; commit;")
        disk.make_folder("data")
        with self.files:
            known = [name for (name,) in self.db.execute("select name from file order by name")]
            for name in disk.names("data"):
                if name not in known:
                    disk.delete(name)

    def write(self, data: bytes) -> str:
        """Write a file so that it survives."""
        name = f"data/{self.disk.token()}"
        self.disk.create(name, data)
        self.disk.sync(name)
        with self.files:
            self.db.execute("begin immediate")
            try:
                self.db.execute("insert into file values (?)", (name,))
                self.db.execute("commit")
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("rollback")
                raise
        return name


def simulate(seed: int, chances: Chances | None = None) -> Machine:
    """Lives of three writers each; what one reported as written must be there at the end."""
    machine = Machine(seed, chances or draw_chances(seed, crash_within=150))
    disk, told = VirtualDisk(machine), {}
    home = VirtualHome(machine)

    def write(store: Store, data: bytes) -> None:
        for _ in range(5):
            try:
                told[store.write(data)] = data
            except (OSError, sqlite3.OperationalError):
                machine.sleep(0.1)

    def live() -> None:
        try:
            store = Store(machine, disk, home)
        except (OSError, sqlite3.OperationalError):
            return
        for index in range(3):
            machine.threads.start(lambda index=index: write(store, bytes(10 + index)), f"writer {index}")

    def main() -> None:
        for index in range(5):
            if index == 4:
                machine.calm()
            life = machine.begin_life()
            life.start(live, "node")
            if not life.wait(5.0):
                machine.crash(life)
            elif not life.is_over:
                machine.kill(life)
        found = disk.contents()
        committed = dict.fromkeys(name for (name,) in home.connect().execute("select name from file"))
        for name, data in told.items():
            assert name in committed
            assert found[name] == data

    machine.run(main)
    return machine


def story(machine: Machine) -> tuple[object, ...]:
    """What tells one run from another."""
    return machine.trace, machine.switches, machine.scheduler.now_ns, machine.faults.counts
