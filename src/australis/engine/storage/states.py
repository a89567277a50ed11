"""States in files: one for each box and partition, which the commit of a train makes current."""

from __future__ import annotations

from australis.engine.storage.root import STATES, Root
from australis.errors import EngineError, KernelError, Problem
from australis.kernels.kernel import State
from australis.kernels.state import pack, unpack


def encode_state(root: Root, box: str, partition: int, state: State) -> tuple[str, bytes]:
    """A new file for the state of a box in a partition: its name, and what it is to hold."""
    return root.new_name(STATES, f"{box}-{partition}", ".arrow"), pack(state)


def read_state(root: Root, name: str) -> State:
    """Read a state."""
    with root.open(name) as source:
        try:
            return unpack(source.read())
        except KernelError as error:
            raise EngineError(
                Problem(name, error.problem.what, "the file as it was committed; restore it")
            ) from error
