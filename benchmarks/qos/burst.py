"""A burst: three times the load for a minute, with and without drop boxes.

Each second is rated by what could be read in it: an output is in its good zone if at most one tuple in twenty
was later than its delta, or, if nothing arrived, if nothing has waited for longer than that. The outputs have
recovered when they do not leave their good zones again for more than two consecutive seconds until the stream
ends; later single seconds outside are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from benchmarks.qos.judging import Pieces, judged
from benchmarks.qos.pictures import Line, Panel, chart
from benchmarks.qos.scene import LATEST_S, MOST, QUALITIES
from benchmarks.qos.streams import PERIOD_S
from benchmarks.qos.workshop import OURS, Workshop, ours, say
from rich.table import Table

from australis.qos.graphs import delta

BASE, FACTOR = 0.6, 3.0
BEFORE_S, BURST_S, AFTER_S = 10, 60, 20
QUICK = (6, 20, 14)
SHORT_S = 2
"""How long outputs may be outside of their good zones, once they have recovered."""
WITH, WITHOUT = "with shedding", "without"


@dataclass(frozen=True)
class Times:
    """When the burst begins and ends, and the stream ends."""

    begin: int
    end: int
    last: int


@dataclass(frozen=True)
class Burst:
    """The results of a burst."""

    outputs: dict[str, Pieces]
    entries: list[dict[str, Any]]
    times: Times

    def p95(self, name: str, second: int) -> float:
        """How late an output was in a second."""
        pieces = self.outputs[name]
        read = pieces.where((pieces.delivered >= second) & (pieces.delivered < second + 1))
        found = read.p95(self.times.last)
        return self._waited(pieces, second + 1) if found is None else found

    def _waited(self, pieces: Pieces, moment: float) -> float:
        """How long the oldest tuple has waited at a time."""
        waiting = pieces.where((pieces.arrived < moment) & (pieces.delivered >= moment))
        return float(moment - waiting.arrived.min()) if len(waiting.arrived) else 0.0

    def is_good(self, second: int) -> bool:
        """Whether all outputs were in their good zones."""
        return all(self.p95(name, second) <= delta(QUALITIES[name].delay) for name in QUALITIES)

    @property
    def recovery_s(self) -> float | None:
        """Seconds from the burst's start until the end of the last time outside; None if it does not end."""
        begin, last = self.times.begin, self.times.last
        seconds = groupby(range(begin, last), key=self.is_good)
        outside = [list(stretch) for is_good, stretch in seconds if not is_good]
        ends = [stretch[-1] + 1 for stretch in outside if len(stretch) > SHORT_S]
        back = ends[-1] if ends else begin
        return None if back == last else float(back - begin)

    @property
    def bad_later(self) -> int:
        """Later seconds outside of good zones."""
        first = self.times.last if self.recovery_s is None else self.times.begin + int(self.recovery_s)
        return sum(not self.is_good(second) for second in range(first, self.times.last))

    @property
    def left_standing(self) -> int:
        """Drop boxes that were left when the stream ended."""
        return sum(entry["until"] is None for entry in self.entries)

    def fractions(self, begin: float, end: float) -> dict[str, float]:
        return {name: each.between(begin, end).fraction for name, each in self.outputs.items()}

    def utility(self, begin: float, end: float) -> float:
        return sum(judged(self.outputs, QUALITIES, begin, end, self.times.last).values())


def measure(shop: Workshop) -> dict[str, Burst]:
    """The same burst with and without drop boxes."""
    before, during, after = QUICK if shop.quick else (BEFORE_S, BURST_S, AFTER_S)
    batches = round(1 / PERIOD_S)
    loads = [BASE] * (before * batches) + [BASE * FACTOR] * (during * batches) + [BASE] * (after * batches)
    times = Times(before, before + during, before + during + after)
    found = {}
    with shop.stream(OURS, loads) as (folder, _):
        for name, shed in ((WITH, True), (WITHOUT, False)):
            run, told = shop.run(OURS, folder, **ours("state", shed=shed))
            found[name] = Burst(run, told["entries"], times)
            say(f"    {name}: recovered after {found[name].recovery_s} s")
    return found


def table(found: Mapping[str, Burst]) -> Table:
    made = Table(
        "burst",
        *QUALITIES,
        f"utility (most {MOST:g})",
        "in good zones after",
        "outside later",
        "drop boxes left",
    )
    for name, burst in found.items():
        begin, end = burst.times.begin, burst.times.end
        fractions = burst.fractions(begin, end)
        late = {each: burst.outputs[each].between(begin, end).p95(burst.times.last) for each in QUALITIES}
        cells = (f"{fractions[each]:.0%}, {late[each] or 0:.1f} s" for each in QUALITIES)
        after = "never" if burst.recovery_s is None else f"{burst.recovery_s:.0f} s"
        later = f"{burst.bad_later} s" if burst.recovery_s is not None else ""
        left = str(burst.left_standing)
        made.add_row(name, *cells, f"{burst.utility(begin, end):.2f}", after, later, left)
    return made


def picture(found: Mapping[str, Burst]) -> str:
    """Delays, fractions and utility by the second."""
    return chart(list(_panels(found)), "s")


def _panels(found: Mapping[str, Burst]) -> Iterator[Panel]:
    for name, burst in found.items():
        marks = ((float(burst.times.begin), float(burst.times.end)),)
        seconds = range(burst.times.last)
        lines = tuple(
            Line(each, tuple((second + 0.5, burst.p95(each, second)) for second in seconds))
            for each in QUALITIES
        )
        yield Panel(f"{name}: 95th percentile of the delay, s", lines, marks=marks)
        if name == WITH:
            parts = tuple(Line(each, tuple(_fractions(burst, each))) for each in QUALITIES)
            yield Panel(f"{name}: fraction delivered", parts, most=1.0, marks=marks)
    totals = tuple(Line(name, tuple(_utilities(burst))) for name, burst in found.items())
    yield Panel("total utility, by the second of arrival", totals, most=MOST, marks=marks)


def _fractions(burst: Burst, name: str) -> Iterator[tuple[float, float]]:
    for second in range(burst.times.last):
        pieces = burst.outputs[name].between(second, second + 1)
        if len(pieces.arrived):
            yield second + 0.5, pieces.fraction


def _utilities(burst: Burst) -> Iterator[tuple[float, float]]:
    # The last seconds cannot be rated: some of their tuples could not arrive in time.
    for second in np.arange(0, burst.times.last - LATEST_S):
        yield float(second) + 0.5, burst.utility(float(second), float(second) + 1)
