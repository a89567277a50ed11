"""A state in layers: of it, a kernel sees only the groups that an event concerns, and changes only these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import Indexes, Mask, Numbered, column, numbers, rows_of, stacked, with_numbers
from australis.kernels.kernel import NEVER_DUE, Due, State
from australis.kernels.layers.layer import (
    NO_HASHES,
    Hashes,
    Layer,
    Shape,
    distinct,
    find_sorted,
    inverse,
    key_hashes,
    layer_of,
    rearranged,
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
        return cls(shape, (layer_of(shape, state, hashes, NO_HASHES),))

    def __getitem__(self, name: str) -> pa.Table:
        return self._whole[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)

    @cached_property
    def _whole(self) -> State:
        return self._all().state

    def _all(self) -> Part:
        every = distinct(np.concatenate([layer.hashes for layer in self.layers]))
        return replace(self.part(every), known=NO_HASHES, is_all=True)

    # --- what an event concerns

    def concerned(
        self, batches: Mapping[int, pa.Table], marks: Mapping[int, Marks], now: int, *, ending: bool
    ) -> Part:
        """The groups that tuples belong to, and those that are due at a mark or a local time."""
        if ending:
            return self._all()
        wanted = self.shape.hashes(batches)
        last = max((each.last for each in marks.values() if each.last is not None), default=None)
        due = self._due(-np.inf if last is None else np.nextafter(np.float64(last), np.inf), now)
        return self.part(distinct(np.concatenate([wanted, due])) if len(due) else wanted)

    def _due(self, mark: float, now: int) -> Hashes:
        found = [layer.hashes[due.reached(mark, now) & ~hidden] for layer, due, hidden in self._with_due()]
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

    def _with_due(self) -> Iterator[tuple[Layer, Due, Mask]]:
        """The layers of a state whose groups may be due, and which of them are hidden."""
        if self.layers[-1].due is not None:
            for layer, hidden in zip(self.layers, self._masks, strict=True):
                assert layer.due is not None, "all layers of a kernel have what is due, or none has"
                yield layer, layer.due, hidden

    @property
    def _masks(self) -> tuple[Mask, ...]:
        """Which hashes of each layer are hidden by one above."""
        if self._hidden is None:
            masks: tuple[Mask, ...] = ()
            for place, layer in enumerate(self.layers):
                masks = _with_top(self.layers[:place], masks, layer)
            self._hidden = masks
        return self._hidden

    # --- parts

    def part(self, wanted: Hashes) -> Part:
        """The groups of some ascending hashes."""
        pieces = []
        for layer in reversed(self.layers):
            places = layer.find(wanted)
            has = places >= 0
            if has.any():
                pieces.append(_piece(self.shape, layer, wanted[has], places[has]))
                wanted = wanted[~has]
        if not pieces:
            pieces = [_piece(self.shape, self.layers[-1], NO_HASHES, np.empty(0, np.int64))]
        state, hashes, found = dict(self.layers[-1].rest), {}, {}
        for each in self.shape.numbered:
            own = np.concatenate([piece.hashes[each.table] for piece in pieces])
            order = np.argsort(own, kind="stable")
            hashes[each.table], found[each.table] = own[order], inverse(order)
            state[each.table] = rearranged(stacked([piece.tables[each.table] for piece in pieces]), order)
        for name, (table, number) in self.shape.follows.items():
            places = found[table][_references(pieces, name, table, number)]
            rows = stacked([piece.tables[name] for piece in pieces])
            state[name] = rearranged(with_numbers(rows, number, places), np.argsort(places, kind="stable"))
        known = np.sort(np.concatenate([piece.known for piece in pieces]), kind="stable")
        return Part(state, known, hashes)

    def after(self, part: Part, state: State) -> LayeredState:
        """The state in layers after a part of it has changed."""
        hashes = {each.table: _hashes(each, part, state) for each in self.shape.numbered}
        layer = layer_of(self.shape, state, hashes, part.known)
        if part.is_all:
            return LayeredState(self.shape, (layer,), began=0)
        if not len(layer.hashes) and layer.rest == self.layers[-1].rest:
            return self
        masks = () if layer.due is None else _with_top(self.layers, self._masks, layer)
        layers = (*self.layers, layer)
        while len(layers) - self._began > 1 and joins(layers[-2], layers[-1:]):
            layers = (*layers[:-2], merged(self.shape, layers[-2:], lowest=False))
            masks = (*masks[:-2], masks[-1]) if masks else ()
        if masks:
            masks = (*masks[:-1], np.zeros(len(layers[-1].hashes), np.bool_))
        return LayeredState(self.shape, layers, masks or None, self._began)


class _Piece(NamedTuple):
    """What a part takes from one layer."""

    known: Hashes
    tables: Mapping[str, pa.Table]
    rows: Mapping[str, Indexes]
    """The rows of the layer's tables that these are, ascending."""
    hashes: Mapping[str, Hashes]
    """The hashes of the rows of numbered tables."""


def _piece(shape: Shape, layer: Layer, found: Hashes, places: Indexes) -> _Piece:
    rows = {name: layer.rows(name, places) for name in shape.kept}
    tables = {name: rows_of(layer.tables[name], rows[name]) for name in shape.kept}
    return _Piece(
        found, tables, rows, {each.table: layer.spread(each.table, places, found) for each in shape.numbered}
    )


def _references(pieces: Sequence[_Piece], name: str, table: str, number: str) -> Indexes:
    """To which rows of a numbered table the rows of one that follows refer, if the pieces are stacked."""
    found, offset = [], 0
    for piece in pieces:
        # Both ascend, so each search is near the last one.
        found.append(offset + find_sorted(piece.rows[table], numbers(column(piece.tables[name], number))))
        offset += len(piece.rows[table])
    return np.concatenate(found)


def _with_top(below: tuple[Layer, ...], masks: tuple[Mask, ...], top: Layer) -> tuple[Mask, ...]:
    """What is hidden in some layers, and in one that comes on top of them."""
    covered = (_covered(layer, mask, top.hashes) for layer, mask in zip(below, masks, strict=True))
    return (*covered, np.zeros(len(top.hashes), np.bool_))


def _covered(below: Layer, mask: Mask, hashes: Hashes) -> Mask:
    """Which hashes of a layer are hidden if some others come on top."""
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
