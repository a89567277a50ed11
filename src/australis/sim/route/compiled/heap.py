"""Events of the virtual world, earliest first; at equal times, the one planned first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

called = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
"""For functions that only compiled code calls: making them callable from Python doubles compiling."""
inner = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy", forceinline=True)
"""The same for functions called all the time: a call copies the world's arrays, some hundred numbers."""

EVENT = np.dtype([("time", "f8"), ("serial", "i8"), ("kind", "i8"), ("about", "i8")], align=True)
"""What happens, when, and to what."""


@inner
def _earlier(one: Any, time: float, serial: int) -> bool:
    return one.time < time or (one.time == time and one.serial < serial)


@inner
def pop_event(heap: Any, size: int) -> None:
    """Remove the first event: the last one sinks from its place to where it belongs."""
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
def plan_event(world: Any, time: float, kind: int, about: int) -> None:
    """Add an event: it rises from the end to where it belongs."""
    count, heap = world.counts[0], world.heap
    place = count.planned
    if place == len(heap):
        count.full = 1
        return
    # A later event has a greater serial, so at equal times it stays after.
    while place > 0 and time < heap[(place - 1) // 2].time:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    event = heap[place]
    event.time, event.serial, event.kind, event.about = time, count.serial, kind, about
    count.planned += 1
    count.serial += 1
