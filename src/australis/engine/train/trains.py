"""Trains: what the next one of a superbox takes, and the one transaction that makes what it did visible."""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from australis.algebra.quality import ValueGraph
from australis.engine.crash_points import crash_point
from australis.engine.history.lookups import Lookups
from australis.engine.ledger.catalog import Event, Head, StateFile, Transaction
from australis.engine.shared import Ground
from australis.engine.steer.steering import Steering
from australis.engine.store.segments import Segment
from australis.engine.train.account import Account
from australis.engine.train.moments import moments
from australis.engine.worker.plan_files import write_plan
from australis.engine.worker.waybill import Manifest, Mouth, Share, Waybill
from australis.plan.spread import SpreadKind
from australis.plan.superboxes import Plan, Superbox

ROWS_PER_TASK = 60_000
"""Each task has at least so many tuples, so a train of fewer than twice as many is one task: a second one
would cost more than it saves."""
MOMENTS_MOST = 5_000


@dataclass(frozen=True)
class Train:
    """A train that was committed."""

    superbox: str
    lo: int
    hi: int
    received: int
    emitted: int
    tasks: int
    run_us: int
    commit_us: int


@dataclass(frozen=True)
class Settings:
    """What trains are like on a node."""

    partitions: int
    tasks: int
    """How many tasks can run at a time."""
    cache: int
    """The bytes that a worker keeps decoded."""


