"""Shared parts of the benchmark: the folder of streams, the warm workers, and the node's capacity."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.qos.judging import Pieces, run_from_json
from benchmarks.qos.streams import PERIOD_S, Stream, write_stream
from benchmarks.qos.worker import OURS, Worker

GUESS = 20_000
"""The tuples of a file before the capacity is known."""
BACKLOG_FILES, THEIR_BACKLOG_FILES = 60, 30
WARM_UP_FILES = 24
BEGIN_S = 60
"""The second of event time at which streams begin; the warm-up comes before."""


@dataclass
class Workshop:
    """What all parts of the benchmark share."""

    scratch: Path
    quick: bool
    stack: ExitStack
    workers: dict[str, Worker] = field(default_factory=dict)
    capacities: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What was measured last of the capacity of each side."""
    loads: tuple[float, ...] = ()
    """The requested loads, as fractions of the capacity; none for the default ones."""
    runs: int = 1
    """How often each load is run."""

    def worker(self, side: str) -> Worker:
        """A side's process, started when first needed."""
        if side not in self.workers:
            folder = self.scratch / side
            folder.mkdir()
            self.workers[side] = self.stack.enter_context(Worker(side, folder))
        return self.workers[side]

    def do(self, side: str, what: str, **job: Any) -> Any:
        return self.worker(side).do(what, scratch=str(self.scratch / side), warm_up=self._warm_up(), **job)

    def measure(self, side: str) -> dict[str, Any]:
        """Measure the capacity of a side, in tuples per second, with a backlog."""
        files = BACKLOG_FILES if side == OURS else THEIR_BACKLOG_FILES
        folder = self.scratch / f"backlog-{files}"
        if not folder.exists():
            write_stream(folder, [GUESS] * files, BEGIN_S)
        found: dict[str, Any] = self.do(side, "capacity", stream=str(folder), attempts=1 if self.quick else 3)
        self.capacities[side] = found
        text = "{capacity:,.0f} tuples/s ({least:,.0f} to {most:,.0f}), {cpu_us:.2f} CPU µs each"
        say(f"{side}: {text.format(**found)}")
        return found

    def capacity(self, side: str) -> float:
        """The capacity of a side as it was measured last."""
        return float((self.capacities.get(side) or self.measure(side))["capacity"])

    def _warm_up(self) -> str:
        folder = self.scratch / "warm-up"
        if not folder.exists():
            write_stream(folder, [GUESS // 2] * WARM_UP_FILES, 0)
        return str(folder)

    @contextmanager
    def stream(self, side: str, loads: Sequence[float]) -> Iterator[tuple[Path, Stream]]:
        """A stream with a given fraction of a side's own capacity in each batch."""
        folder = self.scratch / "stream"
        sizes = [max(1, round(load * self.capacity(side) * PERIOD_S)) for load in loads]
        try:
            yield folder, write_stream(folder, sizes, BEGIN_S)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run(self, side: str, folder: Path, **job: Any) -> tuple[dict[str, Pieces], dict[str, Any]]:
        """What the outputs received of a stream, and the other figures of the run."""
        told = self.do(side, "run", stream=str(folder), **job)
        return run_from_json(told.pop("outputs")), told


def ours(schedule: str, *, shed: bool = False, discipline: str = "branch") -> dict[str, Any]:
    """How a node should run."""
    return {"schedule": schedule, "shed": shed, "discipline": discipline}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


__all__ = ["OURS", "Workshop", "ours", "say"]
