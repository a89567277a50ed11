"""What two stalled subscribers of twenty cost the others: the p95 of their delays, with and without them."""

from __future__ import annotations

from benchmarks.service.scene import BATCH, Child, flight_address, place, service

Figures = dict[str, float]
RATE = 150_000
"""Tuples a second: a load that leaves room, so that delays are those of the way out."""


def measure(tuples: int = 3_000_000) -> Figures:
    """Three turns of each kind, one after the other; of each kind the middle p95 counts."""
    batches, number = tuples // BATCH, 0
    found: dict[int, list[float]] = {0: [], 2: []}
    with service() as client:
        for turn in range(7):
            stalled = 2 * (turn % 2)
            subscribers = Child("subscribers", *place(client), 18, stalled)
            subscribers.said()
            Child("pusher", flight_address(client), number, batches, RATE).said()
            number += batches
            delays = subscribers.end()["delays_us"]
            if turn:  # the first one warms up
                found[stalled].append(delays[int(0.95 * len(delays))] / 1000)
    quiet, disturbed = (sorted(found[each])[len(found[each]) // 2] for each in (0, 2))
    return {"stalled_x": disturbed / quiet, "p95_ms": quiet, "p95_stalled_ms": disturbed}
