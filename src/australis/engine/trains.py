"""Trains: what the next one of a superbox takes, and the one transaction that makes what it did visible."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from australis.algebra.quality import ValueGraph
from australis.compile.spread import SpreadKind
from australis.compile.superboxes import Plan, Superbox
from australis.engine.accounts import Account
from australis.engine.faults import crash_point
from australis.engine.ground import Ground
from australis.engine.moments import FLUSH, moments
from australis.engine.plans import write_plan
from australis.engine.queues import rows_between
from australis.engine.steering import Steering
from australis.engine.storage.catalog import Head, StateFile, Transaction
from australis.engine.storage.segments import Segment
from australis.engine.waybills import Manifest, Mouth, Share, Waybill

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

    plan_file: str
    partitions: int
    tasks: int
    """How many tasks can run at a time."""
    cache: int
    """The bytes that a worker keeps decoded."""


class Trains:
    """Makes the orders of trains and commits what came of them. Who calls it holds the node's lock."""

    def __init__(self, ground: Ground, settings: Settings, steering: Steering) -> None:
        self._root, self._catalog, self._graveyard = ground.root, ground.catalog, ground.graveyard
        self._plan, self._queues, self._clock = ground.plan, ground.queues, ground.clock
        self._settings, self._steering = settings, steering
        self._started = 0
        self._outputs_behind = ground.plan.outputs_behind()
        self._joined: dict[tuple[str, ...], tuple[Superbox, str]] = {
            (name,): (superbox, settings.plan_file) for name, superbox in ground.plan.superboxes.items()
        }

    # --- what is to be done

    def due(self, superbox: Superbox) -> int:
        """How much there is to do for a superbox: tuples, and 1 for stored tables, time or an end."""
        head, end = self._queues.heads[superbox.id], self._queues.end(superbox)
        if head.seq >= end:
            return 0
        waiting = self._queues.waiting(superbox)
        is_unloaded = head.version == 0 and len(superbox.tables) > 0
        if waiting or is_unloaded or self._stirs(superbox, head, end):
            return max(waiting, 1)
        # Nothing in between concerns it: it is there already, and the next commit says so.
        self._queues.advance(superbox.id, Head(end, head.version, head.deadline))
        return 0

    def _stirs(self, superbox: Superbox, head: Head, end: int) -> bool:
        """Whether the log has an event without tuples that makes the superbox emit."""
        if not superbox.ordered:
            return False
        events = self._catalog.events(head.seq, end)
        late = head.deadline is not None and any(event.now >= head.deadline for event in events)
        return late or any(event.kind == FLUSH for event in events)

    def waybill(self, members: tuple[str, ...], most: int) -> Waybill:
        """The next train of a superbox, or of some that are joined, of about `most` tuples."""
        superbox, plan_file = self._made(members)
        head = self._queues.head(superbox)
        hi = self._queues.cut(superbox, most)
        events = self._catalog.events(head.seq, hi)
        if superbox.has_timeouts and len(events) > MOMENTS_MOST:
            events = events[:MOMENTS_MOST]
            hi = events[-1].end
        streams = {name: self._segments(arc, head.seq, hi) for name, arc in superbox.streams.items()}
        lo = head.seq
        tuples = sum(rows_between(each, lo, hi) for found in streams.values() for each in found)
        partitions = self._settings.partitions if superbox.spread.kind is SpreadKind.KEYS else 1
        first = head.version == 0
        self._started += 1
        return Waybill(
            self._root.uri,
            plan_file,
            superbox.id,
            self._started,
            partitions,
            moments(events, head.seq, hi, timed=superbox.has_timeouts),
            self._shares(superbox, min(tuples, most), partitions, head.seq, hi),
            streams,
            {name: self._segments(arc, 0, 1 << 62) for name, arc in superbox.tables.items()} if first else {},
            {f"{s.box}/{s.partition}": s.name for m in members for s in self._catalog.states(m)},
            {name: float(self._outputs_behind[members[0]]) for name in streams},
            self._settings.cache,
            self._mouths(superbox),
            _watched(self._plan, superbox),
            members,
        )

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
        self, superbox: Superbox, tuples: int, partitions: int, lo: int, hi: int
    ) -> tuple[Share, ...]:
        tasks = max(1, min(self._settings.tasks, tuples // ROWS_PER_TASK))
        if superbox.spread.kind is SpreadKind.ROWS:
            tasks = min(tasks, hi - lo)
            step = -(-(hi - lo) // tasks)
            return tuple(Share((0,), lo + i * step, min(hi, lo + (i + 1) * step)) for i in range(tasks))
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
        dropped = list(self._droppable(account.superbox, account.now))
        self._queues.remove(dropped)
        with self._catalog.transaction() as transaction:
            for name, head in self._queues.heads.items():
                transaction.set_head(name, head)
            buried = list(self._states(transaction, account.superbox, account.manifests))
            transaction.add_segments(segments)
            transaction.drop_segments(dropped)
            transaction.forget_events(min(head.seq for head in self._queues.heads.values()))
            account.write(transaction)
            crash_point("train.changed")
        return buried + [segment.name for segment in dropped if not segment.adopted]

    def _advance(self, account: Account) -> None:
        """Move the heads of all members to the train's end."""
        hi, heads = account.waybill.moments[-1].hi, self._queues.heads
        deadlines = [each.deadline for each in account.manifests if each.deadline is not None]
        for member in account.superbox.members:
            due = min(deadlines, default=None) if self._plan.superboxes[member].has_timeouts else None
            self._queues.advance(member, Head(hi, heads[member].version + 1, due))

    def _droppable(self, superbox: Superbox, now: int) -> Iterator[Segment]:
        """Segments of the superbox's arcs that nobody needs any more."""
        for arc in dict.fromkeys((*superbox.reads.values(), *superbox.writes.values())):
            before = self._queues.needed(self._plan.arcs[arc], now)
            yield from (segment for segment in self._queues.segments[arc] if segment.end <= before)

    def _states(
        self, transaction: Transaction, superbox: Superbox, manifests: Sequence[Manifest]
    ) -> Iterator[str]:
        """Make states current; gives the files of those that they replace."""
        written = [StateFile(s.box, s.partition, s.name, s.bytes) for m in manifests for s in m.states]
        for member in superbox.members:
            boxes = self._plan.superboxes[member].ordered
            yield from transaction.set_states(member, [file for file in written if file.box in boxes])


def _watched(plan: Plan, superbox: Superbox) -> dict[str, dict[str, ValueGraph]]:
    """The value graphs of the network's outputs that a superbox writes."""
    found = {name: _value_graphs(plan, arc) for name, arc in superbox.writes.items()}
    return {name: graphs for name, graphs in found.items() if graphs}


def _value_graphs(plan: Plan, arc: str) -> dict[str, ValueGraph]:
    qualities = {name: plan.network.outputs[name].quality for name in plan.arcs[arc].outputs}
    return {name: quality.value for name, quality in qualities.items() if quality and quality.value}
