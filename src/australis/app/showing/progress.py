"""Live progress of a node on the terminal: rates, queues, delays, box by box; silent without a terminal."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from australis.app.logs import TERMINAL
from australis.app.showing import statistics_tables as shown
from australis.engine.observe import Statistics

_FRAMES_PER_S = 4
_WINDOW_SECONDS = 2.0
"""Rates are those of the last seconds."""


@dataclass(frozen=True)
class ProgressSample:
    """The progress of a run at one moment."""

    seconds: float
    read: Mapping[str, int]
    statistics: Statistics

    @property
    def queue(self) -> int:
        """The tuples that wait, each counted once."""
        return self.statistics.waiting

    @property
    def shed(self) -> int:
        """The tuples that drop boxes have shed so far."""
        return sum(
            gate_count.shed
            for each in self.statistics.superboxes.values()
            for gate_count in each.gates.values()
        )

    @property
    def written(self) -> dict[str, int]:
        return {name: each.tuples for name, each in self.statistics.outputs.items()}


class RateMeter:
    """Tuples per second of the last seconds.

    >>> rates = RateMeter()
    >>> rates.note(0.0, {"x": 0}), rates.note(1.0, {"x": 500}), rates.note(2.0, {"x": 1500})
    ({'x': 0.0}, {'x': 500.0}, {'x': 750.0})
    """

    def __init__(self) -> None:
        self._noted: deque[tuple[float, Mapping[str, int]]] = deque()

    def note(self, seconds: float, counts: Mapping[str, int]) -> dict[str, float]:
        """Take new counts; returns the rates."""
        self._noted.append((seconds, dict(counts)))
        while len(self._noted) > 2 and self._noted[1][0] <= seconds - _WINDOW_SECONDS:
            self._noted.popleft()
        since, before = self._noted[0]
        elapsed = seconds - since
        return {
            name: (number - before.get(name, 0)) / elapsed if elapsed > 0 else 0.0
            for name, number in counts.items()
        }


class Picture:
    """A run as it is repeatedly drawn."""

    def __init__(self, take: Callable[[], ProgressSample]) -> None:
        self._take = take
        self._read, self._written, self._shed = RateMeter(), RateMeter(), RateMeter()

    def draw(self) -> RenderableType:
        """Draw the present state."""
        sample = self._take()
        read = self._read.note(sample.seconds, sample.read)
        written = self._written.note(sample.seconds, sample.written)
        head = Text.assemble(
            (sample.statistics.network, "bold"),
            f"  {sample.seconds:.0f} s  in {sum(read.values()):,.0f}/s  out {sum(written.values()):,.0f}/s",
            f"  waiting {sample.queue:,}",
        )
        statistics = sample.statistics
        tables = (
            shown.inputs(sample.read, read),
            shown.outputs(statistics.outputs, written),
            shown.boxes(statistics.boxes),
        )
        room = shown.room(statistics)
        parts = [*self._service(sample), *(each for table in tables for each in (Text(), table))]
        return Group(head, *([] if room is None else [room]), *parts)

    def _service(self, sample: ProgressSample) -> list[RenderableType]:
        """How outputs with graphs are served, and what is being shed."""
        report = sample.statistics.quality
        if report is None:
            return []
        rates = self._shed.note(sample.seconds, {"all": sample.shed})
        head = shown.utility(report).append(f", shedding {rates['all']:,.0f}/s" if rates["all"] else "")
        parts: list[RenderableType] = [Text(), head, *shown.limits(report), shown.qualities(report)]
        standing = sample.statistics.standing
        return [*parts, Text(), shown.dropboxes(standing)] if standing else parts


@contextmanager
def draw_live(console: Console, take: Callable[[], ProgressSample]) -> Iterator[None]:
    """Draw what `take` returns while the block runs, if there is a terminal; it is erased at the end."""
    if not console.is_terminal:
        yield
        return
    picture = Picture(take)
    view = Live(
        console=console, get_renderable=picture.draw, refresh_per_second=_FRAMES_PER_S, transient=True
    )
    # Log lines appear above the display, but one that came while it ends would be erased with it.
    with TERMINAL:
        view.start(refresh=False)
    try:
        yield
    finally:
        with TERMINAL:
            view.stop()


@contextmanager
def announce(console: Console, what: str) -> Iterator[list[float]]:
    """Announce on a terminal what takes a while; returns the seconds it took, once it is over."""
    began, seconds = time.perf_counter(), [0.0]
    if console.is_terminal:
        console.print(f"{what} ...", end="\r")
    yield seconds
    seconds[0] = time.perf_counter() - began
    if console.is_terminal:
        console.control()
        console.print(" " * (len(what) + 4), end="\r")
