"""Packages that import their modules on first use (PEP 562)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def lazy_exports(
    package: str, names: Mapping[str, Sequence[str]], modules: Sequence[str] = ()
) -> Callable[[str], Any]:
    """The `__getattr__` of a package that exports names of its modules, and some whole modules.

    A name is looked up once and then cached in the package. No exported name may equal that of a module of
    the package: importing the module would overwrite it. `dir` lists what is exported, loaded
    or not.

    >>> load = lazy_exports("australis", {"errors": ("AustralisError", "Problem")}, modules=("lazy",))
    >>> load("Problem").__module__, load("lazy").__name__
    ('australis.errors', 'australis.lazy')
    >>> load("Node")
    Traceback (most recent call last):
    AttributeError: module 'australis' has no attribute 'Node'
    """
    places = {name: f"{package}.{module}" for module, exported in names.items() for name in exported}

    def load(name: str) -> Any:
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(places[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    module = sys.modules[package]
    module.__dict__["__dir__"] = lambda: sorted({*vars(module), *vars(module).get("__all__", ())})
    return load
