"""States in files: one for each box and partition, made current by the commit of a train."""

from __future__ import annotations

import zlib

from australis.engine.store.root import STATES, Root
from australis.errors import EngineError, KernelError, Problem
from australis.kernels.kernel import State
from australis.kernels.state import pack, unpack

_CHECKSUM = 4
"""The bytes at the end of a file with the checksum of all before: Arrow's own format has none."""


def encode_state(root: Root, box: str, partition: int, state: State) -> tuple[str, bytes]:
    """A new file for the state of a box in a partition: its name and its contents."""
    data = pack(state)
    return root.new_name(STATES, f"{box}-{partition}", ".state"), data + _checksum(data)


def read_state(root: Root, name: str) -> State:
    """Read a state."""
    with root.open(name) as source:
        content = source.read()
    data, checksum = content[:-_CHECKSUM], content[-_CHECKSUM:]
    if checksum != _checksum(data):
        raise _damaged(name, "is damaged: its checksum differs")
    try:
        return unpack(data)
    except KernelError as error:
        raise _damaged(name, error.problem.what) from error


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "little")


def _damaged(name: str, what: str) -> EngineError:
    return EngineError(Problem(name, what, "the file as it was committed; restore it"))
