"""Events of the virtual world, earliest first; of two at one time the one that was planned first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

called = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
"""For what only compiled functions call: to make it callable from Python would double the compiling."""
inner = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy", forceinline=True)
"""The same for what is called all the time: a call copies the world's arrays, some hundred numbers."""

EVENT = np.dtype([("time", "f8"), ("serial", "i8"), ("kind", "i8"), ("about", "i8")], align=True)
"""What happens when to whom."""


@inner
def _earlier(one: Any, time: float, serial: int) -> bool:
    return one.time < time or (one.time == time and one.serial < serial)


@inner
def sunk(heap: Any, size: int) -> None:
    """Take the first event away: the last of all sinks from its place to where it belongs."""
    time, serial, place = heap[size].time, heap[size].serial, 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and _earlier(heap[child + 1], heap[child].time, heap[child].serial):
            child += 1
        if not _earlier(heap[child], time, serial):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = heap[size]


@inner
def planned(world: Any, time: float, kind: int, about: int) -> None:
    """Let an event rise from the end to where it belongs."""
    count, heap = world.counts[0], world.heap
    place = count.planned
    if place == len(heap):
        count.full = 1
        return
    # What is planned later has a greater serial, so of two at one time it stays behind.
    while place > 0 and time < heap[(place - 1) // 2].time:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    event = heap[place]
    event.time, event.serial, event.kind, event.about = time, count.serial, kind, about
    count.planned += 1
    count.serial += 1
