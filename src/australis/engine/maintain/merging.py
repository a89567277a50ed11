"""Merges of large layers beside the trains: a state stays in few files, and trains write only what changes.

A merge reads a range of hashes at a time, so it needs little memory however large the layers are. Meanwhile
trains put layers on top, and replace small ones there. A merge takes only large ones, which stay where they
are unless a train writes the whole state or there are too many of them: then the merge was in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, groupby

from australis.engine.crash_points import crash_point
from australis.engine.ledger import Ledger, StateFile
from australis.engine.store import LARGE_LAYER, encode_layer, is_layer, read_layer
from australis.kernels.kernel import Kernel
from australis.kernels.layers import Block, merged_blocks, shape_of
from australis.kernels.make import kernel_for

FILES_MOST = 12
"""How many large layers a state may have before those above the lowest are merged."""
BYTES_AT_A_TIME = 32 << 20


class _Ended(Exception):
    """The node ends before the merge does."""


class Merging:
    """Merges layers of states; `is_ending` is asked now and then."""

    def __init__(self, ledger: Ledger, is_ending: Callable[[], bool]) -> None:
        self._ledger, self._root, self._is_ending = ledger, ledger.root, is_ending

    def merge(self, superbox: str) -> int:
        """Merge layers of a superbox where it is worth it; returns how many files were replaced."""
        with self._ledger.reading() as queues:
            if superbox not in queues.plan.superboxes:
                return 0
            files = self._ledger.catalog.states(superbox)
            for box, found in groupby(files, key=lambda file: (file.box, file.partition)):
                state = list(found)
                begin, end = run_to_merge([file.bytes for file in state])
                if end - begin > 1 and is_layer(state[0].name):
                    network = queues.plan.superboxes[superbox].network
                    kernel = kernel_for(
                        network.boxes[box[0]].box, network.input_schemas(box[0]), network.timezone
                    )
                    return self._merge(superbox, kernel, state[begin:end], lowest=begin == 0)
        return 0

    def _merge(self, superbox: str, kernel: Kernel, files: Sequence[StateFile], *, lowest: bool) -> int:
        shape = shape_of(kernel)
        assert shape is not None, "only states that fall into groups are written in layers"
        layers = [read_layer(self._root, file.name) for file in files]
        blocks = merged_blocks(shape, layers, lowest=lowest, bytes_most=BYTES_AT_A_TIME)
        box, partition = files[0].box, files[0].partition
        name, parts = encode_layer(self._root, box, partition, self._until_end(blocks))
        try:
            self._root.write(name, parts)
        except _Ended:
            # Nothing refers to what was written: it is an orphan.
            return 0
        made = StateFile(box, partition, name, self._root.size(name))
        crash_point("merge.swapping")
        with self._ledger.merging, self._ledger.change() as change:
            is_done = change.merge_states(superbox, [file.name for file in files], made)
        crash_point("merge.swapped")
        return len(files) if is_done else 0

    def _until_end(self, blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            crash_point("merge.writing")
            if self._is_ending():
                raise _Ended
            yield block


def run_to_merge(sizes: Sequence[int]) -> tuple[int, int]:
    """Which layers, by their sizes from the lowest on, are best merged: from one up to another, or none.

    A layer is merged with the large ones above it once these are as large together. So each group is written
    a few times only, and what is outdated takes no more space than the rest. Layers above the lowest wait
    until there are many.

    >>> run_to_merge([900, 20, 20]), run_to_merge([90 << 20, 50 << 20, 41 << 20, 1000])
    ((0, 0), (0, 3))
    """
    end = max((place + 1 for place, size in enumerate(sizes) if size >= LARGE_LAYER), default=0)
    above = list(accumulate(reversed(sizes[:end]), initial=0))[::-1]
    begin = next((place for place in range(end) if above[place + 1] >= sizes[place]), end)
    return (begin, end) if begin == 0 or end > FILES_MOST else (0, 0)
