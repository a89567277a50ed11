"""The cases: what is computed, over how many streams, and the ratio that is wanted."""

from __future__ import annotations

from dataclasses import dataclass

WINDOW, ADVANCE = "10 seconds", "2 seconds"
DENSE_WINDOW, DENSE_ADVANCE = "20 minutes", "4 minutes"
"""Windows in which a key has 1,200 tuples rather than ten."""
BAND_MS = 500
BAND = f"{BAND_MS} milliseconds"
FAN_OUT = 10


@dataclass(frozen=True)
class Case:
    """One query, known to both sides by its name; each output has a time, a key and a value."""

    name: str
    letter: str
    title: str
    wanted: float | None
    """How many times the cores' time theirs should take; the clock depends on what else the machine does."""
    streams: tuple[str, ...] = ("events",)
    share: float = 1.0
    """The fraction of the requested tuples that each stream has: slow cases take fewer."""
    outputs: tuple[str, ...] = ("out",)


FILTER_MAP = Case("filter_map", "a", "filter + map", 3.0)
KEYED_AVERAGE = Case("keyed_average", "b", "average, 1,000 keys, 10 s tumbling", 8.0)
SLIDING_AVERAGE = Case("sliding_average", "b", "average, 1,000 keys, 10 s by 2 s", 20.0, share=0.3)
DENSE_AVERAGE = Case("dense_average", "f", "average, 1,000 keys, 20 min tumbling", None)
DENSE_SLIDING = Case("dense_sliding", "f", "average, 1,000 keys, 20 min by 4 min", None, share=0.3)
BAND_JOIN = Case("band_join", "c", "band join of two streams", 30.0, ("left", "right"), share=0.05)
FAN_OUT_TEN = Case(
    "fan_out",
    "d",
    "fan-out to 10 outputs after an average",
    6.0,
    outputs=tuple(f"out{number}" for number in range(FAN_OUT)),
)
THROUGHPUT = (
    FILTER_MAP,
    KEYED_AVERAGE,
    SLIDING_AVERAGE,
    DENSE_AVERAGE,
    DENSE_SLIDING,
    BAND_JOIN,
    FAN_OUT_TEN,
)


def case_named(name: str) -> Case:
    """The case of that name."""
    return next(case for case in THROUGHPUT if case.name == name)


def threshold(number: int) -> int:
    """The averages that output `number` of the fan-out gets are greater: from nearly all to one in ten."""
    return 40 + 2 * number
