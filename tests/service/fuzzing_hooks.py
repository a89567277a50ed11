"""Gives calls of schemathesis names that exist, two times of three: else most would end with 404."""

from __future__ import annotations

import zlib
from typing import Any

import schemathesis

NAMES = {
    "name": ("reports", "fast", "averages", "quarantine"),
    "box": ("quick", "mean"),
    "arc": ("reports", "quick", "mean"),
    "point": ("recent",),
    "operation": ("1",),
    "direction": ("inputs", "outputs"),
}


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    """Put known names in the place of drawn ones; what is drawn decides, so that a run can be repeated."""
    for name, drawn in (path_parameters or {}).items():
        drew = zlib.crc32(repr(drawn).encode())
        if name in NAMES and drew % 3:
            assert path_parameters is not None
            path_parameters[name] = NAMES[name][drew // 3 % len(NAMES[name])]
    return path_parameters