class Trains:
    """Makes the orders of trains and commits what came of them. Who calls it holds the node's lock."""

    def __init__(self, ground: Ground, settings: Settings, steering: Steering) -> None:
        self._root, self._catalog, self._graveyard = ground.root, ground.catalog, ground.graveyard
        self._queues, self._clock = ground.queues, ground.clock
        self._settings, self._steering, self._tables = settings, steering, ground.tables
        self._started = 0
        self._joined: dict[tuple[str, ...], tuple[Superbox, str]] = {}
        self.switch(write_plan(ground.root, ground.plan.superboxes))

    @property
    def _plan(self) -> Plan:
        return self._queues.plan

    def switch(self, plan_file: str, same: Container[str] = ()) -> set[str]:
        """Another plan runs, and workers find in a file what is not the same as before.

        Gives the files that they need no more.
        """
        before = {file for _, file in self._joined.values()}
        self._outputs_behind = self._plan.outputs_behind()
        self._lookups = Lookups(self._root, self._queues)
        known = {members: made for members, made in self._joined.items() if all(m in same for m in members)}
        self._joined = {(name,): (each, plan_file) for name, each in self._plan.superboxes.items()} | known
        return before - {file for _, file in self._joined.values()}

    # --- what is to be done

    def due(self, superbox: Superbox) -> int:
        """How much there is to do for a superbox: tuples, and 1 for stored tables, time or an end."""
        if superbox.id in self._plan.views:
            self._catch_up(superbox)
        head, end = self._queues.heads[superbox.id], self._queues.end(superbox)
        if head.seq >= end or self._plan.views.get(superbox.id) == 0:
            return 0
        waiting = self._queues.waiting(superbox, self._lookups.rows(superbox))
        is_unloaded = head.version == 0 and len(superbox.tables) > 0
        if waiting or is_unloaded or self._stirs(superbox, head, end):
            return max(waiting, 1)
        # Nothing in between concerns it: it is there already, and the next commit says so.
        self._queues.advance(superbox.id, Head(end, head.version, head.deadline))
        return 0

    def _catch_up(self, superbox: Superbox) -> None:
        """Move a view that was left behind to what is still kept of its streams."""
        head = self._queues.heads[superbox.id]
        earliest = min(self._queues.earliest(arc) for arc in superbox.streams.values())
        kept = min(earliest, self._queues.end(superbox))
        if kept > head.seq:
            self._queues.advance(superbox.id, Head(kept, head.version, head.deadline))

    def _stirs(self, superbox: Superbox, head: Head, end: int) -> bool:
        """Whether the log has an event without tuples that makes the superbox emit."""
        if not superbox.ordered:
            return False
        late = head.deadline is not None and self._catalog.latest(head.seq, end) >= head.deadline
        return late or bool(self._catalog.flushes(head.seq, end) or self._loads(superbox, head.seq, end))

    def waybill(self, members: tuple[str, ...], most: int) -> Waybill:
        """The next train of a superbox, or of some that are joined, of about `most` tuples."""
        superbox, plan_file = self._made(members)
        head = self._queues.head(superbox)
        rows = self._lookups.rows(superbox)
        hi = self._queues.cut(superbox, most, rows)
        events, hi = self._events(superbox, head.seq, hi)
        streams = {name: self._segments(arc, head.seq, hi) for name, arc in superbox.streams.items()}
        lo = head.seq
        read = {name: tuple(s for s in found if rows(s, lo, hi)) for name, found in streams.items()}
        weights = {each: rows(each, lo, hi) for found in read.values() for each in found}
        tuples = sum(weights.values())
        partitions = self._settings.partitions if superbox.spread.kind is SpreadKind.KEYS else 1
        first = head.version == 0
        states = {f"{s.box}/{s.partition}": s.name for m in members for s in self._catalog.states(m)}
        self._started += 1
        return Waybill(
            self._root.uri,
            plan_file,
            superbox.id,
            self._started,
            partitions,
            moments(events, head.seq, hi, timed=superbox.has_timeouts, tables=superbox.tables),
            self._shares(superbox, min(tuples, most), partitions, lo, hi, weights),
            read,
            {n: self._segments(arc, 0 if first else lo, 1 << 62) for n, arc in superbox.tables.items()},
            states,
            {name: float(self._outputs_behind[members[0]]) for name in streams},
            self._settings.cache,
            self._mouths(superbox),
            _watched(self._plan, superbox),
            members,
            self._lookups.of(superbox),
            self._tables.versions(),
            first and bool(superbox.tables),
        )

    def _events(self, superbox: Superbox, lo: int, hi: int) -> tuple[list[Event], int]:
        """The events from `lo` up to `hi` that matter to a superbox, or as many as a train may have."""
        if not superbox.has_timeouts:
            found = [*self._catalog.flushes(lo, hi), *self._loads(superbox, lo, hi)]
            return sorted(found, key=lambda event: event.base), hi
        events = self._catalog.events(lo, hi, MOMENTS_MOST)
        return events, min(hi, events[-1].end) if len(events) == MOMENTS_MOST else hi

    def _loads(self, superbox: Superbox, lo: int, hi: int) -> list[Event]:
        """The new versions of a superbox's stored tables from `lo` up to `hi`."""
        found = self._catalog.loads(lo, hi) if superbox.tables else []
        return [event for event in found if event.input in superbox.tables]

    def superbox(self, waybill: Waybill) -> Superbox:
        """The superbox of a train."""
        return self._made(waybill.members)[0]

    def _made(self, members: tuple[str, ...]) -> tuple[Superbox, str]:
        """Superboxes as one, and the plan file that has it."""
        if members not in self._joined:
            superbox = self._plan.joined(members)
            self._joined[members] = superbox, write_plan(self._root, {superbox.id: superbox})
        return self._joined[members]

    def _mouths(self, superbox: Superbox) -> dict[str, Mouth]:
        """The drop boxes at the streams of a superbox, which are those of its first member."""
        first = superbox.members[0]
        own = {arc: name for name, arc in self._plan.superboxes[first].streams.items()}
        found = self._steering.mouths(first)
        return {name: found[own[arc]] for name, arc in superbox.streams.items() if own.get(arc) in found}

    def _segments(self, arc: str, lo: int, hi: int) -> tuple[Segment, ...]:
        found = [each for each in self._queues.segments[arc] if each.base < hi and each.end > lo]
        return tuple(sorted(found, key=lambda each: (each.writer, each.part, each.base)))

    def _shares(
        self,
        superbox: Superbox,
        tuples: int,
        partitions: int,
        lo: int,
        hi: int,
        weights: Mapping[Segment, int],
    ) -> tuple[Share, ...]:
        """The tasks of a train: each has about as many of the tuples that are read."""
        tasks = max(1, min(self._settings.tasks, tuples // ROWS_PER_TASK))
        if superbox.spread.kind is SpreadKind.ROWS:
            runs = [each for each in weights if each.key]
            inner = [_beside(number, runs) for number in _cuts(weights, lo, hi, tasks)]
            bounds = sorted({lo, hi, *(number for number in inner if lo < number < hi)})
            return tuple(Share((0,), a, b) for a, b in pairwise(bounds))
        tasks = min(tasks, partitions)
        bounds = [partitions * i // tasks for i in range(tasks + 1)]
        return tuple(Share(tuple(range(a, b))) for a, b in pairwise(bounds))

    def settle(self) -> None:
        """Write down how far the superboxes have come that had nothing to do since the last commit."""
        with self._catalog.transaction() as transaction:
            for name, head in self._queues.heads.items():
                transaction.set_head(name, head)

    # --- what was done

    def commit(self, waybill: Waybill, manifests: Sequence[Manifest], run_us: int) -> Train:
        """Make a train visible: its head, states, segments and statistics, in one transaction."""
        began = time.perf_counter_ns()
        account = Account(self._plan, self.superbox(waybill), waybill, manifests, run_us, self._clock())
        crash_point("train.committing")
        try:
            buried = self._committed(account)
        except BaseException:
            self._queues.load(self._catalog)
            raise
        crash_point("train.committed")
        self._graveyard.bury(buried)
        crash_point("train.swept")
        self._steering.ran(account)
        lo, hi = waybill.moments[0].lo, waybill.moments[-1].hi
        received, emitted, tasks = account.received, account.emitted, len(manifests)
        commit_us = (time.perf_counter_ns() - began) // 1000
        return Train(waybill.superbox, lo, hi, received, emitted, tasks, run_us, commit_us)

    def _committed(self, account: Account) -> list[str]:
        """Change mirror and catalogue alike; gives the files that nothing refers to any more."""
        self._advance(account)
        segments = [each for manifest in account.manifests for each in manifest.segments]
        self._queues.add(segments, account.now)
        dropped = self._droppable(account.superbox, account.now)
        self._queues.remove(dropped)
        with self._catalog.transaction() as transaction:
            for name, head in self._queues.heads.items():
                transaction.set_head(name, head)
            buried = list(self._states(transaction, account.superbox, account.manifests))
            transaction.add_segments(segments)
            buried += transaction.drop_segments(dropped)
            transaction.forget_events(self._queues.log_needed())
            account.write(transaction)
            crash_point("train.changed")
        return buried

    def _advance(self, account: Account) -> None:
        """Move the heads of all members to the train's end."""
        hi, heads = account.waybill.moments[-1].hi, self._queues.heads
        deadlines = [each.deadline for each in account.manifests if each.deadline is not None]
        for member in account.superbox.members:
            due = min(deadlines, default=None) if self._plan.superboxes[member].has_timeouts else None
            self._queues.advance(member, Head(hi, heads[member].version + 1, due))

    def _droppable(self, superbox: Superbox, now: int) -> list[Segment]:
        """Segments of the superbox's arcs that nobody needs any more, and history of any arc that expired."""
        own = (*superbox.reads.values(), *superbox.writes.values())
        return self._queues.unneeded(dict.fromkeys((*own, *self._queues.remembering)), now)

    def _states(
        self, transaction: Transaction, superbox: Superbox, manifests: Sequence[Manifest]
    ) -> Iterator[str]:
        """Make states current; gives the files of those that they replace."""
        written = [StateFile(s.box, s.partition, s.name, s.bytes) for m in manifests for s in m.states]
        for member in superbox.members:
            boxes = self._plan.superboxes[member].ordered
            yield from transaction.set_states(member, [file for file in written if file.box in boxes])


def _cuts(weights: Mapping[Segment, int], lo: int, hi: int, tasks: int) -> Iterator[int]:
    """The numbers between which tasks have about as many tuples to read, as segments are told to have."""
    whole, passed, found = sum(weights.values()), 0, 1
    for segment, weight in sorted(weights.items(), key=lambda each: each[0].base):
        begin, end = max(lo, segment.base), min(hi, segment.end)
        while found < tasks and passed + weight >= whole * found / tasks:
            yield begin + round((end - begin) * (whole * found / tasks - passed) / weight)
            found += 1
        passed += weight


def _beside(number: int, runs: Sequence[Segment]) -> int:
    """A number near another one that no run spans: of one sorted by key, any part takes reading the whole."""
    spanning = next((run for run in runs if run.base < number < run.end), None)
    if spanning is None:
        return number
    return spanning.base if number - spanning.base < spanning.end - number else spanning.end


def _watched(plan: Plan, superbox: Superbox) -> dict[str, dict[str, ValueGraph]]:
    """The value graphs of the network's outputs that a superbox writes."""
    found = {name: _value_graphs(plan, arc) for name, arc in superbox.writes.items()}
    return {name: graphs for name, graphs in found.items() if graphs}


def _value_graphs(plan: Plan, arc: str) -> dict[str, ValueGraph]:
    qualities = {name: plan.network.outputs[name].quality for name in plan.arcs[arc].outputs}
    return {name: quality.value for name, quality in qualities.items() if quality and quality.value}
