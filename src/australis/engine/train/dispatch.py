"""Dispatch: makes the waybill of the next train, from the current queues.

It reads files (the footers of runs) and writes some (plans of joined superboxes), so it must not hold the
ledger's lock.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from australis.algebra.network import Ref
from australis.algebra.quality import ValueGraph
from australis.engine.history import Lookups
from australis.engine.ledger import ALL, Ledger, LogEvent, Queues, loads_of
from australis.engine.store import WHOLE, Segment, SplitSettings, Splitting
from australis.engine.tables import Tables
from australis.engine.train.marks import train_marks
from australis.engine.train.sizing import shares
from australis.engine.train.time_slices import time_slices
from australis.engine.worker import ARRIVAL_STEP_US, GateDropBox, Waybill, write_plan
from australis.plan.spread import SpreadKind
from australis.plan.superboxes import Plan, Superbox

MOMENTS_MOST = 5_000
"""How many local times a train may span, where time matters."""
JOINED_MOST = 256
"""How many joined superboxes have a plan file; then the half that was not used for longest is forgotten."""
GateDropBoxes = Mapping[str, GateDropBox]
"""The drop boxes at the streams of a superbox."""


@dataclass(frozen=True)
class TrainSettings:
    """The settings of a node's trains."""

    partitions: int
    tasks: int
    """How many tasks can run at a time."""
    cache: int
    """The bytes of decoded tuples that a worker caches."""
    layered_from: int
    """The bytes from which on a state is kept in layers."""
    splits: SplitSettings = WHOLE
    """When segments are split."""
    limit_s: float | None = None
    """How long a train may take."""
    bytes_most: int = ALL
    """The bytes of files that a train reads, about."""


@dataclass(frozen=True)
class Dispatched:
    """A train that is about to run, and what it was decided from."""

    waybill: Waybill
    superbox: Superbox
    plan: Plan
    versions: tuple[int, ...]
    """How many trains of each member were committed before."""
    reader: int
    """Its number as a reader of files."""

    @property
    def members(self) -> tuple[str, ...]:
        return self.superbox.members

    @property
    def lo(self) -> int:
        """The number at which the train begins."""
        return self.waybill.time_slices[0].lo

    @property
    def hi(self) -> int:
        """The number at which the train ends."""
        return self.waybill.time_slices[-1].hi


@dataclass(frozen=True)
class DispatchPlan:
    """What dispatch needs of a plan: its superboxes, including joined ones, and where workers find them."""

    superboxes: dict[tuple[str, ...], tuple[Superbox, str]]
    """By their members, with the file that workers load each from."""
    outputs_downstream: Mapping[str, int]
    lookups: Lookups

    @property
    def files(self) -> set[str]:
        return {file for _, file in self.superboxes.values()}


