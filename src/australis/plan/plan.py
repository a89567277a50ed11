"""A plan as a value: superboxes, the arcs between them, and what follows from both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from australis.algebra.network import QUARANTINE, Network, Ref
from australis.algebra.progress import BoundProgress
from australis.algebra.schema import Schema
from australis.plan.spread import Spread, SpreadKind

QUARANTINE_ARC = f"={QUARANTINE}"
"""The arc for tuples that a superbox cannot process."""


class Discipline(StrEnum):
    """What one scheduling step runs (Aurora 4.3)."""

    BOX = "box"
    """One box, over a few tuples: box-at-a-time."""
    TRAIN = "train"
    """One box, over all that its queues hold."""
    SUPERBOX = "superbox"
    """All connected boxes, over all that their queues hold; nothing is queued between them."""
    BRANCH = "branch"
    """Connected boxes that lead to the same outputs; queues lie where paths to other outputs branch off."""


@dataclass(frozen=True)
class Arc:
    """A queue: a stream written by a superbox or source, and read by superboxes, outputs or history."""

    id: str
    schema: Schema
    writer: str | None
    """The superbox that writes it; None for an input."""
    readers: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    """The connection points that keep its history."""


@dataclass(frozen=True)
class Superbox:
    """Boxes that run as one job: a network of their own, whose inputs and outputs are arcs.

    `admits` names the inputs whose tuples are checked here, so that bad tuples are quarantined only once.
    """

    id: str
    network: Network
    reads: Mapping[str, str]
    """The arc of each input of the network, including stored tables."""
    writes: Mapping[str, str]
    """The arc of each output of the network."""
    spread: Spread
    """Its keys are listed under the names of the network's inputs."""
    admits: frozenset[str] = frozenset()
    members: tuple[str, ...] = ()
    """The superboxes of the plan that are joined in it, the first one first; otherwise only itself."""

    writers: Mapping[str, str] = field(default_factory=dict)
    """The member that writes each arc."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", self.members or (self.id,))

    @property
    def boxes(self) -> tuple[str, ...]:
        return self.network.order

    @cached_property
    def streams(self) -> Mapping[str, str]:
        """The arcs that trains read tuples from, by input."""
        return {name: arc for name, arc in self.reads.items() if not self.network.inputs[name].table}

    @cached_property
    def arcs(self) -> tuple[str, ...]:
        """The arcs that trains read tuples from."""
        return tuple(self.streams.values())

    @cached_property
    def tables(self) -> Mapping[str, str]:
        """The arcs of stored tables, by input."""
        return {name: arc for name, arc in self.reads.items() if self.network.inputs[name].table}

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        """The boxes that keep state."""
        return tuple(box_id for box_id in self.boxes if self.network.boxes[box_id].box.ordered)

    @cached_property
    def goes_by_progress(self) -> bool:
        """Whether a box has an order by progress, so that marks alone can make it emit."""
        boxes = (node.box for node in self.network.boxes.values())
        return any(order.by_progress for box in boxes for order in box.orders.values())

    @cached_property
    def has_timeouts(self) -> bool:
        """Whether the passing of time alone can make a box emit."""
        return any(node.box.timeout_us is not None for node in self.network.boxes.values())

    @cached_property
    def goes_by_time(self) -> bool:
        """Whether the local time of a tuple's arrival matters to a box."""
        boxes = (node.box for node in self.network.boxes.values())
        return self.has_timeouts or any(box.forget_us is not None for box in boxes)


class Cutter(Protocol):
    """What cuts a network into superboxes, and can join some of them."""

    def joined(self, plan: Plan, members: tuple[str, ...]) -> Superbox:
        """Superboxes of a plan as one."""


