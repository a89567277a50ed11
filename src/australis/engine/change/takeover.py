"""Taking over: what of a plan continues in another one, and how heads, states and segments get there.

Superboxes that are equal in both continue untouched. The others have been drained up to one number of the
log, where the new ones begin, with the states of the unchanged boxes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from australis.algebra.network import Ref
from australis.engine.ledger import Catalog, Head, Queues, Record, StateFile, UnitOfWork, maker_of
from australis.engine.store import EVERY_PARTITION, Root, Segment, encode_state, read_states
from australis.engine.tables import note_of, outdated
from australis.kernels.kernel import Kernel, State
from australis.kernels.make import kernel_for
from australis.kernels.repartition import repartition
from australis.plan.spread import SpreadKind
from australis.plan.superboxes import Arc, Plan, Superbox
from australis.rewrite.rewrite import kept


@dataclass(frozen=True)
class Cut:
    """A plan, and into how many parts the states of its boxes are divided."""

    plan: Plan
    partitions: int
    shares_tables: bool = True
    """Whether the rows of a stored table are in one file for all parts; in older roots they are in the state.
    """

    @classmethod
    def of(cls, record: Record) -> Cut:
        """The plan of a record."""
        return cls(record.plan, record.partitions, record.spreads_tables)

    def parts(self, superbox: Superbox) -> int:
        """Into how many parts the states of a superbox are divided."""
        return self.partitions if superbox.spread.kind is SpreadKind.KEYS else 1


@dataclass(frozen=True)
class Takeover:
    """From an old plan to a new one."""

    old: Cut
    new: Cut
    leaving: frozenset[str] = frozenset()
    """Boxes that end here and continue somewhere else, or under other names."""
    relayed: frozenset[str] = frozenset()
    """New outputs with what these boxes would have read next."""
    continuing: frozenset[str] = frozenset()
    """New boxes that continue the work of such boxes under other names."""

    @cached_property
    def same(self) -> frozenset[str]:
        """The superboxes that are equal in both plans and deliver the same: they are not touched."""
        both = self.old.plan.superboxes.keys() & self.new.plan.superboxes.keys()
        return frozenset(name for name in both if self._is_same(name))

    def _is_same(self, name: str) -> bool:
        mine, theirs = self.old.plan.superboxes[name], self.new.plan.superboxes[name]
        alike = (mine is theirs or mine == theirs) and self.old.parts(mine) == self.new.parts(theirs)
        alike = alike and (self._shares_alike or not mine.tables)
        return alike and self._delivered(mine, self.old.plan) == self._delivered(theirs, self.new.plan)

    @property
    def _shares_alike(self) -> bool:
        return self.old.shares_tables == self.new.shares_tables

    def _delivered(self, superbox: Superbox, plan: Plan) -> set[tuple[str, str]]:
        """Which outputs a superbox writes, and to which arcs, of those that both plans have."""
        others = (self.new if plan is self.old.plan else self.old).plan.outputs
        return {(output, plan.outputs[output]) for output in _outputs_of(superbox, plan) if output in others}

    @cached_property
    def held(self) -> tuple[str, ...]:
        """The old superboxes that end: they must reach one number first."""
        return tuple(name for name in self.old.plan.superboxes if name not in self.same)

    @cached_property
    def fresh(self) -> tuple[Superbox, ...]:
        """The new superboxes that begin."""
        return tuple(each for name, each in self.new.plan.superboxes.items() if name not in self.same)

    @cached_property
    def kept(self) -> frozenset[str]:
        """The boxes whose state continues."""
        return kept(self.old.plan.network, self.new.plan.network)

    def goes_on(self, superbox: Superbox) -> bool:
        """Whether a fresh superbox continues the work of old ones: it has boxes or outputs of theirs."""
        relays = any(output in self.relayed for output in _outputs_of(superbox, self.new.plan))
        continues = relays or bool(self.continuing & set(superbox.boxes))
        return continues or _has_part_of(superbox, self.new.plan, self.old.plan)

    @cached_property
    def drained(self) -> tuple[str, ...]:
        """The superboxes that end whose work others continue, and those that feed them.

        The rest simply ends. Views that nobody wants computed stay where they are.
        """
        old, new = self.old.plan, self.new.plan
        wanted = {
            feeding
            for name in self.held
            if old.views.get(name) != 0
            and (
                _has_part_of(old.superboxes[name], old, new) or self.leaving & set(old.superboxes[name].boxes)
            )
            for feeding in old.upstream(name)
        }
        return tuple(name for name in self.held if name in wanted)

    def _leaves(self, superbox: Superbox) -> bool:
        """Whether a superbox has a box that continues somewhere else."""
        return bool(self.leaving & set(superbox.boxes))

    @cached_property
    def outdated(self) -> frozenset[str]:
        """The inputs of the old network whose rows the new one no longer has, or must read again."""
        return outdated(self.old.plan.network, self.new.plan.network)

    def begin(self, superbox: Superbox, queues: Queues, meeting: int) -> int:
        """Where a fresh superbox begins: where those that it continues ended, or with the next tuple."""
        if not self.goes_on(superbox):
            return queues.log_end
        boxes, old = set(superbox.boxes), self.old.plan.superboxes
        left = [name for name in self.held if name not in self.drained and boxes & set(old[name].boxes)]
        has_others = any(boxes & set(old[name].boxes) for name in self.drained)
        return meeting if has_others or not left else min(queues.positions[name] for name in left)

    # --- states

    def write_states(self, root: Root, catalog: Catalog) -> dict[str, list[StateFile]]:
        """Write states again that need other parts; returns the states that fresh superboxes begin with."""
        files: dict[str, list[StateFile]] = {}
        for name in self.held:
            for file in catalog.states(name):
                files.setdefault(file.box, []).append(file)
        return {each.id: list(self._take_states(root, each, files)) for each in self.fresh}

    def _take_states(
        self, root: Root, superbox: Superbox, files: Mapping[str, list[StateFile]]
    ) -> Iterator[StateFile]:
        for box in superbox.ordered:
            found = sorted(files.get(box, ()), key=lambda file: file.partition)
            if box in self.kept and found:
                fits = found[-1].partition == EVERY_PARTITION or self._fits(superbox, box)
                yield from found if fits else self._repartition(root, superbox, box, found)

    def _fits(self, superbox: Superbox, box: str) -> bool:
        """Whether the states of a box are in the parts that the new superbox wants."""
        before = self._before(box)
        count = self.new.parts(superbox)
        is_divided_alike = count == 1 or keys_of(before, box) == keys_of(superbox, box)
        is_shared_alike = self._shares_alike or not _reads_table(superbox, box)
        return self.old.parts(before) == count and is_divided_alike and is_shared_alike

    def _before(self, box: str) -> Superbox:
        """The superbox that a box was in."""
        return next(each for each in self.old.plan.superboxes.values() if box in each.boxes)

    def _repartition(
        self, root: Root, superbox: Superbox, box: str, files: list[StateFile]
    ) -> Iterator[StateFile]:
        kernel = kernel_of(superbox, box)
        count = self.new.parts(superbox)
        # To bring parts together, any keys that they were divided by will do.
        keys = keys_of(superbox if count > 1 else self._before(box), box)
        names: dict[int, list[str]] = {}
        for file in files:
            names.setdefault(file.partition, []).append(file.name)
        found = {partition: read_states(root, kernel, each) for partition, each in names.items()}
        shared = found.pop(EVERY_PARTITION, {})
        states = [{**state, **shared} if shared else state for state in found.values()]
        parts = repartition(kernel, states, keys, count)
        for partition, state in _parts_to_write(kernel, parts):
            name, data = encode_state(root, box, partition, state)
            root.write(name, data)
            yield StateFile(box, partition, name, len(data))

    # --- the transaction

    def write(
        self,
        change: UnitOfWork,
        states: Mapping[str, list[StateFile]],
        begins: Mapping[str, int],
        outdated: Collection[str],
    ) -> None:
        """Replace the old superboxes by the new ones; `outdated` inputs have to be read again."""
        queues = change.queues
        heads = {each.id: self._head(each, queues, begins[each.id]) for each in self.fresh}
        for name in self.held:
            change.clear_states(name)
        change.forget_superboxes(self.held)
        for name in outdated:
            # So that a node that is killed before they are read again reads them when it starts.
            change.drop_position(note_of(self.old.plan.network, name))
        for name, head in heads.items():
            change.add_states(name, states[name])
            change.set_head(name, head)
        self._forget_counts(change)
        change.forget_makers(_makers(self.old.plan) - _makers(self.new.plan))
        self._move_segments(change, queues)
        change.run_plan(self.new.plan)

    def _forget_counts(self, change: UnitOfWork) -> None:
        """Forget the counts of ad hoc queries that are removed: one of the same name is another query."""
        old, stay = self.old.plan, (None, *self.new.plan.queries)
        over = [each for name, each in old.superboxes.items() if old.query_of(name) not in stay]
        nodes = {box: old.network.boxes[box].box for superbox in over for box in superbox.boxes}
        change.forget_counts(
            {
                "id": nodes,
                "ref": [str(Ref(name, port)) for name, box in nodes.items() for port in range(box.outputs)],
                "output": [output for superbox in over for output in _outputs_of(superbox, old)],
                "superbox": [superbox.id for superbox in over],
            }
        )

    def _head(self, superbox: Superbox, queues: Queues, begin: int) -> Head:
        old = self.old.plan.superboxes
        before = [queues.heads[name] for name in self.held if set(old[name].ordered) & set(superbox.ordered)]
        # No train would clear the deadline of a superbox without timeouts.
        due = [each.deadline for each in before if each.deadline is not None and superbox.has_timeouts]
        # A superbox that has run does not load stored tables again, unless a new box needs them.
        has_run = self.goes_on(superbox) and all(
            box in self.kept for box in superbox.boxes if _reads_table(superbox, box)
        )
        has_run = has_run and all(head.version > 0 for head in before)
        return Head(begin, 1 if has_run else 0, min(due, default=None), superbox.goes_by_progress)

    def _move_segments(self, change: UnitOfWork, queues: Queues) -> None:
        """Move the unread tuples of outputs that others write now, and drop what does not stay."""
        moved = {
            replace(segment, arc=after)
            for output, (before, after) in self.moved_outputs.items()
            for segment in unread_of(queues, before, output)
        }
        present = {segment for found in queues.segments.values() for segment in found}
        by_number = sorted(moved - present, key=lambda each: (each.arc, each.base, each.name))
        change.add_segments(by_number)
        gone = [each for each in present - moved if not self.keeps(each.arc)]
        change.drop_segments(sorted(gone, key=lambda each: (each.arc, each.base, each.name)))

    def keeps(self, arc: str) -> bool:
        """Whether the tuples of an arc of the old plan stay where they are."""
        old, new = self.old.plan.arcs, self.new.plan.arcs
        taken = any(arc == after for _, after in self.moved_outputs.values())
        return arc in new and new[arc].schema.takes(old[arc].schema) and not taken

    def stays(self, output: str) -> bool:
        """Whether the unread tuples of an output of the old plan can still be read."""
        arc = self.old.plan.outputs[output]
        is_there = self.new.plan.outputs.get(output) == arc and self.keeps(arc)
        return is_there or output in self.moved_outputs

    @cached_property
    def moved_outputs(self) -> dict[str, tuple[str, str]]:
        """Outputs whose unread tuples go to another arc, from and to."""
        old, new = self.old.plan, self.new.plan
        return {
            output: (before, new.outputs[output])
            for output, before in old.outputs.items()
            if output in new.outputs
            and new.outputs[output] != before
            and self._is_free(new.outputs[output])
            and new.arcs[new.outputs[output]].schema.takes(old.arcs[before].schema)
        }

    def _is_free(self, arc: str) -> bool:
        """Whether nobody continues with the tuples that an arc of the new plan already had, if any."""
        before, after = self.old.plan.arcs.get(arc), self.new.plan.arcs[arc]
        if before is None:
            return True
        remembers = _remembers(self.old.plan, before) and _remembers(self.new.plan, after)
        return not (remembers or set(before.outputs) & set(after.outputs) or self.same & set(after.readers))


def _parts_to_write(kernel: Kernel, states: Sequence[State]) -> Iterator[tuple[int, State]]:
    """What has a file of its own: the state of each partition, and what all of them have alike."""
    for partition, state in enumerate(states):
        own = {name: table for name, table in state.items() if name not in kernel.shared_tables}
        if own:
            yield partition, own
    if kernel.shared_tables:
        yield EVERY_PARTITION, {name: states[0][name] for name in sorted(kernel.shared_tables)}


def _makers(plan: Plan) -> set[str]:
    """The makers of marks in a plan."""
    return {maker_of(name, bound) for name, bound in plan.makers.items()}


def _has_part_of(superbox: Superbox, own: Plan, other: Plan) -> bool:
    """Whether boxes of a superbox, or outputs that it writes or passes on, are in another plan as well."""
    return (
        superbox.id in other.superboxes
        or any(box in other.network.boxes for box in superbox.boxes)
        or any(output in other.outputs for output in _outputs_of(superbox, own))
    )


def _outputs_of(superbox: Superbox, plan: Plan) -> Iterator[str]:
    """The outputs that a superbox of a plan writes."""
    return (output for arc in superbox.writes.values() for output in plan.arcs[arc].outputs)


def _remembers(plan: Plan, arc: Arc) -> bool:
    """Whether an arc keeps history."""
    return any(plan.network.connection_points[point].history for point in arc.points)


def unread_of(queues: Queues, arc: str, output: str) -> list[Segment]:
    """The segments of an arc that a consumer of an output has not fully read; all if there is no consumer."""
    seen = [seq for (_, each), seq in queues.consumers.items() if each == output]
    least = min(seen, default=0)
    return [segment for segment in queues.segments[arc] if segment.end > least]


def keys_of(superbox: Superbox, box: str) -> tuple[tuple[str, ...], ...]:
    """The attributes of its sources by which the state of a box is divided."""
    ports = len(superbox.network.boxes[box].sources)
    return superbox.spread.groups.get(box, ((),) * ports)


def kernel_of(superbox: Superbox, box: str) -> Kernel:
    """The kernel of a box, which knows how its state is kept."""
    network = superbox.network
    return kernel_for(network.boxes[box].box, network.input_schemas(box), network.timezone)


def _reads_table(superbox: Superbox, box: str) -> bool:
    network = superbox.network
    tables = {Ref(name) for name in superbox.tables}
    return bool(tables & set(network.boxes[box].sources))
