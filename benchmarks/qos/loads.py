"""Utility over offered load: QoS schedules against those without graphs, and against Spark's schedulers.

At every load all contenders run one by one over the same files. Each run is rated by the tuples that arrive
after the first seconds; the stream continues until all delay graphs have reached their ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.qos.judging import judged
from benchmarks.qos.pictures import Line, Panel, chart
from benchmarks.qos.scene import LATEST_S, MOST, QUALITIES
from benchmarks.qos.streams import PERIOD_S
from benchmarks.qos.workshop import OURS, Workshop, ours, say
from rich.table import Table

LOADS = (0.5, 1.0, 1.5, 2.0, 3.0)
QUICK_LOADS = (1.5, 2.0)
SKIPPED_S, JUDGED_S, QUICK_JUDGED_S = 2.0, 10.0, 8.0


@dataclass(frozen=True)
class Contender:
    """A way to share the machine among outputs."""

    name: str
    side: str
    job: dict[str, Any]
    rival: bool
    """Whether it is one of the rivals."""


STATE = Contender("QoS, state", OURS, ours("state"), False)
SHEDDING = Contender("QoS, state, shedding", OURS, ours("state", shed=True), False)
CONTENDERS = (
    STATE,
    Contender("QoS, feedback", OURS, ours("feedback"), False),
    SHEDDING,
    Contender("FIFO", OURS, ours("fifo"), True),
    Contender("FIFO, all boxes at once", OURS, ours("fifo", discipline="superbox"), True),
    Contender("round robin", OURS, ours("round-robin"), True),
    Contender("Spark, FIFO", "FIFO", {}, True),
    Contender("Spark, FAIR", "FAIR", {}, True),
)


@dataclass(frozen=True)
class Point:
    """The result of a contender at a load."""

    contender: Contender
    load: float
    utilities: dict[str, float]
    p95: dict[str, float | None]
    fractions: dict[str, float]

    @property
    def utility(self) -> float:
        return sum(self.utilities.values())


def measure(shop: Workshop) -> list[Point]:
    """Every contender at every load."""
    loads = shop.loads or (QUICK_LOADS if shop.quick else LOADS)
    return [point for load in loads for point in _at(shop, load)]


def _at(shop: Workshop, load: float) -> Iterator[Point]:
    judged_s = QUICK_JUDGED_S if shop.quick else JUDGED_S
    seconds = SKIPPED_S + judged_s + LATEST_S
    with shop.stream([load] * round(seconds / PERIOD_S)) as (folder, _):
        for contender in CONTENDERS:
            run, told = shop.run(contender.side, folder, **contender.job)
            span = (SKIPPED_S, SKIPPED_S + judged_s)
            until = told["until"]
            pieces = {name: run[name].between(*span) for name in QUALITIES}
            point = Point(
                contender,
                load,
                judged(run, QUALITIES, *span, until),
                {name: each.p95(until) for name, each in pieces.items()},
                {name: each.fraction for name, each in pieces.items()},
            )
            say(f"    {load:.0%} {_told(point)}; files at most {told['late']:.2f} s late")
            yield point


def _told(point: Point) -> str:
    each = ", ".join(f"{name} {utility:.2f}" for name, utility in point.utilities.items())
    return f"{point.contender.name}: {point.utility:.2f} ({each})"


def ratio(points: list[Point], load: float) -> float | None:
    """The utility of QoS scheduling relative to the best rival at a load."""
    here = [point for point in points if point.load == load]
    if not here:
        return None
    best = max(point.utility for point in here if point.contender.rival)
    mine = next(point.utility for point in here if point.contender == STATE)
    return mine / max(best, 1e-9)


def tables(points: list[Point]) -> Iterator[Table]:
    """Utility by load and contender; and output by output."""
    loads = sorted({point.load for point in points})
    table = Table(f"utility (most {MOST:g})", *(f"{load:.0%}" for load in loads), title="offered load")
    for contender in CONTENDERS:
        found = {point.load: point for point in points if point.contender == contender}
        table.add_row(contender.name, *(f"{found[load].utility:.2f}" for load in loads))
    ratios = (ratio(points, load) for load in loads)
    table.add_row("QoS, state / best rival", *(f"{each:.2f}x" for each in ratios if each is not None))
    yield table
    detail = Table(
        "output by output", *QUALITIES, title="utility, 95th percentile of the delay in s, fraction"
    )
    for point in points:
        cells = (
            f"{point.utilities[name]:.2f}, {_seconds(point.p95[name])}, {point.fractions[name]:.0%}"
            for name in QUALITIES
        )
        detail.add_row(f"{point.load:.0%} {point.contender.name}", *cells)
    yield detail


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def picture(points: list[Point]) -> str:
    """Utility over load, a line for each contender."""
    lines = []
    for contender in CONTENDERS:
        found = sorted((point.load * 100, point.utility) for point in points if point.contender == contender)
        lines.append(Line(contender.name, tuple(found), dashed=contender.rival))
    return chart([Panel("total utility by offered load in % of capacity", tuple(lines), most=MOST)], "%")
