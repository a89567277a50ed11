"""Tuples a second over Flight into a keyed average, with twenty subscribers of which two stall."""

from __future__ import annotations

import time

from benchmarks.service.scene import BATCH, Child, counted, flight_address, place, service

Figures = dict[str, float]


def measure(tuples: int = 10_000_000) -> Figures:
    """Push as fast as it goes; the time ends when the last tuple is in the average."""
    batches = tuples // BATCH
    with service() as client:
        warm = Child("pusher", flight_address(client), 0, 10, 0)
        warm.said()
        subscribers = Child("subscribers", *place(client), 18, 2)
        subscribers.said()
        _wait(client, 10 * BATCH)
        pushed = Child("pusher", flight_address(client), 10, batches, 0).said()
        ended = _wait(client, (10 + batches) * BATCH)
        subscribers.end()
        lost = (10 + batches) * BATCH - counted(client)
        return {
            "flight_tps": pushed["accepted"] / (ended - pushed["began"]),
            "flight_acknowledged_tps": pushed["accepted"] / (pushed["ended"] - pushed["began"]),
            "flight_lost": lost,
        }


def _wait(client: object, tuples: int) -> float:
    """Wait until the average has received so many tuples, or no more come."""
    before, since = -1, time.time()
    while (now := counted(client)) < tuples:  # type: ignore[arg-type]
        if now != before:
            before, since = now, time.time()
        if time.time() - since > 60:
            break
        time.sleep(0.05)
    return time.time()
