"""Events of the virtual world, earliest first; of two at one time the one that was planned first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

inner = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For what only compiled functions call: to make it callable from Python would double the compiling."""

EVENT = np.dtype([("time", "f8"), ("serial", "i8"), ("kind", "i8"), ("about", "i8")], align=True)
"""What happens when to whom."""


@inner
def _earlier(heap: Any, one: int, other: int) -> bool:
    if heap[one].time != heap[other].time:
        return heap[one].time < heap[other].time
    return heap[one].serial < heap[other].serial


@inner
def _swap(heap: Any, one: int, other: int) -> None:
    time, serial, kind, about = heap[one].time, heap[one].serial, heap[one].kind, heap[one].about
    heap[one] = heap[other]
    heap[other].time = time
    heap[other].serial = serial
    heap[other].kind = kind
    heap[other].about = about


@inner
def risen(heap: Any, place: int) -> None:
    """Let the event at a place rise to where it belongs."""
    while place > 0 and _earlier(heap, place, (place - 1) // 2):
        _swap(heap, place, (place - 1) // 2)
        place = (place - 1) // 2


@inner
def sunk(heap: Any, size: int) -> None:
    """Let the event at the top sink to where it belongs."""
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and _earlier(heap, child + 1, child):
            child += 1
        if not _earlier(heap, child, place):
            return
        _swap(heap, place, child)
        place = child


@inner
def planned(world: Any, time: float, kind: int, about: int) -> None:
    count = world.counts[0]
    if count.planned == len(world.heap):
        count.full = 1
        return
    event = world.heap[count.planned]
    event.time = time
    event.serial = count.serial
    event.kind = kind
    event.about = about
    count.planned += 1
    count.serial += 1
    risen(world.heap, count.planned - 1)
