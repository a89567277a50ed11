"""Hides packages that others import merely because they are installed: pandas from pyarrow, scipy from numba.

Workers do not need them, and importing them takes longer than everything else together. User functions can
import them as usual.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import pyarrow as pa

PANDAS, SCIPY = "pandas", "scipy"


class _HidingFinder(MetaPathFinder):
    """Pretends that a package does not exist."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] == self._package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


class _TellingFinder(MetaPathFinder):
    """Finds pandas for the first import of it, and then lets pyarrow know about it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != PANDAS:
            return None
        sys.meta_path.remove(self)
        found = find_spec(PANDAS)
        if found is not None and found.loader is not None:
            load = found.loader.exec_module

            def load_and_tell(module: ModuleType) -> None:
                load(module)
                # When asked for it, pyarrow looks again; by itself it keeps what it found first.
                _ = pa.lib._pandas_api.pd

            found.loader.exec_module = load_and_tell  # type: ignore[method-assign]
        return found


def hide_pandas() -> None:
    """Let pyarrow believe that there is no pandas; it looks once, with its first array."""
    with _hidden(PANDAS):
        pa.array([0])
    sys.meta_path.insert(0, _TellingFinder())


@contextmanager
def hide_scipy() -> Iterator[None]:
    """Let numba believe that there is no scipy; it looks with the first loop that it loads."""
    with _hidden(SCIPY):
        yield
    if find_spec(SCIPY) is None:
        return
    # It caches that for numpy.cov alone; for everything else that needs scipy it looks again.
    arraymath: Any = importlib.import_module("numba.np.arraymath")
    arraymath._HAVE_BLAS = True


@contextmanager
def _hidden(package: str) -> Iterator[None]:
    finder = _HidingFinder(package)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
