"""Splitting a box into copies while it runs, and bringing the copies together again (Aurora* 5.1).

The network as it was deployed stays as it is: which of its boxes run as copies is in the record of the root.
Each copy begins with the state of exactly the groups that the Filter before it will send it, in the
transaction of the switch.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import predicate
from australis.algebra.network import Network
from australis.algebra.schema import Schema
from australis.engine.change.loading import switch_to
from australis.engine.change.switch import Passage, Switch
from australis.engine.change.takeover import Takeover, kernel_of, keys_of
from australis.engine.ledger import Catalog, Record, StateFile, UnitOfWork
from australis.engine.running import Running
from australis.engine.store import Root, encode_state, read_states
from australis.errors import EngineError, Problem
from australis.kernels.arrays import Indexes
from australis.kernels.expressions import evaluate, truths
from australis.kernels.kernel import State
from australis.kernels.repartition import divide, repartition
from australis.plan.superboxes import Superbox
from australis.policy.place import BoxSplit, made_whole, predicates, same_after, split_up

Names = tuple[tuple[str, ...], ...]
"""The attributes at each input of a box by which it is divided."""


@dataclass(frozen=True)
class SplitChange:
    """What a split, or its undoing, changes in the network that runs."""

    box: str
    copies: tuple[str, ...]
    """The copies that it runs as from now on; none if it is whole."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    same: str
    """How far its stream equals what it was."""

    @property
    def is_nothing(self) -> bool:
        """Whether it ran like that before."""
        return not self.added and not self.removed

    def as_dict(self) -> dict[str, Any]:
        """As a dictionary, for programs."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """As text, for people."""
        runs = f"{self.box} runs as {', '.join(self.copies)}" if self.copies else f"{self.box} is one box"
        yield f"{runs} already" if self.is_nothing else f"{runs}: {self.same}"
        yield from (f"  + box {each}" for each in self.added)
        yield from (f"  - box {each}" for each in self.removed)


class Splits:
    """The boxes of a node that run as copies."""

    def __init__(self, running: Running, switch: Switch, redraw: Callable[[Record, Network], Record]) -> None:
        self._running, self._switch, self._redraw = running, switch, redraw

    @property
    def listed(self) -> dict[str, BoxSplit]:
        """The boxes that are split, and how."""
        return {each.box: each for each in self._switch.record.splits}

    @property
    def network(self) -> Network:
        """The network as it runs, with the copies, without ad hoc queries."""
        return self._switch.record.split

    def split(self, split: BoxSplit, *, dry_run: bool = False) -> SplitChange:
        """Run a box as copies from now on, unless it does so already."""
        passage = _Dividing(split)
        return self._to(split, partial(_divided, split), passage, split.copies, dry_run=dry_run)

    def undo(self, box: str, *, dry_run: bool = False) -> SplitChange:
        """Run a box as one from now on, unless it does so already."""
        split = self.listed.get(box) or BoxSplit(box, 2)
        return self._to(split, partial(self._gathered, box), _Gathering(split), (), dry_run=dry_run)

    def _to(
        self,
        split: BoxSplit,
        redraw: Callable[[Record], Record],
        passage: _Parting,
        copies: tuple[str, ...],
        *,
        dry_run: bool,
    ) -> SplitChange:
        before = self._switch.record
        after = redraw(before)
        change = _change(split, before.split, after.split, copies)
        if dry_run or change.is_nothing:
            return change

        def draw(record: Record) -> Record:
            drawn = redraw(record)
            passage.meet(record.split, drawn.split)
            return drawn

        switch_to(self._running, self._switch, draw, {}, passage)
        return change

    def _gathered(self, box: str, record: Record) -> Record:
        """A record with a box in one."""
        known = {each.box: each for each in record.splits}
        if box not in known:
            if box not in record.split.boxes:
                expected = f"one of {', '.join(record.split.boxes) or 'none'}"
                raise EngineError(Problem(box, "there is no such box", expected))
            return record
        split = known[box]
        if further := [each for each in split.copies if each in known]:
            what = f"its copy {further[0]} is split too"
            raise EngineError(Problem(box, what, f"{further[0]} whole again first"))
        others = tuple(each for each in record.splits if each.box != box)
        if split.is_drawn(record.network):
            # Copies were moved, and came back: since then they are in the network itself.
            record = self._redraw(record, made_whole(record.network, split))
        return record.with_splits(others)


def _divided(split: BoxSplit, record: Record) -> Record:
    """A record with a box as copies."""
    known = {each.box: each for each in record.splits}.get(split.box)
    if known is None:
        # What cannot be split is refused here.
        split_up(record.split, split)
        return record.with_splits((*record.splits, split))
    if replace(split, any_order=known.any_order) != known:
        by = f" by {', '.join(known.by)}" if known.by else ""
        what = f"is split already, into {known.into}{by}"
        raise EngineError(Problem(split.box, what, "the same split again, or an undo of that one"))
    return record


def _change(split: BoxSplit, before: Network, after: Network, copies: tuple[str, ...]) -> SplitChange:
    whole = after if split.box in after.boxes and not split.is_drawn(after) else before
    return SplitChange(
        split.box,
        copies,
        tuple(box for box in after.order if before.boxes.get(box) != after.boxes[box]),
        tuple(box for box in before.order if before.boxes[box] != after.boxes.get(box)),
        "" if split.is_drawn(whole) else same_after(whole, split.box).value,
    )


# --- states


class _Parting(Passage):
    """From a network with a box to one with its copies, or back."""

    def __init__(self, split: BoxSplit) -> None:
        self._split = split
        self._by: Names = ()
        self._due: int | None = None
        self._fresh: list[str] = []

    def meet(self, before: Network, after: Network) -> None:
        """Learn the two networks, before the switch between them begins."""
        self.leaving = frozenset(box for box in before.boxes if before.boxes[box] != after.boxes.get(box))
        self.continuing = frozenset(box for box in after.boxes if after.boxes[box] != before.boxes.get(box))
        whole = after if self._split.is_drawn(before) else before
        self._by = self._split.divided_by(whole) if whole.boxes[self._split.box].box.ordered else ()

    @abstractmethod
    def _states(self, takeover: Takeover, root: Root, catalog: Catalog) -> Mapping[str, Sequence[State]]:
        """The states with which boxes of the new network begin, some groups in each."""

    def prepare(self, takeover: Takeover, root: Root, catalog: Catalog) -> dict[str, list[StateFile]]:
        found = self._states(takeover, root, catalog) if self._by else {}
        begun: dict[str, list[StateFile]] = {}
        for superbox in takeover.fresh:
            if superbox.has_timeouts and self.continuing & set(superbox.ordered):
                self._fresh.append(superbox.id)
            for box in superbox.ordered:
                if box in found:
                    files = self._written(takeover, superbox, box, found[box], root)
                    begun.setdefault(superbox.id, []).extend(files)
        return begun

    def _written(
        self, takeover: Takeover, superbox: Superbox, box: str, states: Sequence[State], root: Root
    ) -> Iterator[StateFile]:
        kernel, count = kernel_of(superbox, box), takeover.new.parts(superbox)
        # To bring parts together, what they were divided by will do.
        keys = keys_of(superbox, box) if count > 1 else self._by
        for partition, state in enumerate(repartition(kernel, states, keys, count)):
            name, data = encode_state(root, box, partition, dict(state))
            root.write(name, data)
            yield StateFile(box, partition, name, len(data))

    def write(self, change: UnitOfWork, takeover: Takeover, meeting: int) -> None:
        old, heads = takeover.old.plan.superboxes, change.queues.heads
        due = [heads[name].deadline for name in takeover.held if self.leaving & set(old[name].boxes)]
        self._due = min((each for each in due if each is not None), default=None)

    def finish(self, change: UnitOfWork, meeting: int) -> None:
        for name in self._fresh:
            change.set_head(name, replace(change.queues.heads[name], deadline=self._due))


class _Dividing(_Parting):
    """Divides the state of a box among its copies."""

    def _states(self, takeover: Takeover, root: Root, catalog: Catalog) -> Mapping[str, Sequence[State]]:
        found = _states_of(takeover, root, catalog, self._split.box)
        if found is None:
            return {}
        superbox, states = found
        network, box = superbox.network, self._split.box
        owners = partial(
            copies_of, network.input_schemas(box)[0], self._by[0], self._split.into, network.timezone
        )
        parts = divide(kernel_of(superbox, box), states, self._by, self._split.into, owners)
        return {copy: [part] for copy, part in zip(self._split.copies, parts, strict=True)}


class _Gathering(_Parting):
    """Brings the states of copies together."""

    def _states(self, takeover: Takeover, root: Root, catalog: Catalog) -> Mapping[str, Sequence[State]]:
        found = (_states_of(takeover, root, catalog, copy) for copy in self._split.copies)
        states = [state for each in found if each is not None for state in each[1]]
        return {self._split.box: states} if states else {}


def copies_of(schema: Schema, names: Sequence[str], into: int, timezone: str, keys: pa.Table) -> Indexes:
    """The copy to which the Filter of a split sends the tuples of each key: its predicates decide.

    The attributes of the keys are in the sequence of the names, of whatever input they are.
    """
    known = Schema(tuple(replace(schema[name], nullable=True) for name in names))
    table = keys.rename_columns(list(names)).combine_chunks()
    owners = np.full(keys.num_rows, into - 1, np.int64)
    for copy, text in enumerate(predicates(known, tuple(names), into)):
        owners[truths(evaluate(predicate(text, known, "by"), table, timezone))] = copy
    return owners


def _states_of(
    takeover: Takeover, root: Root, catalog: Catalog, box: str
) -> tuple[Superbox, list[State]] | None:
    """The superbox that a box was in, and the states of its partitions; None if it has none yet."""
    superbox = next(each for each in takeover.old.plan.superboxes.values() if box in each.boxes)
    names: dict[int, list[str]] = {}
    for file in sorted(catalog.states(superbox.id), key=lambda file: file.partition):
        if file.box == box:
            names.setdefault(file.partition, []).append(file.name)
    kernel = kernel_of(superbox, box)
    return (superbox, [read_states(root, kernel, each) for each in names.values()]) if names else None
