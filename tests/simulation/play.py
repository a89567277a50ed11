"""A simulated run: a real node on a virtual machine, with clients and faults, held to the reference."""

from __future__ import annotations

import posixpath
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from unittest.mock import patch

import pyarrow as pa
from tests.conformance.engine_runs import LONG_AGO, Expectation, Numbered, numbered
from tests.conformance.random_networks import Event
from tests.conformance.test_live import part
from tests.conformance.test_networks import table_of
from tests.simulation.runner import SimulatedRunner, is_late_here
from tests.simulation.story import CLOCK, draw_story

from australis import Node
from australis.algebra.network import QUARANTINE
from australis.engine.history import organisation
from australis.engine.ledger import Key
from australis.engine.ledger.copies import copied_catalog
from australis.engine.ledger.log import FLUSH
from australis.engine.ledger.log import LogEvent as LoggedEvent
from australis.engine.maintain import compaction, merging, upkeep
from australis.engine.store import disk as disks
from australis.engine.store.segments import staged
from australis.engine.store.trash import TRASH
from australis.engine.threads import Thread
from australis.engine.train import sizing
from australis.engine.worker import keeping, task
from australis.errors import AustralisError, EngineError
from australis.sim.machine.chance import draw_chances
from australis.sim.machine.database import VirtualConnection, VirtualHome
from australis.sim.machine.disk import VirtualDisk
from australis.sim.machine.machine import Machine

READER = "reader"
TROUBLES_MOST = 200
"""After so many errors nothing fails any more, so that every run comes to an end."""
LIVES_MOST = 60
DISK_LOST = 0.3
"""The chance that the catalogue is lost between two lives, where the root keeps copies of it."""


@dataclass
class Verdict:
    """What came of a run."""

    seed: int
    crashes: int = 0
    faults: int = 0
    lost: int = 0
    duplicated: int = 0
    wrong: int = 0
    story: str = ""
    """What went wrong, if anything did."""
    trace: int = 0

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.duplicated or self.wrong)


def play(seed: int) -> Verdict:
    """Run a seed, and say what came of it."""
    run = Play(seed)
    verdict = Verdict(seed)
    try:
        with _small_files(run.story.rows_per_task):
            run.machine.run(run.main)
        run.compare(verdict)
    except Exception as error:
        verdict.wrong += 1
        verdict.story = "".join(traceback.format_exception(error))[-3000:]
    counts = run.machine.faults.counts
    verdict.crashes = counts.get("power loss", 0) + counts.get("kill", 0)
    verdict.faults = sum(counts.values()) - verdict.crashes + run.task_failures
    verdict.trace = run.machine.trace
    return verdict


@contextmanager
def _small_files(rows_per_task: int) -> Iterator[None]:
    """Let tasks, compaction and runs of history begin with few tuples, and workers remember nothing.

    The files of the root are looked through all the time.
    """
    task.forget()
    with (
        patch.object(sizing, "ROWS_PER_TASK", rows_per_task),
        patch.object(compaction, "RUN_LEAST", 3),
        patch.object(organisation, "RUN_ROWS_MOST", 6),
        patch.object(upkeep, "TIDY_EVERY_S", 0.1),
        patch.object(copied_catalog, "SNAPSHOT_EVERY", 9),
        patch.object(keeping, "LARGE_LAYER", 0),
        patch.object(keeping, "LAYERS_MOST", 5),
        patch.object(merging, "LARGE_LAYER", 0),
        patch.object(merging, "FILES_MOST", 3),
        patch.object(merging, "BYTES_AT_A_TIME", 2_000),
    ):
        yield


