"""A feed: batches that arrive at a fixed pace by the clock, regardless of their readers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.qos.streams import PERIOD_S, Stream


@dataclass(frozen=True)
class Feed:
    """A stream that begins at a given time."""

    stream: Stream
    begin: float

    @classmethod
    def soon(cls, stream: Stream) -> Feed:
        return cls(stream, time.time() + 0.2)

    def due(self, batch: int) -> float:
        """When a batch is due; if it is delivered later than that, its delay has already begun."""
        return self.begin + batch * PERIOD_S

    def run(self, arrive: Callable[[Path, float], object]) -> float:
        """Deliver every batch when it is due; returns by how many seconds the latest one was late."""
        latest = 0.0
        for number, path in enumerate(self.stream.files):
            time.sleep(max(0.0, self.due(number) - time.time()))
            arrive(path, self.due(number))
            latest = max(latest, time.time() - self.due(number))
        time.sleep(max(0.0, self.due(len(self.stream.files)) - time.time()))
        return latest
