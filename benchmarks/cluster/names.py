"""Names found by 30 light nodes of three participants, each a process, while some of them are killed.

`python -m benchmarks.cluster.names --nodes 8 --names 100` does the same with fewer.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.saying import run
from tests.cluster.identities import identity
from tests.cluster.nodes import Linked

from australis.cluster.catalogue import Kind
from australis.cluster.membership import Pace, State

PARTICIPANTS, NODES, NAMES = ("lab", "mill", "shop"), 30, 1_000
QUESTIONS = 100
"""How many names each node asks for."""
PACE = Pace(suspect_us=3_000_000)
_FORK = multiprocessing.get_context("fork")


class Answer(NamedTuple):
    """What a node has found."""

    name: str
    owners: tuple[str, ...]
    hops: int
    ms: float


def name_of(number: int) -> str:
    return f"{PARTICIPANTS[number % len(PARTICIPANTS)]}/n{number}"


def serve(folder: Path, name: str, seeds: Sequence[tuple[str, int]], pipe: Any) -> None:
    """Be a node: do what comes through the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Linked(folder, name, trusts=PARTICIPANTS, seeds=seeds, pace=PACE, idle_s=10.0) as node:
        cluster = node.cluster
        pipe.send(node.place)
        while (asked := pipe.recv()) is not None:
            what, *names = asked
            match what:
                case "announce":
                    for each in names:
                        cluster.announce(each, Kind.STREAM, "k long not null", is_public=True)
                    pipe.send(None)
                case "state":
                    live = [each.name for each in cluster.members() if each.state is not State.DEAD]
                    joined = sum(each.is_connected for each in cluster.status().peers)
                    pipe.send((live, cluster.directory.unsettled(), joined))
                case "where":
                    pipe.send([find(cluster.where, each) for each in names])
                case "find":
                    pipe.send([each.name for each in cluster.find(*names).names])


def find(where: Callable[[str], Any], name: str) -> Answer:
    begin = time.perf_counter()
    found = where(name)
    ms = (time.perf_counter() - begin) * 1e3
    return Answer(name, tuple(each.node for each in found.places), found.hops, ms)


@dataclass
class Process:
    """A node in a process of its own."""

    name: str
    process: Any
    pipe: Any
    place: tuple[str, int] = ("", 0)

    def say(self, *what: str) -> Any:
        self.pipe.send(what)
        return self.pipe.recv()


class Nodes:
    """All nodes, and what is done to them."""

    def __init__(self, folder: Path, count: int) -> None:
        self.all: dict[str, Process] = {}
        names = [name_of(number) for number in range(count)]
        for name in names:
            identity(folder, name, PARTICIPANTS)
        first = self._start(folder, names[0], [])
        first.place = first.pipe.recv()
        started = [self._start(folder, name, [first.place]) for name in names[1:]]
        for each in started:
            each.place = each.pipe.recv()

    def _start(self, folder: Path, name: str, seeds: list[tuple[str, int]]) -> Process:
        near, far = _FORK.Pipe()
        process = _FORK.Process(target=serve, args=(folder, name, seeds, far), daemon=True)
        process.start()
        found = self.all[name] = Process(name, process, near)
        return found

    def kill(self, names: Sequence[str]) -> None:
        for name in names:
            os.kill(self.all[name].process.pid, signal.SIGKILL)
        for name in names:
            self.all.pop(name).process.join()

    def end(self) -> None:
        for each in self.all.values():
            each.pipe.send(None)
        for each in self.all.values():
            each.process.join(20.0)
            each.process.kill()

    def settle(self) -> float:
        """Wait until all know exactly who lives, and every record is with its keepers; how long it took."""
        begin = time.perf_counter()
        while True:
            states = [each.say("state") for each in self.all.values()]
            if all(live == sorted(self.all) and not unsettled for live, unsettled, _ in states):
                return time.perf_counter() - begin
            if time.perf_counter() - begin > 240:
                raise AssertionError([(len(live), unsettled) for live, unsettled, _ in states])
            time.sleep(0.5)

    def ask(self, questions: dict[str, list[str]]) -> list[Answer]:
        """Let all nodes ask at once."""
        for name, asked in questions.items():
            self.all[name].pipe.send(("where", *asked))
        return [answer for name in questions for answer in self.all[name].pipe.recv()]


def questions(nodes: Sequence[str], names: Sequence[str], each: int) -> dict[str, list[str]]:
    """What each node asks for, all names about as often, none of its own participant."""
    found: dict[str, list[str]] = {}
    for index, node in enumerate(sorted(nodes)):
        home = node.partition("/")[0]
        order = [names[(index * each + step) % len(names)] for step in range(len(names))]
        found[node] = [name for name in order if name.partition("/")[0] != home][:each]
    return found


def lost(answers: Sequence[Answer], owners: dict[str, str]) -> int:
    """How many names were not found by somebody who asked, or with another owner."""
    return len({each.name for each in answers if each.owners != (owners[each.name],)})


def measure(each: int = QUESTIONS, nodes: int = NODES, names: int = NAMES) -> dict[str, float]:
    """Figures by name; each node asks for so many names in each phase."""
    with TemporaryDirectory() as folder:
        started = Nodes(Path(folder), nodes)
        try:
            return _measured(started, each, names, Random(1))
        finally:
            started.end()


def _measured(nodes: Nodes, each: int, count: int, chance: Random) -> dict[str, float]:
    figures = {"names_meet_s": nodes.settle()}
    owners: dict[str, str] = {}
    for number in range(count):
        owner = name_of(number % len(nodes.all))
        owners[f"{owner.partition('/')[0]}/stream-{number}"] = owner
    for node, process in nodes.all.items():
        process.say("announce", *(name for name, owner in owners.items() if owner == node))
    figures["names_spread_s"] = nodes.settle()
    names = [*owners]
    answers = nodes.ask(questions([*nodes.all], names, each))
    figures["names_asked"] = len({answer.name for answer in answers})
    figures["names_lost_before"] = lost(answers, owners)
    figures["names_ms"] = median(answer.ms for answer in answers)
    hops = [answer.hops for answer in answers]
    figures["names_matched"] = len(nodes.all[name_of(1)].say("find", "lab/stream-*"))

    nodes.kill(chance.sample(sorted(nodes.all), 2))
    # At once, before anybody has noticed.
    answers = nodes.ask(questions([*nodes.all], names, each))
    figures["names_lost_at_once"] = lost(answers, owners)
    hops += [answer.hops for answer in answers]
    figures["names_settle_s"] = nodes.settle()
    # Ten of thirty, and of fewer so many that copies can still be three.
    for _ in range(min(10, len(nodes.all) - 4)):
        nodes.kill(chance.sample(sorted(nodes.all), 1))
        nodes.settle()
    answers = nodes.ask(questions([*nodes.all], names, max(each, 2 * count // len(nodes.all))))
    figures["names_lost_after_ten"] = lost(answers, owners)
    figures["names_asked_after_ten"] = len({answer.name for answer in answers})
    figures["names_hops"] = max(hops + [answer.hops for answer in answers])
    figures["names_connections"] = median(process.say("state")[2] for process in nodes.all.values())
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster.names", description=measure.__doc__)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--names", type=int, default=NAMES)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    given = parser.parse_args()
    print(json.dumps(measure(given.questions, given.nodes, given.names)))


if __name__ == "__main__":
    run(main)
