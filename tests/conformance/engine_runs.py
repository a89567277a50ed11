"""A network on a node, compared with the reference: tuple by tuple, by sequence number."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from pyspark.sql import SparkSession
from tests.conformance.events import rows_of
from tests.conformance.random_networks import Event, with_ends
from tests.conformance.test_networks import table_of
from tests.engine.in_process import InProcess

from australis import Node
from australis.algebra.network import QUARANTINE, Network
from australis.algebra.schema import TS
from australis.engine.change import deployment
from australis.engine.ledger import Record
from australis.engine.runner import Runner
from australis.engine.settings import Way
from australis.engine.store.segments import SEQ
from australis.engine.train import sizing
from australis.policy.schedule.schedules import Scheduling
from australis.reference.network import Emission, ReferenceRun

MEMORY = Path("/dev/shm")
"""A file system in memory, if there is one: a node waits for its disk several times in each train."""
LONG_AGO = -(10**15)
"""A clock value that makes no timeout due: time passes only by events."""
IN_PROCESS = InProcess()
COUNTED = ("received", "emitted", "late", "ignored", "rejected")

Stored = list[dict[str, Any]]
Numbered = list[tuple[int, str]]


@dataclass(frozen=True)
class Seen:
    """The result of a run: the tuples of every output with their numbers, and the counters of the boxes."""

    outputs: dict[str, Numbered]
    counters: dict[str, dict[str, int]]


@dataclass(frozen=True)
class Setting:
    """How a node runs; the same network gives the same outputs with any of these."""

    discipline: str = "superbox"
    partitions: int = 2
    train: int = 1_000_000
    in_flight: int = 2
    way: str = Way.FUSED
    schedule: str = Scheduling.ROUND_ROBIN
    layered_from: int = 0
    train_bytes: int = 256 << 20
    split_from: int = 1


@dataclass(frozen=True)
class Restart:
    """Before which event a node is stopped and another one opens its root; with `drained`, it was idle."""

    before: int
    setting: Setting
    drained: bool


# --- what is right


class Expectation:
    """Runs a network tuple by tuple, so that each emission has the number of the tuple that caused it."""

    def __init__(self, network: Network) -> None:
        self._run = ReferenceRun(network)
        self._found: dict[str, Numbered] = {name: [] for name in (*network.outputs, QUARANTINE)}
        self._end = 0
        self._between: set[int] = set()
        """The numbers of timeouts and ends, at which groups emit in any sequence."""
        self._free = {QUARANTINE, *_released_by_marks(network)}

    def load(self, name: str, rows: Stored) -> None:
        for number, row in enumerate(rows):
            self._emitted(self._end + 1 + number, self._run.load(name, [row]))
        self._end += 1 + len(rows)

    def event(self, event: Event) -> None:
        self._between.add(self._end)
        self._emitted(self._end, self._begun(event))
        self._end += 1
        if event.ending:
            self._between.add(self._end)
            self._emitted(self._end, self._run.flush(event.now))
            self._end += 1
        for values, ts in event.rows:
            assert event.input_name is not None
            self._emitted(self._end, self._run.push(event.input_name, values, ts, event.now))
            self._end += 1

    def _begun(self, event: Event) -> list[Emission]:
        """What comes before the tuples of an event: the effect of time, and of a promise."""
        if event.promise is None:
            return self._run.tick(event.now)
        assert event.input_name is not None
        return self._run.promise(event.input_name, event.promise, event.now)

    def _emitted(self, number: int, emissions: list[Emission]) -> None:
        for each in emissions:
            self._found[each.output].append((number, repr((dict(each.values), each.ts))))

    def forgive_sequence(self, outputs: Iterable[str]) -> None:
        """Compare what one tuple causes at some outputs in any sequence."""
        self._free |= set(outputs)

    @property
    def seen(self) -> Seen:
        counted = {box: vars(counters) for box, counters in self._run.counters().items()}
        return Seen(self.comparable(self._found), counted)

    def comparable(self, outputs: dict[str, Numbered]) -> dict[str, Numbered]:
        """Outputs, with tuples that have no defined sequence sorted."""
        return {name: sorted(tuples, key=self._key(name)) for name, tuples in outputs.items()}

    def _key(self, name: str) -> Any:
        free = name in self._free
        return lambda each: (each[0], each[1] if free or each[0] in self._between else "")


def _released_by_marks(network: Network) -> set[str]:
    """The outputs after boxes by progress: with one mark, groups emit in any sequence."""
    marked: set[str] = set()
    for box_id in network.order:
        node = network.boxes[box_id]
        by_progress = any(order.by_progress for order in node.box.orders.values())
        if by_progress or any(source.id in marked for source in node.sources):
            marked.add(box_id)
    return {name for name, output in network.outputs.items() if output.source.id in marked}


# --- what a node makes of it


@contextmanager
def several_tasks(rows_per_task: int) -> Iterator[None]:
    """Nodes that spread trains of few tuples over tasks."""
    with patch.object(sizing, "ROWS_PER_TASK", rows_per_task):
        yield


@contextmanager
def older_roots() -> Iterator[None]:
    """Nodes that make roots in which boxes of two streams are not spread."""
    with patch.object(deployment, "Record", partial(Record, spreads_joins=False)):
        yield


def opened(
    root: str,
    setting: Setting,
    network: Network,
    stored: Stored,
    runner: str | Runner | SparkSession = IN_PROCESS,
) -> Node:
    """A node that runs a network, without its own clock."""
    node = Node(
        root,
        runner=runner,
        discipline=setting.discipline,
        schedule=setting.schedule,
        partitions=setting.partitions,
        train=setting.train,
        train_bytes=setting.train_bytes,
        in_flight=setting.in_flight,
        way=setting.way,
        layered_from=setting.layered_from,
        split_from=setting.split_from,
        clock=lambda: LONG_AGO,
    )
    rows = {name: table_of(network, name, [(row, 0) for row in stored]) for name in tables(network)}
    try:
        node.deploy(network, tables={name: rows[name].drop_columns([TS]) for name in rows})
    except BaseException:
        node.stop()
        raise
    return node


def tables(network: Network) -> list[str]:
    return [name for name, given in network.inputs.items() if given.table]


def fed(node: Node, network: Network, event: Event) -> None:
    """An event, at its time."""
    if event.ending:
        node.flush(event.now)
    elif event.input_name is None:
        node.tick(event.now)
    elif event.promise is not None:
        node.promise(event.input_name, event.promise, event.now)
    else:
        node.push(event.input_name, table_of(network, event.input_name, event.rows), now=event.now)


def numbered(table: pa.Table) -> Numbered:
    """The tuples of an output, as texts: NaN equals NaN, and -0.0 is not 0.0."""
    found = []
    for row in rows_of(table):
        number, ts = row.pop(SEQ), row.pop(TS)
        found.append((number, repr((row, ts))))
    return found


def seen_of(node: Node, network: Network) -> Seen:
    node.drain()
    outputs = {name: numbered(node.read(name)) for name in (*network.outputs, QUARANTINE)}
    boxes = node.statistics().boxes
    return Seen(outputs, {box: {name: getattr(boxes[box], name) for name in COUNTED} for box in boxes})


@dataclass
class Journey:
    """A network, its events, and the nodes that run them, one after another on one root."""

    network: Network
    stored: Stored
    events: list[Event]
    setting: Setting
    restarts: list[Restart] = field(default_factory=list)
    held: bool = False
    """Whether the nodes hold back their trains until everything is pushed, so that there are few trains."""
    runner: str | Runner | SparkSession = IN_PROCESS
    older: bool = False
    """Whether the root is made as it was before boxes of two streams were spread."""

    def check(self) -> None:
        """The nodes do what the reference does."""
        right = self._expectation()
        place = MEMORY if MEMORY.is_dir() else None
        with tempfile.TemporaryDirectory(prefix="australis-test-", dir=place) as root:
            found = self._run(root)
        outputs = right.comparable(found.outputs)
        for name, expected in right.seen.outputs.items():
            assert outputs[name] == expected, difference(name, outputs[name], expected)
        for box, counted in right.seen.counters.items():
            assert found.counters[box] == counted, f"{box}: {found.counters[box]} instead of {counted}"

    def _expectation(self) -> Expectation:
        right = Expectation(self.network)
        for name in tables(self.network):
            right.load(name, self.stored)
        for event in self.events:
            right.event(event)
        return right

    def _run(self, root: str) -> Seen:
        restarts = {each.before: each for each in self.restarts}
        with older_roots() if self.older else nullcontext():
            node = self._opened(root, self.setting)
        try:
            for number, event in enumerate(self.events):
                if number in restarts:
                    node = self._again(node, root, restarts[number])
                fed(node, self.network, event)
            node.resume()
            return seen_of(node, self.network)
        finally:
            node.stop(now=True)

    def _again(self, node: Node, root: str, restart: Restart) -> Node:
        if restart.drained:
            node.resume()
            node.drain()
        node.stop()
        return self._opened(root, restart.setting)

    def _opened(self, root: str, setting: Setting) -> Node:
        node = opened(root, setting, self.network, self.stored, self.runner)
        if self.held:
            node.pause()
        return node


def difference(name: str, found: Numbered, expected: Numbered) -> str:
    """Which tuples of an output are missing, and which are unexpected."""
    missing = [each for each in expected if each not in found]
    extra = [each for each in found if each not in expected]
    return f"{name}: {len(found)} tuples, {len(expected)} expected; missing {missing[:3]}, extra {extra[:3]}"


# --- chance


def random_setting(random: Random, ways: tuple[str, ...] = (Way.FUSED,)) -> Setting:
    return Setting(
        random.choice(["box", "train", "branch", "superbox"]),
        random.choice([1, 2, 3]),
        random.choice([3, 9, 20, 1_000_000]),
        random.choice([1, 2]),
        random.choice(ways),
        schedule=random.choice([*Scheduling]),
        layered_from=random.choice([0, 0, 1 << 20]),
        train_bytes=random.choice([1, 2_000, 256 << 20, 256 << 20]),
        split_from=random.choice([1, 1, 4, 1_000]),
    )


def random_restarts(random: Random, setting: Setting, events: int) -> list[Restart]:
    """Some restarts, each with other settings; another discipline only if the node was drained."""
    found = []
    for before in sorted(random.sample(range(events), min(events, random.choice([0, 1, 2])))):
        drained = random.random() < 0.5
        other = random_setting(random, (setting.way,))
        setting = other if drained else replace(other, discipline=setting.discipline)
        found.append(Restart(before, setting, drained))
    return found


def recut(random: Random, events: list[Event]) -> list[Event]:
    """The same tuples at the same times, with other pushes, and with ends between them."""
    found: list[Event] = []
    for event in events:
        at = random.randint(0, len(event.rows)) if random.random() < 0.5 else 0
        pieces = (event.rows[:at], event.rows[at:])
        found += [replace(event, rows=rows) for rows in pieces if rows] if at else [event]
    return with_ends(random, found)
