"""A state in layers: of it, a kernel sees only the groups that an event concerns, and changes only these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import Indexes, Mask, Numbered, frozen
from australis.kernels.kernel import NEVER_DUE, Due, State
from australis.kernels.layers.gathering import Selection, gathered
from australis.kernels.layers.layer import (
    NO_HASHES,
    Block,
    Hashes,
    Layer,
    Shape,
    block_of,
    distinct,
    find_sorted,
    key_hashes,
    ranks_of,
    split_found,
)
from australis.kernels.layers.merging import joins, merged
from australis.kernels.marks import Marks


@dataclass(frozen=True)
class Part:
    """Some groups of a state in layers, as a state of their own."""

    state: State
    known: Hashes
    """The hashes that the layers have."""
    hashes: Mapping[str, Hashes]
    """The hashes of the groups in each numbered table."""
    is_all: bool = False
    """Whether this is the whole state."""


class LayeredState(Mapping[str, pa.Table]):
    """A state as layers, the newest last; as a mapping, the whole of it. It never changes.

    The layers that it began with stay what they are. Those that events put on top of them are merged with
    each other, so that they stay few.
    """

    def __init__(
        self,
        shape: Shape,
        layers: tuple[Layer, ...],
        hidden: tuple[Mask, ...] | None = None,
        began: int | None = None,
    ) -> None:
        self.shape, self.layers = shape, layers
        self._hidden = hidden
        self._began = len(layers) if began is None else began

    @classmethod
    def of(cls, shape: Shape, state: State) -> LayeredState:
        """A state as one layer."""
        hashes = {each.table: key_hashes(state[each.table], each.partitioned_by) for each in shape.numbered}
        return cls(shape, (Layer((block_of(shape, state, hashes, NO_HASHES),)),))

    def __getitem__(self, name: str) -> pa.Table:
        return self._whole[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)

    @cached_property
    def _blocks(self) -> tuple[Block, ...]:
        """The blocks of all layers."""
        return tuple(block for layer in self.layers for block in layer.blocks)

    @cached_property
    def _whole(self) -> State:
        return self._all().state

    def _all(self) -> Part:
        every = distinct(np.concatenate([block.hashes for block in self._blocks]))
        return replace(self.part(every), known=NO_HASHES, is_all=True)

    # --- what an event concerns

    def concerned(
        self, batches: Mapping[int, pa.Table], marks: Mapping[int, Marks], now: int, *, ending: bool
    ) -> Part:
        """The groups that tuples belong to, and those that are due at a mark or a local time."""
        if ending:
            return self._all()
        wanted, first = self.shape.hashes(batches)
        last = max((each.last for each in marks.values() if each.last is not None), default=None)
        due = self._due(-np.inf if last is None else np.nextafter(np.float64(last), np.inf), now)
        if len(due):
            others = due[find_sorted(wanted, due) < 0]
            order = np.argsort(np.concatenate([wanted, others]), kind="stable")
            wanted = np.concatenate([wanted, others])[order]
            after = sum(batch.num_rows for batch in batches.values())
            first = np.concatenate([first, np.full(len(others), after)])[order]
        return self.part(wanted, first)

    def _due(self, mark: float, now: int) -> Hashes:
        found = [block.hashes[due.reached(mark, now) & ~hidden] for block, due, hidden in self._with_due()]
        return distinct(np.concatenate([NO_HASHES, *found]))

    @property
    def deadline(self) -> int | None:
        """The earliest local time at which a group is due; None for never."""
        times = [
            int(due.times[~(hidden | due.quiet)].min(initial=NEVER_DUE))
            for _, due, hidden in self._with_due()
        ]
        least = min(times, default=NEVER_DUE)
        return None if least == NEVER_DUE else least

    @property
    def awaits_marks(self) -> bool:
        """Whether a group is due at some mark."""
        return any(
            bool((due.marks[~(hidden | due.quiet)] < np.inf).any()) for _, due, hidden in self._with_due()
        )

    def _with_due(self) -> Iterator[tuple[Block, Due, Mask]]:
        """The blocks of a state whose groups may be due, and which of them are hidden."""
        if self._blocks[-1].due is not None:
            for block, hidden in zip(self._blocks, self._masks, strict=True):
                assert block.due is not None, "all blocks of a kernel have what is due, or none has"
                yield block, block.due, hidden

    @property
    def _masks(self) -> tuple[Mask, ...]:
        """Which hashes of each block are hidden by one above."""
        if self._hidden is None:
            masks: tuple[Mask, ...] = ()
            for place, block in enumerate(self._blocks):
                masks = _with_top(self._blocks[:place], masks, block)
            self._hidden = masks
        return self._hidden

    # --- parts

    def part(self, wanted: Hashes, first: Indexes | None = None) -> Part:
        """The groups of some ascending hashes, in the order of their `first` tuples if these are given.

        In this order a kernel walks through the memory of groups that tuples come to one after the other.
        """
        ranks = np.arange(len(wanted)) if first is None else ranks_of(first, int(first.max(initial=-1)) + 1)
        selections, unknown = self._selections(wanted, ranks)
        found = gathered(self.shape, selections, len(wanted))
        by_rank = np.empty_like(wanted)
        by_rank[ranks] = wanted
        hashes = {each.table: _spread(by_rank, found.ends[each.table]) for each in self.shape.numbered}
        is_known = np.ones(len(wanted), np.bool_)
        is_known[unknown] = False
        return Part({**self.layers[-1].rest, **found.tables}, wanted[is_known[ranks]], hashes)

    def _selections(self, wanted: Hashes, ranks: Indexes) -> tuple[list[Selection], Indexes]:
        """Where the newest rows of some ascending hashes are, and the ranks of those that are nowhere."""
        found: list[Selection] = []
        for layer in reversed(self.layers):
            begins = np.array([block.hashes[0] for block in layer.blocks[1:]], np.uint64)
            bounds = 0, *np.searchsorted(wanted, begins), len(wanted)
            rest = []
            for block, (begin, end) in zip(layer.blocks, pairwise(bounds), strict=True):
                asked = frozen(wanted[begin:end]), frozen(ranks[begin:end])
                places, own, *others = split_found(frozen(block.hashes), *asked)
                rest.append(others)
                found += [Selection(block, places, own)] if len(places) else []
            wanted, ranks = rest[0] if len(rest) == 1 else map(np.concatenate, zip(*rest, strict=True))
        nowhere = np.empty(0, np.int64)
        return found or [Selection(self._blocks[-1], nowhere, nowhere)], ranks

    def after(self, part: Part, state: State) -> LayeredState:
        """The state in layers after a part of it has changed."""
        hashes = {each.table: _hashes(each, part, state) for each in self.shape.numbered}
        block = block_of(self.shape, state, hashes, part.known)
        if part.is_all:
            return LayeredState(self.shape, (Layer((block,)),), began=0)
        if not len(block.hashes) and block.rest == self.layers[-1].rest:
            return self
        masks = () if block.due is None else _with_top(self._blocks, self._masks, block)
        layers = (*self.layers, Layer((block,)))
        while len(layers) - self._began > 1 and joins(layers[-2], layers[-1:]):
            layers = (*layers[:-2], merged(self.shape, layers[-2:], lowest=False))
            masks = (*masks[:-2], masks[-1]) if masks else ()
        if masks:
            masks = (*masks[:-1], np.zeros(len(layers[-1].blocks[0].hashes), np.bool_))
        return LayeredState(self.shape, layers, masks or None, self._began)


def _spread(hashes: Hashes, ends: Indexes | None) -> Hashes:
    """The hash of each row, if the rows of each end at some places."""
    return hashes if ends is None else np.repeat(hashes, np.diff(ends, prepend=0))


def _with_top(below: tuple[Block, ...], masks: tuple[Mask, ...], top: Block) -> tuple[Mask, ...]:
    """What is hidden in some blocks, and in one that comes on top of them."""
    covered = (_covered(block, mask, top.hashes) for block, mask in zip(below, masks, strict=True))
    return (*covered, np.zeros(len(top.hashes), np.bool_))


def _covered(below: Block, mask: Mask, hashes: Hashes) -> Mask:
    """Which hashes of a block are hidden if some others come on top."""
    places = below.find(hashes)
    places = places[places >= 0]
    if not len(places):
        return mask
    covered = mask.copy()
    covered[places] = True
    return covered


def _hashes(numbered: Numbered, part: Part, state: State) -> Hashes:
    """The hashes of the groups after an event: those that it has left where they were are known."""
    name, names = numbered.table, list(numbered.names)
    before, after = part.state[name].select(names), state[name].select(names)
    known = before.num_rows
    if after.num_rows < known or not after.slice(0, known).equals(before):
        return key_hashes(after, numbered.partitioned_by)
    return np.concatenate([part.hashes[name], key_hashes(after.slice(known), numbered.partitioned_by)])
