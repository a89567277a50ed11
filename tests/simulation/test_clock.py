"""A node on a virtual machine whose clock is set: timeouts fire, and the time of the log only passes."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
from tests.simulation.runner import SimulatedRunner

from australis import NetworkBuilder, Node, Order
from australis.algebra.network import Network
from australis.engine.store import disk as disks
from australis.sim.machine.chance import draw_chances
from australis.sim.machine.database import VirtualHome
from australis.sim.machine.disk import VirtualDisk
from australis.sim.machine.machine import Machine

HOUR_US = 3_600_000_000


def counts() -> Network:
    """A count that is emitted, at the latest, ten seconds after the first tuple of its key."""
    net = NetworkBuilder("n")
    stream = net.input("x", "k long not null, t long not null")
    order = Order("t", group_by=["k"])
    stream.aggregate({"c": "count(*)"}, order, size=10, timeout="10 s", as_="a").output("o")
    return net.build()


@pytest.mark.parametrize("seed", range(5))
def test_timeouts_fire_however_the_clock_is_set(seed: int) -> None:
    machine, random = Machine(seed, draw_chances(seed, crash_within=1 << 40)), Random(seed)
    machine.calm()
    disk = VirtualDisk(machine)
    home = VirtualHome(machine, disk)
    disks.register_disk("sim", lambda uri: disk)
    steps = [random.choice([-2, -1, 1, 2]) * HOUR_US for _ in range(4)]
    emitted: list[int] = []
    times: list[int] = []

    def live() -> None:
        """Push a tuple, set the clock, and wait for a minute; half of the time on a new node."""
        for restarts in (False, True):
            with Node(
                "sim://root",
                catalog=home,
                runner=SimulatedRunner(machine, random, 0.0),
                threads=machine.threads,
            ) as node:
                node.deploy(counts())
                for step in steps[2 * restarts :][:2]:
                    node.push("x", pa.table({"k": [len(emitted)], "t": [1]}))
                    machine.threads.clock_ahead_us += step
                    machine.sleep(60.0)
                    node.drain()
                    emitted.append(node.read("o").num_rows)
                    times.append(node._ledger.log_now())
            machine.threads.clock_ahead_us += steps[0]

    def main() -> None:
        life = machine.begin_life()
        life.start(live, "main")
        while not life.wait(1.0):
            pass

    machine.run(main)
    assert emitted == [1, 2, 3, 4]
    assert times == sorted(times)
