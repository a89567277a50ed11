"""Plan files: the superboxes of a network and the functions that it names, for the workers."""

from __future__ import annotations

import pickle
import platform
import struct
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import cloudpickle
import pyarrow as pa

from australis.algebra.user_functions import UserFunction, register_all, registered
from australis.engine.store import PLANS, Root
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Superbox

_FUNCTIONS = ""
"""The name of the piece that has the functions; no superbox has it."""
_MAGIC = b"plan 2\r\n"
_TAIL = struct.Struct("<q8s")
"""The end of a plan file: the length of the index before it, and what shows that it is one."""


class PlanFile:
    """A plan file that is read piece by piece: a worker loads only the superboxes that it runs.

    Opening it registers the functions of the plan in this process.
    """

    def __init__(self, root: Root, name: str) -> None:
        self._root, self._name = root, name
        with root.open(name) as source:
            size = source.size()
            length, magic = _TAIL.unpack(_read(source, size - _TAIL.size, _TAIL.size))
            if magic != _MAGIC:
                expected = "a plan file of this version; restart the node, which writes its plans again"
                raise EngineError(Problem(name, "is not a plan file", expected))
            self._pieces = pickle.loads(_read(source, size - _TAIL.size - length, length))
            functions = _read(source, *self._pieces[_FUNCTIONS])
        _register(functions)

    def superbox(self, superbox: str) -> Superbox:
        """A superbox of the plan."""
        with self._root.open(self._name) as source:
            found: Superbox = pickle.loads(_read(source, *self._pieces[superbox]))
        return found


def write_plan(root: Root, superboxes: Mapping[str, Superbox]) -> str:
    """Write a plan file; returns its name. Those of earlier nodes are swept when a root is opened."""
    boxes = repr([dict(each.network.boxes) for each in superboxes.values()])
    named = tuple(each for each in registered() if each.name in boxes)
    name = root.new_name(PLANS, "plan", ".plan")
    root.write(name, _packed(named, superboxes))
    return name


def _read(source: pa.NativeFile, offset: int, length: int) -> bytes:
    """A piece of a file."""
    source.seek(offset)
    return bytes(source.read(length))


def _register(functions: bytes) -> None:
    """Register pickled functions in this process: a network is checked against them when it is loaded."""
    try:
        register_all(pickle.loads(functions))
    except (ImportError, AttributeError) as error:
        expected = "modules that workers can import: install them for every worker, in the same version"
        what = f"functions of the network cannot be loaded here: {type(error).__name__}: {error}"
        raise EngineError(Problem(platform.node(), what, expected)) from error


def _packed(functions: tuple[UserFunction, ...], superboxes: Mapping[str, Superbox]) -> bytes:
    """Functions and superboxes one after the other, then where each of them is."""
    pieces = {_FUNCTIONS: _pickled(functions)}
    pieces |= {name: pickle.dumps(superbox) for name, superbox in superboxes.items()}
    places, offset = {}, 0
    for name, piece in pieces.items():
        places[name] = (offset, len(piece))
        offset += len(piece)
    index = pickle.dumps(places)
    return b"".join((*pieces.values(), index, _TAIL.pack(len(index), _MAGIC)))


def _pickled(functions: tuple[UserFunction, ...]) -> bytes:
    try:
        _by_value(functions)
        code: bytes = cloudpickle.dumps(functions)
    except (pickle.PicklingError, TypeError) as error:
        names = ", ".join(each.name for each in functions)
        expected = "functions that can be sent to workers: no open files, connections or locks in them"
        raise EngineError(Problem(names, f"cannot be sent to workers: {error}", expected)) from error
    return code


def _by_value(functions: tuple[UserFunction, ...]) -> None:
    """Pickle the code of modules that workers cannot import with the plan."""
    for each in functions:
        for call in each.calls:
            module = getattr(call, "__module__", None)
            if module in sys.modules and not _importable(module):
                cloudpickle.register_pickle_by_value(sys.modules[module])


def _importable(module: str) -> bool:
    """Whether workers can import a module: one that is installed, not one from a local folder."""
    file = getattr(sys.modules[module], "__file__", None)
    if module == "__main__" or file is None:
        return module in sys.builtin_module_names
    paths = sysconfig.get_paths()
    installed = [paths["stdlib"], paths["purelib"], paths["platlib"], str(Path(__file__).parents[2])]
    return any(Path(file).is_relative_to(place) for place in installed)