class Dispatch:
    """Makes the waybills of trains. Only one thread at a time may use it."""

    def __init__(self, ledger: Ledger, settings: TrainSettings, tables: Tables) -> None:
        self._ledger, self._root = ledger, ledger.root
        self._settings, self._tables = settings, tables
        self._started = 0
        self._plan = DispatchPlan({}, {}, Lookups(self._root, ledger.plan))
        self.switch(self.prepare(ledger.plan, write_plan(ledger.root, ledger.plan.superboxes)))

    def prepare(self, plan: Plan, plan_file: str, same: Container[str] = ()) -> DispatchPlan:
        """Prepare another plan; what differs from the present one is written to a file for the workers."""
        known = self._plan.superboxes.items()
        stays = {members: made for members, made in known if all(member in same for member in members)}
        made = {(name,): (each, plan_file) for name, each in plan.superboxes.items()} | stays
        return DispatchPlan(made, plan.outputs_downstream(), Lookups(self._root, plan))

    def unused(self, plan: DispatchPlan) -> set[str]:
        """The files that are no longer needed once another plan runs."""
        return self._plan.files - plan.files

    def switch(self, plan: DispatchPlan) -> None:
        """Switch to another plan; joined superboxes that were forgotten meanwhile have no file."""
        known = self._plan.superboxes
        for members in [each for each in plan.superboxes if len(each) > 1 and each not in known]:
            del plan.superboxes[members]
        self._plan = plan

    def waiting(self, queues: Queues, ends: Mapping[str, int]) -> dict[str, int]:
        """How many tuples a train of each superbox up to a number would read, but at least 1."""
        lookups, superboxes = self._plan.lookups, queues.plan.superboxes
        found = {name: tuples or 1 for name, tuples in queues.all_waiting(ends).items()}
        for name in lookups.readers & ends.keys():
            rows = lookups.rows(queues, superboxes[name])
            found[name] = max(1, queues.waiting(superboxes[name], ends[name], rows))
        return found

    def make_waybill(
        self, queues: Queues, members: tuple[str, ...], end: int, most: int, drop_boxes: GateDropBoxes
    ) -> tuple[Waybill, Superbox]:
        """Make the next waybill of a superbox, or of joined ones: about `most` tuples, up to `end`."""
        superbox, plan_file = self._ensure_plan(queues.plan, members)
        lo = queues.position(superbox)
        rows = self._plan.lookups.rows(queues, superbox)
        events, hi = self._events(
            superbox, lo, queues.cut(superbox, end, most, rows, self._settings.bytes_most)
        )
        streams = {name: _segments(queues, arc, lo, hi) for name, arc in superbox.streams.items()}
        read = {name: tuple(s for s in found if rows(s, lo, hi)) for name, found in streams.items()}
        weights = {each: rows(each, lo, hi) for found in read.values() for each in found}
        partitions = self._settings.partitions if superbox.spread.kind is SpreadKind.KEYS else 1
        is_first = queues.heads[members[0]].version == 0
        self._started += 1
        waybill = Waybill(
            root=self._root.uri,
            plan=plan_file,
            superbox=superbox.id,
            train=self._started,
            partitions=partitions,
            time_slices=time_slices(events, lo, hi, timed=superbox.goes_by_time, tables=superbox.tables),
            shares=shares(
                superbox,
                min(sum(weights.values()), most),
                tasks_most=self._settings.tasks,
                partitions=partitions,
                numbers=(lo, hi),
                weights=weights,
            ),
            streams=read,
            tables={
                name: _segments(queues, arc, 0 if is_first else lo, ALL)
                for name, arc in superbox.tables.items()
            },
            states=self._states(members),
            priorities={name: float(self._plan.outputs_downstream[members[0]]) for name in streams},
            cache=self._settings.cache,
            layered_from=self._settings.layered_from,
            splits=self._splits(queues.plan, superbox),
            drop_boxes=_drop_boxes(queues.plan, superbox, drop_boxes),
            weights=_weights(queues.plan, superbox, drop_boxes),
            watched=_watched(queues.plan, superbox),
            members=members,
            lookups=self._plan.lookups.of(queues, superbox),
            asked=self._tables.versions(),
            unloaded=is_first and bool(superbox.tables),
            limit_s=self._settings.limit_s,
            moments=self._moments(queues.plan, superbox, lo, hi),
            marks=train_marks(queues.plan, self._ledger.catalog, superbox, lo, hi),
        )
        return waybill, superbox

    def _states(self, members: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for state in (state for member in members for state in self._ledger.catalog.states(member)):
            key = f"{state.box}/{state.partition}"
            found[key] = (*found.get(key, ()), state.name)
        return found

    def _splits(self, plan: Plan, superbox: Superbox) -> dict[str, Splitting]:
        """How the segments of the arcs that a superbox writes are split."""
        found = {arc: plan.split_keys.get(arc, ()) for arc in superbox.writes.values()}
        return {arc: self._settings.splits.by(keys) for arc, keys in found.items() if keys}

    def _events(self, superbox: Superbox, lo: int, hi: int) -> tuple[list[LogEvent], int]:
        """The events from `lo` up to `hi` that matter to a superbox, or as many as a train may have."""
        log = self._ledger.catalog
        if not superbox.goes_by_time:
            found = [*log.flushes(lo, hi), *loads_of(log, superbox, lo, hi)]
            return sorted(found, key=lambda event: event.base), hi
        events = log.events(lo, hi, MOMENTS_MOST)
        return events, min(hi, events[-1].end) if len(events) == MOMENTS_MOST else hi

    def _moments(self, plan: Plan, superbox: Superbox, lo: int, hi: int) -> tuple[tuple[int, int], ...]:
        """When the numbers of a train were logged, if an output that it writes counts delays from then."""
        outputs = [name for arc in superbox.writes.values() for name in plan.arcs[arc].outputs]
        if not any(plan.counts_since_trigger(name) for name in outputs):
            return ()
        return tuple(self._ledger.catalog.moments(lo, hi, ARRIVAL_STEP_US))

    def _ensure_plan(self, plan: Plan, members: tuple[str, ...]) -> tuple[Superbox, str]:
        """Join superboxes, and write the plan file of the result, unless that was done before."""
        known = self._plan.superboxes
        if members not in known:
            self._forget_joined()
            superbox = plan.joined(members)
            known[members] = superbox, write_plan(self._root, {superbox.id: superbox})
        elif len(members) > 1:
            known[members] = known.pop(members)
        return known[members]

    def _forget_joined(self) -> None:
        """Forget joined superboxes that were not used for long; files stay until trains have read them."""
        known = self._plan.superboxes
        joined = [members for members in known if len(members) > 1]
        if len(joined) >= JOINED_MOST:
            files = [known.pop(members)[1] for members in joined[: JOINED_MOST // 2]]
            with self._ledger.change() as change:
                change.bury(files)


def _segments(queues: Queues, arc: str, lo: int, hi: int) -> tuple[Segment, ...]:
    found = [each for each in queues.segments[arc] if each.base < hi and each.end > lo]
    return tuple(sorted(found, key=lambda each: (each.writer, each.part, each.base)))


def _drop_boxes(plan: Plan, superbox: Superbox, drop_boxes: GateDropBoxes) -> dict[str, GateDropBox]:
    """The drop boxes at the streams of a superbox, which are those of its first member."""
    own = {arc: name for name, arc in plan.superboxes[superbox.members[0]].streams.items()}
    return {
        name: drop_boxes[own[arc]] for name, arc in superbox.streams.items() if own.get(arc) in drop_boxes
    }


def _weights(plan: Plan, superbox: Superbox, drop_boxes: GateDropBoxes) -> dict[str, tuple[str, float]]:
    """The weights of the streams at a gate with a drop box, and by how much they grow there.

    All streams grow: a predicate on one of them is to shed its part of all their tuples.
    """
    factor = max((each.factor for each in drop_boxes.values()), default=1.0)
    gates = plan.superboxes[superbox.members[0]].streams.values()
    known = plan.network.weights
    own = {name: Ref.parse(arc) for name, arc in superbox.streams.items() if arc in gates}
    return {name: (known[ref], factor) for name, ref in own.items() if ref in known and factor > 1.0}


def _watched(plan: Plan, superbox: Superbox) -> dict[str, dict[str, ValueGraph]]:
    """The value graphs of the network's outputs that a superbox writes."""
    found = {name: _value_graphs(plan, arc) for name, arc in superbox.writes.items()}
    return {name: graphs for name, graphs in found.items() if graphs}


def _value_graphs(plan: Plan, arc: str) -> dict[str, ValueGraph]:
    qualities = {name: plan.network.outputs[name].quality for name in plan.arcs[arc].outputs}
    return {name: quality.value for name, quality in qualities.items() if quality and quality.value}
