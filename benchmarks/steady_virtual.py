"""Steady shedding in virtual time: the engine itself, on a machine that other work does not slow down.

The node, its scheduler, drop boxes and regulator are those of every node, and tuples go through the kernels;
only time is virtual: a task takes a fixed time and some for each tuple in each box, with noise. A run shows
what the control of the node does under a constant load, and the same seed shows the same.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from benchmarks import steady
from benchmarks.saying import run, say

from australis import Node
from australis.engine.store import Root
from australis.engine.store import disk as disks
from australis.engine.worker import Manifest, Task, Waybill, answer, manifest_of
from australis.plan.superboxes import Plan
from australis.sim.machine.chance import Chances
from australis.sim.machine.database import VirtualHome
from australis.sim.machine.disk import VirtualDisk
from australis.sim.machine.machine import Machine

WORKERS = 2
TRAIN_US, TASK_US = 15_000, 5_000
COSTS_US = {"shop": 5, "status": 40, "user": 150, "page": 125, "size": 100, "mean": 75}
"""What a tuple takes in each box; others take nothing."""
PASSING_US = sum(COSTS_US.values())


class PacedRunner:
    """Runs tasks in virtual time."""

    tasks = WORKERS

    def __init__(self, machine: Machine, random: Random, noise: float) -> None:
        self._machine, self._random, self._noise = machine, random, noise

    def prepare(self, root: Root, plan: Plan) -> Callable[[Waybill], list[Manifest]]:
        return self._run

    def abandon(self, root: Root) -> None:
        """Nothing: a simulated node never stops at once."""

    def close(self) -> None:
        """Nothing runs any more."""

    def _run(self, waybill: Waybill) -> list[Manifest]:
        self._machine.sleep(TRAIN_US / 1e6)
        text = waybill.to_json()
        return [self._task(text, index) for index in range(len(waybill.shares))]

    def _task(self, text: str, index: int) -> Manifest:
        waybill = Waybill.from_json(text)
        found = manifest_of(answer(Task(waybill, waybill.shares[index], index).run))
        pace = self._random.lognormvariate(0.0, self._noise)
        spent = {box: each["received"] * COSTS_US.get(box, 0) * pace for box, each in found.boxes.items()}
        task_us = round(TASK_US * pace + sum(spent.values()))
        self._machine.sleep(task_us / 1e6)
        boxes = {box: {**each, "nanoseconds": round(1000 * spent[box])} for box, each in found.boxes.items()}
        return replace(found, boxes=boxes, task_us=task_us)


def measure(load: float, seconds: int, noise: float, seed: int) -> dict[str, Any]:
    """A run in virtual time, at a part of what the workers could do without trains."""
    machine, random = Machine(seed, Chances(), switches_most=1 << 40), Random(seed)
    machine.calm()
    disk = VirtualDisk(machine)
    disks.register_disk("steady", lambda uri: disk)
    home, rate, told = VirtualHome(machine, disk), load * WORKERS * 1e6 / PASSING_US, steady.Told()
    lines, tuples = steady.Lines(), round(rate * steady.PERIOD_S)
    commands = 0

    def live() -> None:
        nonlocal commands
        runner = PacedRunner(machine, random, noise)
        with Node("steady://root", catalog=home, runner=runner, threads=machine.threads) as node:
            node.deploy(steady.network())
            for number in range(round(seconds / steady.PERIOD_S)):
                node.push("lines", lines.batch(number, tuples, number // 10))
                machine.sleep(steady.PERIOD_S)
                if (number + 1) % round(steady.WINDOW_S / steady.PERIOD_S) == 0:
                    told.note(node)
            commands = len(node.shed())

    def main() -> None:
        life = machine.begin_life()
        life.start(live, "main")
        life.wait()

    machine.run(main)
    return {
        "rate": round(rate),
        "load": load,
        "seconds": seconds,
        "noise": noise,
        "seed": seed,
        "outputs": {output: told.summary(output) for output in steady.OUTPUTS},
        "utility": round(sum(told.utilities[2:]) / max(len(told.utilities[2:]), 1), 3),
        "drop_boxes": commands,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--load", type=float, default=1.5)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    say(f"{given.seconds} s at {given.load:.0%}, in virtual time")
    print(json.dumps(measure(given.load, given.seconds, given.noise, given.seed)))


if __name__ == "__main__":
    run(main)
