"""Layers into one: of a group that several have, the newest counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import Indexes, Mask, column, numbers, rows_of, with_numbers
from australis.kernels.kernel import Due
from australis.kernels.layers.layer import Block, Layer, Shape, ranges

_HASHES = 1 << 64
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
    return Layer(tuple(merged_blocks(shape, layers, lowest=lowest)))


def merged_blocks(
    shape: Shape, layers: Sequence[Layer], *, lowest: bool, bytes_most: int | None = None
) -> Iterator[Block]:
    """The blocks of the layer that some make together, one after the other.

    Each is made of about `bytes_most` bytes at most, so that little is in memory at a time.
    """
    blocks = [block for layer in reversed(layers) for block in layer.blocks]
    count = 1 if bytes_most is None else -(-sum(block.nbytes for block in blocks) // bytes_most)
    made = 0
    for first, beyond in _ranges_of_hashes(max(count, 1)):
        cuts = [block.between(shape, first, beyond) for block in blocks]
        block = _merged(shape, [cut for cut in cuts if len(cut.hashes)] or cuts[:1], lowest=lowest)
        if len(block.hashes) or (beyond == _HASHES and not made):
            made += 1
            yield replace(block, rest=layers[-1].rest)


def _ranges_of_hashes(count: int) -> Iterator[tuple[int, int]]:
    """All hashes in ranges with about as many groups each, since hashes are spread evenly."""
    bounds = [_HASHES * index // count for index in range(count + 1)]
    return pairwise(bounds)


def _merged(shape: Shape, newest_first: Sequence[Block], *, lowest: bool) -> Block:
    """Blocks as one."""
    hashes = np.concatenate([block.hashes for block in newest_first])
    # A stable sort of a few sorted runs only merges them.
    order = np.argsort(hashes, kind="stable")
    in_order = hashes[order]
    chosen = order[np.append(True, in_order[1:] != in_order[:-1])] if len(order) else order
    begins, ends = {}, {}
    for name in newest_first[0].tables:
        begins[name], ends[name] = _extents(name, newest_first)
    if lowest:
        chosen = chosen[_has_rows(begins, ends, chosen)]
    tables, kept_ends = {}, {}
    places: dict[str, Indexes] = {}
    for name in shape.kept:
        rows = ranges(begins[name][chosen], ends[name][chosen])
        stack = [block.tables[name] for block in newest_first]
        if name in shape.follows:
            table, number = shape.follows[name]
            stack = _renumbered(newest_first, name, table, number, places[table])
        else:
            places[name] = np.full(sum(part.num_rows for part in stack), -1)
            places[name][rows] = np.arange(len(rows))
        tables[name] = rows_of(pa.concat_tables(stack).combine_chunks(), rows)
        counts = ends[name][chosen] - begins[name][chosen]
        kept_ends[name] = None if (counts == 1).all() else np.cumsum(counts)
    return Block(hashes[chosen], tables, kept_ends, newest_first[0].rest, _due(newest_first, chosen))


def _renumbered(
    blocks: Sequence[Block], name: str, table: str, number: str, places: Indexes
) -> list[pa.Table]:
    """The tables that follow one, referring to the places that its rows have after the merge."""
    found, offset = [], 0
    for block in blocks:
        rows = block.tables[name]
        found.append(with_numbers(rows, number, places[offset + numbers(column(rows, number))]))
        offset += block.tables[table].num_rows
    return found


def _extents(name: str, blocks: Sequence[Block]) -> tuple[Indexes, Indexes]:
    """Where the rows of each hash begin and end, if the tables of the blocks lie one after the other."""
    begins, ends, offset = [], [], 0
    for block in blocks:
        known = block.ends[name]
        end = np.arange(1, len(block.hashes) + 1) if known is None else known
        ends.append(end + offset)
        begins.append(np.concatenate([[0], end[:-1]])[: len(end)] + offset)
        offset += block.tables[name].num_rows
    return np.concatenate(begins).astype(np.int64), np.concatenate(ends).astype(np.int64)


def _has_rows(begins: dict[str, Indexes], ends: dict[str, Indexes], chosen: Indexes) -> Mask:
    found: Mask = np.zeros(len(chosen), np.bool_)
    for name in begins:
        found |= ends[name][chosen] > begins[name][chosen]
    return found


def _due(blocks: Sequence[Block], chosen: Indexes) -> Due | None:
    known = [block.due for block in blocks if block.due is not None]
    if not known:
        return None
    return Due(*(np.concatenate(each)[chosen] for each in zip(*known, strict=True)))
