"""States in files: one for each box and partition, which the commit of a train makes current."""

from __future__ import annotations

from australis.engine.storage.root import STATES, Root
from australis.errors import EngineError, KernelError, Problem
from australis.kernels.kernel import State
from australis.kernels.state import pack, unpack


def write_state(root: Root, box: str, partition: int, state: State) -> tuple[str, int]:
    """Write the state of a box in a partition; gives the file's name and its size."""
    data = pack(state)
    name = root.new_name(STATES, f"{box}-{partition}", ".arrow")
    root.write(name, data)
    return name, len(data)


def read_state(root: Root, name: str) -> State:
    """Read a state."""
    with root.open(name) as source:
        try:
            return unpack(source.read())
        except KernelError as error:
            raise EngineError(
                Problem(name, error.problem.what, "the file as it was committed; restore it")
            ) from error
