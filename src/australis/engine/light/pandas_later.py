"""Pyarrow without pandas, which it loads with its first array, if it can: half a second, for nothing of ours.

Where a user's function loads pandas, pyarrow is to know it again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import pyarrow as pa

_PANDAS = "pandas"


class _Hidden(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == _PANDAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def leave_out_pandas() -> None:
    """Let pyarrow find that there is no pandas, which it does only once; one that is loaded stays."""
    if _PANDAS in sys.modules:
        return
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)


def take_up_pandas() -> None:
    """Let pyarrow know of pandas if somebody has loaded it by now."""
    if _PANDAS in sys.modules:
        # Asked for it, pyarrow looks again; otherwise it stays with what it found.
        _ = pa.lib._pandas_api.pd
