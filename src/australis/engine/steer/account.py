"""The account of a train: what it reports of boxes, outputs and gates, and what of that is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from australis.engine.ledger import (
    DiscardCount,
    GateCount,
    Recent,
    UnitOfWork,
    count_shed,
    histogram,
    note_recent,
)
from australis.engine.store import Segment
from australis.engine.worker import Manifest, Waybill, logged_at
from australis.plan.superboxes import Plan, Superbox

_DISCARDED = ("late", "ignored", "rejected")
"""The counters of a box for tuples that it did not use."""


@dataclass(frozen=True)
class Account:
    """The sum of what the tasks of a train report."""

    plan: Plan
    superbox: Superbox
    waybill: Waybill
    manifests: Sequence[Manifest]
    run_us: int
    now: int

    @property
    def lo(self) -> int:
        """The number that the train began with."""
        return self.waybill.time_slices[0].lo

    @property
    def hi(self) -> int:
        """The number that it reached."""
        return self.waybill.time_slices[-1].hi

    @property
    def segments(self) -> list[Segment]:
        """The segments that it has written."""
        return [each for manifest in self.manifests for each in manifest.segments]

    @property
    def received(self) -> int:
        """The tuples that the train took."""
        return sum(manifest.received for manifest in self.manifests)

    @property
    def emitted(self) -> int:
        """The tuples that it added to queues."""
        return sum(segment.rows for manifest in self.manifests for segment in manifest.segments)

    @property
    def tasks_us(self) -> int:
        """The total time of its tasks."""
        return sum(manifest.task_us for manifest in self.manifests)

    @property
    def longest_us(self) -> int:
        """The time of the longest of them."""
        return max((manifest.task_us for manifest in self.manifests), default=0)

    @cached_property
    def seen(self) -> Recent:
        """What outputs received, what reached gates, and what boxes and inputs discarded."""
        seen = Recent()
        for name, counted in self._counted().items():
            seen.discards[name] = DiscardCount(counted["received"], self._discarded(name, counted))
        for manifest in self.manifests:
            for output, buckets in self._delays(manifest):
                seen.delays[output] = _sum(seen.delays.get(output, {}), buckets)
            for output, counts in manifest.values.items():
                bins = {index: tuples for index, tuples in enumerate(counts) if tuples}
                seen.values[output] = _sum(seen.values.get(output, {}), bins)
            for key, gate_count in self._gate_counts(manifest):
                seen.gates[key] = seen.gates.get(key, GateCount()) + gate_count
        return seen

    def _discarded(self, name: str, counted: Mapping[str, int]) -> int:
        """What a box or an input did not use; a box may emit late tuples."""
        node = self.plan.network.boxes.get(name)
        kinds = _DISCARDED[1:] if node is not None and node.box.emits_late else _DISCARDED
        return sum(counted[kind] for kind in kinds)

    def came_to(self, member: str) -> GateCount:
        """What reached all streams of a member."""
        return sum((each for (name, _), each in self.seen.gates.items() if name == member), GateCount())

    def given(self, member: str) -> dict[str, int]:
        """The tuples that a member put on its arcs, whether or not they were queued there."""
        found = dict.fromkeys(self.plan.superboxes[member].writes.values(), 0)
        for manifest in self.manifests:
            queued = {arc: sum(s.rows for s in manifest.segments if s.arc == arc) for arc in found}
            for arc in found:
                found[arc] += manifest.ports.get(arc, queued[arc])
        return found

    def parts(self) -> dict[str, float]:
        """The fraction of the work that each member did, by the time that its boxes took."""
        spent = dict.fromkeys(self.superbox.members, 1)
        for member in self.superbox.members:
            boxes = self.plan.superboxes[member].boxes
            counted = (manifest.boxes.get(box) for manifest in self.manifests for box in boxes)
            spent[member] += sum(each["nanoseconds"] for each in counted if each is not None)
        return {member: each / sum(spent.values()) for member, each in spent.items()}

    def write(self, change: UnitOfWork) -> None:
        """Add it to the catalogue."""
        for box, counted in self._counted().items():
            change.count_box(box, counted)
        for output, buckets in self.seen.delays.items():
            change.count_delays(output, buckets)
        change.count_ports(_summed(manifest.ports for manifest in self.manifests))
        note_recent(change, self.now, self.seen)
        count_shed(change, self._shed())
        for member in self.superbox.members:
            came, tasks = self.came_to(member), len(self.manifests)
            taken = came.arrived - came.shed
            train = (member, self.lo, self.hi, taken, self.emitted, tasks, self.now, self.run_us, came.shed)
            change.note_train(train)

    def _delays(self, manifest: Manifest) -> Iterator[tuple[str, dict[int, int]]]:
        for arc, arrivals in manifest.arrivals.items():
            for output in self.plan.arcs[arc].outputs if arc in self.plan.arcs else ():
                counted = manifest.triggers[arc] if self.is_since_trigger(output) else arrivals
                yield output, histogram(counted, self.now)

    def is_since_trigger(self, output: str) -> bool:
        """Whether the delays of an output count from what triggered its results."""
        return bool(self.waybill.moments) and self.plan.counts_since_trigger(output)

    @property
    def newest_cause(self) -> int:
        """When the last number that the train has read was logged, where the waybill has moments."""
        last = max(each.end for found in self.waybill.streams.values() for each in found)
        return int(logged_at(self.waybill.moments, np.array([min(last, self.hi) - 1]))[0])

    def _gate_counts(self, manifest: Manifest) -> Iterator[tuple[tuple[str, str], GateCount]]:
        """What reached the streams of each member: from outside, or from the members before it."""
        streams = self.superbox.streams
        came = {streams[name]: GateCount(*counted) for name, counted in manifest.gates.items()}
        for member in self.superbox.members:
            for stream, arc in self.plan.superboxes[member].streams.items():
                if arc in came or arc in manifest.ports:
                    yield (member, stream), came.get(arc) or GateCount(manifest.ports[arc])

    def _shed(self) -> dict[int, tuple[int, int]]:
        """What reached each drop box, and what it shed."""
        found: dict[int, tuple[int, int]] = {}
        for name, drop_box in self.waybill.drop_boxes.items():
            counted = [manifest.gates[name] for manifest in self.manifests if name in manifest.gates]
            found[drop_box.number] = (sum(came for came, _ in counted), sum(shed for _, shed in counted))
        return found

    def _counted(self) -> dict[str, Mapping[str, int]]:
        """The counters of each box, and of inputs with tuples that do not fit, over all tasks."""
        boxes = {box for manifest in self.manifests for box in manifest.boxes}
        return {box: _summed(m.boxes[box] for m in self.manifests if box in m.boxes) for box in boxes}


def _sum(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in {**one, **other}}


def _summed(counted: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in counted:
        for key, value in each.items():
            found[key] = found.get(key, 0) + value
    return found
