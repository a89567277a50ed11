"""Threads for what blocks: few, so that many callers wait for their turn and do not slow each other down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")
PUSHES_AT_ONCE, READS_AT_ONCE = 8, 8
"""How many bodies are decoded and pushed at a time, and how many parts of outputs are read from the disk."""
_pushes = ThreadPoolExecutor(PUSHES_AT_ONCE, "australis-push")
_reads = ThreadPoolExecutor(READS_AT_ONCE, "australis-read")


async def pushing(work: Callable[[], Result]) -> Result:
    """What a push gives, which runs in a thread."""
    return await asyncio.get_running_loop().run_in_executor(_pushes, work)


async def reading(work: Callable[[], Result]) -> Result:
    """What a read gives, which runs in a thread."""
    return await asyncio.get_running_loop().run_in_executor(_reads, work)