class WatchedDisk(VirtualDisk):
    """A disk that remembers which files somebody wanted to read that were gone."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.missed: list[str] = []

    def open(self, name: str) -> pa.NativeFile:
        try:
            return super().open(name)
        except FileNotFoundError:
            # A run of history is looked for under the names that it has before and after it is published.
            present = (each for each in self.contents() if not each.startswith(f"{TRASH}/"))
            there = {posixpath.basename(each) for each in present}
            if not is_late_here() and posixpath.basename(name) not in there:
                self.missed.append(name)
            raise


class LoggingHome(VirtualHome):
    """A catalogue that remembers its whole log beside it, also what nobody needs any more."""

    def connect(self) -> VirtualConnection:
        """A connection; what is replayed through it is logged, though a power loss undid that of the log."""
        if (
            self.writer is None
            and self._db.execute("select 1 from sqlite_master where name = 'event'").fetchone()
        ):
            self.keep_log()
        return super().connect()

    def keep_log(self) -> None:
        """Remember every event from now on; one that is rolled back is forgotten with its transaction."""
        columns = "base, end, kind, input, rows, now"
        values = ", ".join(f"new.{column}" for column in columns.split(", "))
        self._db.execute(f"create table if not exists whole_log ({columns})")
        self._db.execute(
            "create trigger if not exists keep_log after insert on event"
            f" begin insert into whole_log values ({values}); end"
        )

    def replace(self, image: bytes) -> None:
        """Take a copy; what is replayed after it is logged, too."""
        super().replace(image)
        self.keep_log()

    def names(self) -> list[str]:
        """All files that something refers to."""
        found = self._db.execute("select name from segment union select name from state")
        return [name for (name,) in found]

    def log(self) -> list[LoggedEvent]:
        """All events so far."""
        return [LoggedEvent(*row) for row in self._db.execute("select * from whole_log order by base")]


class Play:
    """One run, from the first life to the last."""

    def __init__(self, seed: int) -> None:
        self.seed, self.story = seed, draw_story(seed)
        self.machine = Machine(seed, draw_chances(seed, crash_within=3_000))
        self.disk = WatchedDisk(self.machine)
        self.disk.keeps_catalog = seed % 3 == 2
        self.home = LoggingHome(self.machine, self.disk)
        self.random = Random(f"play {seed}")
        self.task_failures = 0
        self.got: dict[str, Numbered] = {name: [] for name in self.story.consumed}
        """What the consumer has of every output that it reads."""
        self.reached: dict[str, int] = dict.fromkeys(self.got, 0)
        """How far the consumer is known to have come."""
        self.pushed: dict[str, int] = {}
        """How many events of each source were acknowledged."""
        self.found: dict[str, Numbered] = {}
        """What was read at the end: of the quarantine, and of queries."""
        self.right: Expectation | None = None
        self.changes_left = self.story.changes
        self.troubles = 0
        self.is_over = False
        self.failure: Exception | None = None
        self.last_trouble: Exception | None = None

    # --- outside of any life

    def main(self) -> None:
        """Begin life after life until one comes to the end of the story."""
        disks.register_disk("sim", lambda uri: self.disk)
        for number in range(LIVES_MOST):
            if number == LIVES_MOST - 10:
                self.machine.calm()
            life = self.machine.begin_life()
            life.start(self._guarded(self._live), "main")
            while not life.wait(1.0):
                if self.failure is not None:
                    self.machine.kill(life)
            if self.failure is not None:
                raise self.failure
            if self.is_over:
                return
            self.machine.kill(life)
            if self.disk.keeps_catalog and self.random.random() < DISK_LOST:
                self.home.lose()
        raise AssertionError(f"the story has not ended in {LIVES_MOST} lives") from self.last_trouble

    def _guarded(self, target: Callable[[], None]) -> Callable[[], None]:
        """Let an exception that nobody expects end the run."""

        def run() -> None:
            try:
                target()
            except Exception as error:
                self.failure = self.failure or error

        return run

    def compare(self, verdict: Verdict) -> None:
        """Hold what came out to what the reference says."""
        assert self.right is not None
        expected = {**self.right.seen.outputs}
        everything = {**self.found, **self.got}
        for outputs in (expected, everything):
            outputs[QUARANTINE] = self._steady_rejects(outputs[QUARANTINE])
        for name, tuples in everything.items():
            output = name.partition(":")[2] or name
            found = self.right.comparable({output: tuples})
            _count(verdict, name, found[output], expected[output])

    def _steady_rejects(self, rejects: Numbered) -> Numbered:
        """What boxes have quarantined that run from the beginning to the end."""
        steady = part(self.story.whole, self.story.steady)
        paths = [f"'path': '{steady.name}.{box}'" for box in (*steady.boxes, *steady.inputs)]
        return [each for each in rejects if any(path in each[1] for path in paths)]

    # --- a life

    def _live(self) -> None:
        """Open the root, let everyone do their part, and end in order if nothing comes in between."""
        runner = SimulatedRunner(self.machine, self.random, self.story.failing)
        try:
            node = self._open(runner)
        except (AustralisError, OSError) as error:
            self.last_trouble = error
            self._trouble()
            return
        clients = [self._start(node, self._feed, source) for source in self.story.events]
        clients += [self._start(node, self._change, "change")] if self.changes_left else []
        ending, done = self.machine.threads.event(), self.machine.threads.event()
        mending = self._start(node, lambda n, _: self._mend(n, done.is_set), "mend")
        readers = [
            self._start(node, lambda n, name: self._consume(n, name, ending.is_set), name)
            for name in self.got
        ]
        for client in clients:
            client.join()
        self._drain(node)
        ending.set()
        for reader in readers:
            reader.join()
        done.set()
        mending.join()
        runner.calm()
        self._finish(node)
        self.task_failures += runner.failures

    def _open(self, runner: SimulatedRunner) -> Node:
        setting = self.story.setting
        node = Node(
            "sim://root",
            catalog=self.home,
            runner=runner,
            threads=self.machine.threads,
            clock=lambda: LONG_AGO,
            discipline=setting.discipline,
            schedule=setting.schedule,
            partitions=self.random.choice([setting.partitions, 1, 2, 3]),
            train=setting.train,
            in_flight=setting.in_flight,
            cache=self.random.choice([0, 1 << 20]),
            layered_from=self.random.choice([0, 0, 1 << 20]),
            split_from=self.random.choice([1, 1, 4, 1 << 20]),
        )
        self.home.keep_log()
        node.deploy(node.recorded() or self.story.some_part(self.random))
        for source, count in self.pushed.items():
            assert self._position(node, source) >= count, f"what {source} has pushed is gone"
        return node

    def _start(self, node: Node, client: Callable[[Node, str], None], name: str) -> Thread:
        return self.machine.threads.start(self._guarded(lambda: client(node, name)), f"client {name}")

    def _trouble(self) -> None:
        """Something failed that may succeed later."""
        self.troubles += 1
        if self.troubles > TROUBLES_MOST:
            self.machine.calm()
        self.machine.sleep(0.01)

    # --- clients

    def _feed(self, node: Node, source: str) -> None:
        """Push the events of a source, each once, whatever happens in between.

        After an error some ask how far they have come; others push again, as their position tells. One with
        keys remembers how far it has come, and pushes the same again until it has an answer.
        """
        events = self.story.events[source]
        number = self._position(node, source)
        while number < len(events):
            try:
                self._push(node, source, events[number], (source, number + 1))
                number = self.pushed[source] = number + 1
            except EngineError:
                self._trouble()
                if self.random.random() < 0.5:
                    number = self._position(node, source)

    def _push(self, node: Node, source: str, event: Event, position: tuple[str, int]) -> None:
        if event.ending:
            node.flush(event.now, position=position)
        elif source == CLOCK:
            node.tick(event.now, position=position)
        elif event.promise is not None:
            node.promise(source, event.promise, event.now, position=position)
        else:
            table = table_of(self.story.whole, source, event.rows)
            if source in self.story.keyed:
                self._push_by_key(node, source, table, event.now, position[1])
            else:
                node.push(source, table, now=event.now, position=position)

    def _push_by_key(self, node: Node, source: str, table: pa.Table, now: int | None, number: int) -> None:
        """Push with a key; what was pushed before gets the same answer, and other tuples are refused."""
        key = Key(source, str(number), str(number))
        receipt = node.admit(source, table, now=now, key=key)
        again = node.admit(source, table, now=now, key=key)
        assert again == replace(receipt, is_repeated=True), f"{again} is not {receipt}"

    def _position(self, node: Node, source: str) -> int:
        """How many events of a source have arrived."""
        if source in self.story.keyed:
            return self.pushed.get(source, 0)
        while True:
            try:
                return int(node.position(source) or 0)
            except EngineError:
                self._trouble()

    def _consume(self, node: Node, output: str, is_ending: Callable[[], bool]) -> None:
        """Read an output in rounds, from where the last acknowledgement is."""
        while True:
            is_last = is_ending()
            try:
                reached, _ = node.consumer(READER, output)
                assert reached >= self.reached[output], f"the consumer of {output} has gone back"
                self.reached[output] = reached
                self.got[output] = [each for each in self.got[output] if each[0] < reached]
                for table in node.subscribe(output, consumer=READER, follow=False, rows=self._few()):
                    self.got[output] += numbered(table)
                if is_last:
                    return
                # Others may be waiting for a disk that has stalled, for a minute even.
                self.machine.sleep(self.random.choice([0.01, 0.01, 3.0]))
            except EngineError:
                self._trouble()

    def _few(self) -> int:
        return self.random.choice([1, 5, 100_000])

    def _mend(self, node: Node, is_ending: Callable[[], bool]) -> None:
        """Let trains continue after errors."""
        while not is_ending():
            try:
                node.check()
            except EngineError:
                self._trouble()
                node.resume()
            self.machine.sleep(1.0)

    def _change(self, node: Node, name: str) -> None:
        """Change the network now and then, and let queries come and go."""
        while self.changes_left:
            try:
                self._change_once(node)
                self.changes_left -= 1
            except EngineError:
                self._trouble()

    def _change_once(self, node: Node) -> None:
        attached, random = node.attached(), self.random
        if random.random() < 0.4:
            node.change(self.story.some_part(random))
        elif attached and random.random() < 0.4:
            node.detach(random.choice(sorted(attached)))
        else:
            output = random.choice(list(self.story.whole.outputs))
            node.attach(self.story.query(output), name=f"q{self.changes_left}_{len(attached)}_{output}")

    # --- the end

    def _drain(self, node: Node) -> None:
        while True:
            try:
                node.drain()
                return
            except EngineError:
                self._trouble()

    def _finish(self, node: Node) -> None:
        """Read what nobody consumes, work out what is right from the log, and stop."""
        self.machine.calm()
        node.resume()
        node.drain()
        for output in self.got:
            # A query that stood still has held back the quarantine.
            self._consume(node, output, lambda: True)
        self.found = {QUARANTINE: numbered(node.read(QUARANTINE))}
        for name in node.attached():
            self.found[f"{name}:{name.split('_', 2)[2]}"] = numbered(node.read(name))
        self.right = self._expectation(node)
        node.stop()
        there = self.disk.contents()
        missing = [name for name in self.home.names() if not {name, staged(name)} & there.keys()]
        assert not missing, f"files are gone that the catalogue knows: {missing}"
        assert not self.disk.missed, f"files were gone before they were read: {self.disk.missed}"
        self.is_over = True

    def _expectation(self, node: Node) -> Expectation:
        """What the reference makes of the log: who came first was for the scheduler to decide."""
        right = Expectation(self.story.whole)
        taken = dict.fromkeys(self.story.events, 0)
        for logged in self.home.log():
            source = logged.input or CLOCK
            event = self.story.events[source][taken[source]]
            taken[source] += 1
            assert len(event.rows) == logged.rows, f"{logged} is not {event}"
            assert event.ending == (logged.kind == FLUSH), f"{logged} is not {event}"
            right.event(replace(event, now=logged.now))
        assert taken == {name: len(events) for name, events in self.story.events.items()}, taken
        return right


def _count(verdict: Verdict, name: str, found: Numbered, expected: Numbered) -> None:
    """Count what is missing, what is there too often, and what should not be there."""
    if found == expected:
        return
    have, want = Counter(found), Counter(expected)
    lost, extra = want - have, have - want
    duplicated = sum(count for each, count in extra.items() if each in want)
    verdict.lost += lost.total()
    verdict.duplicated += duplicated
    verdict.wrong += extra.total() - duplicated or (not lost and not extra)
    verdict.story = f"{name}: missing {list(lost)[:2]}, too many {list(extra)[:2]}, of {len(expected)}"
