"""States in files: whole, one for each box and partition, or in layers, of which a train adds one.

The commit of a train makes its files current.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from australis.engine.store.root import STATES, Root
from australis.errors import EngineError, KernelError, Problem
from australis.kernels.kernel import Kernel, State
from australis.kernels.layers import Block, Bytes, Layer, LayeredState, packed, shape_of, unpack_layer
from australis.kernels.state import pack, unpack

EVERY_PARTITION = -1
"""In place of a partition: a file with the tables of a state that are the same in all of them."""
WHOLE, LAYER = ".state", ".layer"
"""The ends of the files' names."""
LARGE_LAYER = 2 << 20
"""Trains replace layers with fewer bytes only; larger ones are merged beside them."""
_CHECKSUM = 4
"""The bytes at the end of a file with the checksum of all before: Arrow's own format has none."""


def encode_state(root: Root, box: str, partition: int, state: State) -> tuple[str, bytes]:
    """A new file for the state of a box in a partition: its name and its contents."""
    data = pack(state)
    return root.new_name(STATES, _stem(box, partition), WHOLE), data + _checksum(data)


def encode_layer(
    root: Root, box: str, partition: int, blocks: Iterable[Block]
) -> tuple[str, Iterator[Bytes]]:
    """A new file for a layer of it: its contents come in parts, block by block."""
    return root.new_name(STATES, _stem(box, partition), LAYER), packed(blocks)


def adopt_state(root: Root, box: str, partition: int, name: str) -> str:
    """A new name for a file that has a state, or a layer of one, in another root."""
    return root.new_name(STATES, _stem(box, partition), LAYER if is_layer(name) else WHOLE)


def _stem(box: str, partition: int) -> str:
    return f"{box}-all" if partition == EVERY_PARTITION else f"{box}-{partition}"


def is_layer(name: str) -> bool:
    """Whether a file has a layer of a state, not a whole one."""
    return name.endswith(LAYER)


def read_state(root: Root, name: str) -> State:
    """Read a whole state."""
    with root.open(name) as source:
        content = source.read()
    data, checksum = content[:-_CHECKSUM], content[-_CHECKSUM:]
    if checksum != _checksum(data):
        raise _damaged(name, "is damaged: its checksum differs")
    try:
        return unpack(data)
    except KernelError as error:
        raise _damaged(name, error.problem.what) from error


def read_layer(root: Root, name: str) -> Layer:
    """Read a layer; on this machine its file is mapped into memory, and must not be changed."""
    with root.open(name) as source:
        data = source.read_buffer()
    try:
        return unpack_layer(data)
    except KernelError as error:
        raise _damaged(name, error.problem.what) from error


def read_states(
    root: Root, kernel: Kernel, names: Sequence[str], read: Callable[[Root, str], Layer] = read_layer
) -> State:
    """Read the state that some files have together; `read` may know layers already."""
    if not is_layer(names[0]):
        return kernel.completed(read_state(root, names[0]))
    shape = shape_of(kernel)
    assert shape is not None, "only states that fall into groups are written in layers"
    return LayeredState(shape, tuple(read(root, name) for name in names))


def check_state_file(root: Root, name: str) -> None:
    """Refuse a damaged file."""
    if is_layer(name):
        read_layer(root, name)
    else:
        read_state(root, name)


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "little")


def _damaged(name: str, what: str) -> EngineError:
    return EngineError(Problem(name, what, "the file as it was committed; restore it"))
