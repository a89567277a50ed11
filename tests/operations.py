"""Counts what Python executes: a measure of work that depends on no machine and no neighbour."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def operations(work: Callable[[], object]) -> int:
    """How many operations of Python's virtual machine the code of australis executes for some work.

    >>> operations(lambda: None)
    0
    """
    count = 0

    def follow(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if event == "call":
            frame.f_trace_lines, frame.f_trace_opcodes = False, True
            return follow if "australis" in frame.f_code.co_filename else None
        count += event == "opcode"
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
