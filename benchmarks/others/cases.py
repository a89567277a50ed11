"""What all engines compute, and the files in which each gets the tuples; no package but Arrow is needed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A query by its usual name, and its name among the engine's own cases."""

    name: str
    ours: str
    title: str
    share: float
    """The fraction of the requested tuples that each stream has."""
    streams: tuple[str, ...] = ("events",)


TUMBLING = Case("tumbling", "keyed_average", "average, 1,000 keys, 10 s", 1.0)
SLIDING = Case("sliding", "sliding_average", "average, 1,000 keys, 10 s by 2 s", 0.3)
FILTER = Case("filter", "filter_map", "filter + map", 1.0)
JOIN = Case("join", "band_join", "band join of two streams", 0.05, ("left", "right"))
CASES = (TUMBLING, SLIDING, FILTER, JOIN)
