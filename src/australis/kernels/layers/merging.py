"""Layers into one: of a group that several have, the newest counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from australis.kernels.arrays import Indexes, Mask, by_slot, frozen
from australis.kernels.compiled import njit
from australis.kernels.kernel import Due
from australis.kernels.layers.gathering import Selection, gathered
from australis.kernels.layers.layer import Block, Hashes, Layer, Shape

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
        cuts = [block.between(shape, first, beyond) for block in blocks if block.reaches(first, beyond)]
        block = _merged(shape, cuts or [blocks[0].between(shape, first, beyond)], lowest=lowest)
        if len(block.hashes) or (beyond == _HASHES and not made):
            made += 1
            yield replace(block, rest=layers[-1].rest)


def _ranges_of_hashes(count: int) -> Iterator[tuple[int, int]]:
    """All hashes in ranges with about as many groups each, since hashes are spread evenly."""
    bounds = [_HASHES * index // count for index in range(count + 1)]
    return pairwise(bounds)


def _merged(shape: Shape, newest_first: Sequence[Block], *, lowest: bool) -> Block:
    """Blocks as one."""
    ends = np.cumsum([0, *(len(block.hashes) for block in newest_first)])
    hashes, chosen = _each_once([block.hashes for block in newest_first])
    if lowest:
        kept = np.concatenate([_has_rows(block) for block in newest_first])[chosen]
        hashes, chosen = hashes[kept], chosen[kept]
    found = gathered(shape, _selections(newest_first, ends, chosen), len(chosen))
    return Block(hashes, *found, newest_first[0].rest, _due(newest_first, chosen))


def _each_once(newest_first: Sequence[Hashes]) -> tuple[Hashes, Indexes]:
    """The ascending hashes of some runs, and where each is first if the runs lie one after the other."""
    ends = np.cumsum([0, *map(len, newest_first)])
    runs = [(own, np.arange(*extent)) for own, extent in zip(newest_first, pairwise(ends), strict=True)]
    while len(runs) > 1:
        pairs = zip(runs[::2], runs[1::2], strict=False)
        merges = [_both(*map(frozen, (*newer, *older))) for newer, older in pairs]
        runs = [*merges, *runs[len(merges) * 2 :]]
    return runs[0]


@njit(nogil=True)
def _both(newer: Hashes, their: Indexes, older: Hashes, others: Indexes) -> tuple[Hashes, Indexes]:
    """The ascending hashes of two runs, each once, and where each is; of one in both, the newer counts."""
    hashes, places = np.empty(len(newer) + len(older), np.uint64), np.empty(len(newer) + len(older), np.int64)
    first, second, count = 0, 0, 0
    while first < len(newer) and second < len(older):
        # Without branches, which no processor could foresee.
        one, other = newer[first], older[second]
        is_newer = one <= other
        hashes[count] = one if is_newer else other
        places[count] = their[first] if is_newer else others[second]
        first, second, count = first + is_newer, second + (other <= one), count + 1
    for at in range(first, len(newer)):
        hashes[count], places[count], count = newer[at], their[at], count + 1
    for at in range(second, len(older)):
        hashes[count], places[count], count = older[at], others[at], count + 1
    return hashes[:count], places[:count]


def _selections(blocks: Sequence[Block], ends: Indexes, chosen: Indexes) -> list[Selection]:
    """Which hashes are chosen of each block, if those of all lie one after the other up to some ends."""
    owners = np.repeat(np.arange(len(blocks)), np.diff(ends))
    ranks, begins = by_slot(owners[chosen], len(blocks))
    own = [ranks[begin:end] for begin, end in pairwise(begins)]
    triples = zip(blocks, own, ends[:-1], strict=True)
    return [Selection(block, chosen[each] - begin, each) for block, each, begin in triples]


def _has_rows(block: Block) -> Mask:
    """Which hashes of a block are not forgotten."""
    found: Mask = np.zeros(len(block.hashes), np.bool_)
    for ends in block.ends.values():
        if ends is None:
            return np.ones(len(block.hashes), np.bool_)
        found |= np.diff(ends, prepend=0) > 0
    return found


def _due(blocks: Sequence[Block], chosen: Indexes) -> Due | None:
    known = [block.due for block in blocks if block.due is not None]
    if not known:
        return None
    return Due(*(np.concatenate(each)[chosen] for each in zip(*known, strict=True)))
