"""Layers into one: of a group that several have, the newest counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import Indexes, Mask, column, numbers, rows_of, with_numbers
from australis.kernels.kernel import Due
from australis.kernels.layers.layer import Layer, Shape, ranges

_JOINED_MOST = 2
"""A layer is merged with what is on top of it unless it is more than this many times as large."""


def joins(below: Layer, above: Sequence[Layer]) -> bool:
    """Whether a layer is so small beside those on top of it that they are best merged.

    So layers are about as many as the logarithm of what they hold, and each group is merged as often.
    """
    return below.nbytes <= _JOINED_MOST * sum(layer.nbytes for layer in above)


def merged(shape: Shape, layers: Sequence[Layer], *, lowest: bool) -> Layer:
    """Layers that follow each other, the newest last, as one; below the `lowest` there is none."""
    if len(layers) == 1 and not lowest:
        return layers[0]
    newest_first = tuple(reversed(layers))
    hashes = np.concatenate([layer.hashes for layer in newest_first])
    # A stable sort of a few sorted runs only merges them.
    order = np.argsort(hashes, kind="stable")
    in_order = hashes[order]
    chosen = order[np.append(True, in_order[1:] != in_order[:-1])] if len(order) else order
    begins, ends = {}, {}
    for name in layers[-1].tables:
        begins[name], ends[name] = _extents(name, newest_first)
    if lowest:
        chosen = chosen[_has_rows(begins, ends, chosen)]
    tables, kept_ends = {}, {}
    places: dict[str, Indexes] = {}
    for name in shape.kept:
        rows = ranges(begins[name][chosen], ends[name][chosen])
        stack = [layer.tables[name] for layer in newest_first]
        if name in shape.follows:
            table, number = shape.follows[name]
            stack = _renumbered(newest_first, name, table, number, places[table])
        else:
            places[name] = np.full(sum(part.num_rows for part in stack), -1)
            places[name][rows] = np.arange(len(rows))
        tables[name] = rows_of(pa.concat_tables(stack).combine_chunks(), rows)
        counts = ends[name][chosen] - begins[name][chosen]
        kept_ends[name] = None if (counts == 1).all() else np.cumsum(counts)
    top = layers[-1]
    return Layer(hashes[chosen], tables, kept_ends, top.rest, _due(newest_first, chosen))


def _renumbered(
    layers: Sequence[Layer], name: str, table: str, number: str, places: Indexes
) -> list[pa.Table]:
    """The tables that follow one, referring to the places that its rows have after the merge."""
    found, offset = [], 0
    for layer in layers:
        rows = layer.tables[name]
        found.append(with_numbers(rows, number, places[offset + numbers(column(rows, number))]))
        offset += layer.tables[table].num_rows
    return found


def _extents(name: str, layers: Sequence[Layer]) -> tuple[Indexes, Indexes]:
    """Where the rows of each hash begin and end, if the tables of the layers lie one after the other."""
    begins, ends, offset = [], [], 0
    for layer in layers:
        known = layer.ends[name]
        end = np.arange(1, len(layer.hashes) + 1) if known is None else known
        ends.append(end + offset)
        begins.append(np.concatenate([[0], end[:-1]])[: len(end)] + offset)
        offset += layer.tables[name].num_rows
    return np.concatenate(begins).astype(np.int64), np.concatenate(ends).astype(np.int64)


def _has_rows(begins: dict[str, Indexes], ends: dict[str, Indexes], chosen: Indexes) -> Mask:
    found: Mask = np.zeros(len(chosen), np.bool_)
    for name in begins:
        found |= ends[name][chosen] > begins[name][chosen]
    return found


def _due(layers: Sequence[Layer], chosen: Indexes) -> Due | None:
    known = [layer.due for layer in layers if layer.due is not None]
    if not known:
        return None
    return Due(*(np.concatenate(each)[chosen] for each in zip(*known, strict=True)))
