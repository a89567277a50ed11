"""Plan files: the superboxes of a network and the functions that it names, for the workers."""

from __future__ import annotations

import pickle
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import cloudpickle

from australis.algebra.user_functions import RowFunction, UserAggregate, register_all, registered
from australis.engine.store import PLANS, Root
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Superbox


def write_plan(root: Root, superboxes: Mapping[str, Superbox]) -> str:
    """Write a plan file; returns its name. Those of earlier nodes are swept when a root is opened."""
    boxes = repr([dict(each.network.boxes) for each in superboxes.values()])
    named = tuple(each for each in registered() if each.name in boxes)
    name = root.new_name(PLANS, "plan", ".plan")
    root.write(name, _packed(named, superboxes))
    return name


def read_plan(root: Root, name: str) -> Mapping[str, Superbox]:
    """The superboxes of a plan file; registers its functions in this process."""
    with root.open(name) as source:
        functions, superboxes = pickle.loads(source.read())
    register_all(pickle.loads(functions))
    found: Mapping[str, Superbox] = pickle.loads(superboxes)
    return found


def _packed(functions: tuple[RowFunction | UserAggregate, ...], superboxes: Mapping[str, Superbox]) -> bytes:
    """Functions come first, since a network is checked against them when it is loaded."""
    try:
        _by_value(functions)
        code: bytes = cloudpickle.dumps(functions)
    except (pickle.PicklingError, TypeError) as error:
        names = ", ".join(each.name for each in functions)
        expected = "functions that can be sent to workers: no open files, connections or locks in them"
        raise EngineError(Problem(names, f"cannot be sent to workers: {error}", expected)) from error
    return pickle.dumps((code, pickle.dumps(dict(superboxes))))


def _by_value(functions: tuple[RowFunction | UserAggregate, ...]) -> None:
    """Pickle the code of modules that workers cannot import with the plan."""
    for each in functions:
        for call in vars(each).values():
            module = getattr(call, "__module__", None)
            if callable(call) and module in sys.modules and not _importable(module):
                cloudpickle.register_pickle_by_value(sys.modules[module])


def _importable(module: str) -> bool:
    """Whether workers can import a module: one that is installed, not one from a local folder."""
    file = getattr(sys.modules[module], "__file__", None)
    if module == "__main__" or file is None:
        return module in sys.builtin_module_names
    paths = sysconfig.get_paths()
    installed = [paths["stdlib"], paths["purelib"], paths["platlib"], str(Path(__file__).parents[2])]
    return any(Path(file).is_relative_to(place) for place in installed)