@dataclass(frozen=True)
class Plan:
    """A network cut into superboxes, each after those that it reads from."""

    network: Network
    discipline: Discipline
    superboxes: Mapping[str, Superbox]
    arcs: Mapping[str, Arc]
    queries: tuple[str, ...]
    """The ad hoc queries in the network; their boxes have their own superboxes."""
    cutter: Cutter = field(repr=False, compare=False)
    """What has cut the network."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The superboxes in order."""
        return tuple(self.superboxes)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The place of each superbox in the order."""
        return {name: number for number, name in enumerate(self.superboxes)}

    @cached_property
    def fed(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the superboxes that read what each superbox writes."""
        numbers, arcs = self.numbers, self.arcs
        return tuple(
            tuple(numbers[reader] for arc in each.writes.values() for reader in arcs[arc].readers)
            for each in self.superboxes.values()
        )

    @cached_property
    def moved_by_tuples(self) -> frozenset[str]:
        """The superboxes that only tuples concern: they keep no state, load no table and are no view."""
        known = self.superboxes.items()
        return frozenset(
            name for name, each in known if not each.ordered and not each.tables and name not in self.views
        )

    @cached_property
    def at_inputs(self) -> frozenset[str]:
        """The superboxes that read inputs, or no streams at all: what is logged concerns them first."""
        return frozenset(
            name
            for name, superbox in self.superboxes.items()
            if not superbox.arcs or any(self.arcs[arc].writer is None for arc in superbox.arcs)
        )

    @cached_property
    def split_keys(self) -> Mapping[str, tuple[str, ...]]:
        """The key by which most readers of an arc are spread, unless as many of them are spread by rows.

        Tuples that are grouped by partition of it serve these readers; the others have to read all of them.
        Ad hoc queries come and go, and do not count.
        """
        keyed: dict[str, Counter[tuple[str, ...]]] = {}
        by_rows: Counter[str] = Counter()
        for each in (each for name, each in self.superboxes.items() if self.query_of(name) is None):
            if each.spread.kind is SpreadKind.ROWS:
                by_rows.update(each.arcs)
            elif each.spread.kind is SpreadKind.KEYS:
                for name, arc in each.streams.items():
                    keyed.setdefault(arc, Counter())[each.spread.keys[Ref(name)]] += 1
        best = {arc: found.most_common(1)[0] for arc, found in keyed.items()}
        return {arc: keys for arc, (keys, readers) in best.items() if readers > by_rows[arc]}

    @cached_property
    def outputs(self) -> Mapping[str, str]:
        """The arc of every output, `quarantine` included."""
        return {name: arc.id for arc in self.arcs.values() for name in arc.outputs}

    @cached_property
    def makers(self) -> Mapping[str, BoundProgress]:
        """The inputs that make marks, and how."""
        given = ((name, each.progress, each.schema) for name, each in self.network.inputs.items())
        return {name: progress.bind(schema) for name, progress, schema in given if progress is not None}

    @cached_property
    def makers_of(self) -> Mapping[str, frozenset[str]]:
        """The inputs whose marks reach each superbox that goes by progress."""
        found: dict[Ref, frozenset[str]] = {Ref(name): frozenset({name}) for name in self.makers}
        for box_id in self.network.order if self.makers else ():
            sources = self.network.boxes[box_id].sources
            made = frozenset[str]().union(*(found.get(source, frozenset()) for source in sources))
            found |= {Ref(box_id, port): made for port in range(self.network.boxes[box_id].box.outputs)}
        return {
            name: frozenset[str]().union(
                *(found.get(Ref.parse(arc), frozenset()) for arc in superbox.streams.values())
            )
            for name, superbox in self.superboxes.items()
            if superbox.goes_by_progress
        }

    def query_of(self, superbox: str) -> str | None:
        """The ad hoc query that a superbox belongs to, if any."""
        name = superbox.partition(".")[0]
        return name if name in self.queries else None

    def upstream(self, superbox: str) -> Iterator[str]:
        """The superboxes that a superbox reads from, without repetition, itself last."""
        return iter(self._climb(superbox, {}))

    def inputs_of(self, superboxes: Iterable[str]) -> frozenset[str]:
        """The inputs whose tuples reach superboxes, directly or through others."""
        above = {each for name in superboxes for each in self.upstream(name)}
        arcs = {arc for each in above for arc in self.superboxes[each].streams.values()}
        return frozenset(arc for arc in arcs if arc in self.network.inputs)

    def _climb(self, superbox: str, known: Mapping[str, list[str]]) -> dict[str, None]:
        """What a superbox reads from, and itself; `known` has that of some superboxes."""
        found: dict[str, None] = {}
        pending = [(superbox, self._feeding(superbox))]
        while pending:
            name, feeding = pending[-1]
            above = next((each for each in feeding if each not in found), None)
            if above is None:
                found[name] = None
                pending.pop()
            elif above in known:
                found |= dict.fromkeys(known[above])
            else:
                pending.append((above, self._feeding(above)))
        return found

    def _feeding(self, superbox: str) -> Iterator[str]:
        """The superboxes that write the streams of a superbox."""
        writers = (self.arcs[arc].writer for arc in self.superboxes[superbox].streams.values())
        return (writer for writer in writers if writer is not None)

    @cached_property
    def ways(self) -> Mapping[str, list[str]]:
        """For every output the superboxes that lead to it, nearest last; under "" those that lead to none."""
        ways: dict[str, list[str]] = {}
        known: dict[str, list[str]] = {}
        for arc in self.arcs.values():
            if arc.outputs and arc.writer is not None and arc.writer not in known:
                known[arc.writer] = list(self._climb(arc.writer, known))
            ways |= {output: known[arc.writer] if arc.writer else [] for output in arc.outputs}
        led = set().union(*known.values())
        return {**ways, "": [name for name in self.superboxes if name not in led]}

    @cached_property
    def views(self) -> Mapping[str, float]:
        """The superboxes that lead only to views, and the importance of the most important of these."""
        found: dict[str, float] = {}
        for name, superbox in reversed(tuple(self.superboxes.items())):
            arcs = [self.arcs[arc] for arc in superbox.writes.values()]
            readers = [reader for arc in arcs for reader in arc.readers]
            points = [
                self.network.connection_points[point].importance for arc in arcs for point in arc.points
            ]
            ends = [None for arc in arcs for _ in arc.outputs]
            leads_to = [*ends, *points, *(found.get(reader) for reader in readers)]
            known = [each for each in leads_to if each is not None]
            if superbox.boxes and known and len(known) == len(leads_to):
                found[name] = max(known)
        return found

    def joined(self, members: Sequence[str]) -> Superbox:
        """Superboxes of the plan as one, which a train passes through without queues between them."""
        if len(members) == 1:
            return self.superboxes[members[0]]
        return self.cutter.joined(self, tuple(members))

    def counts_since_trigger(self, output: str) -> bool:
        """Whether the delays of an output count from what triggered its results."""
        found = self.network.outputs.get(output)
        return found is not None and found.quality is not None and found.quality.counts_since_trigger

    def outputs_downstream(self) -> dict[str, int]:
        """How many outputs each superbox leads to: a measure of how much its queues deserve memory."""
        return {name: len(outputs) for name, outputs in self.outputs_after.items()}

    @cached_property
    def outputs_after(self) -> Mapping[str, frozenset[str]]:
        """The outputs that each superbox leads to."""
        found: dict[str, frozenset[str]] = {}
        for name, superbox in reversed(tuple(self.superboxes.items())):
            arcs = [self.arcs[arc] for arc in superbox.writes.values()]
            downstream = (found[reader] for arc in arcs for reader in arc.readers)
            found[name] = frozenset[str]().union(*(arc.outputs for arc in arcs), *downstream)
        return {name: found[name] for name in self.superboxes}
