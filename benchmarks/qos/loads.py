"""Utility over offered load: QoS schedules against those without graphs, and against Structured Streaming.

Loads are percentages of each side's own capacity, which is measured before each run with a backlog. At every
load all contenders run one by one, those of one side over the same files. Each run is rated by the tuples
that arrive after the first seconds; the stream continues until all delay graphs have reached their ends.
Beside our utilities stands the bound: the most that any fractions delivered could have at that load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from benchmarks.qos.judging import judged
from benchmarks.qos.pictures import Line, Panel, chart
from benchmarks.qos.scene import LATEST_S, MOST, QUALITIES, branches, network
from benchmarks.qos.streams import PERIOD_S
from benchmarks.qos.workshop import OURS, Workshop, ours, say
from rich.table import Table

from australis.policy.limit import Losses, Work, attainable, bound, losses
from australis.qos.fairness import jain

LOADS = (0.5, 1.0, 1.5, 2.0, 3.0)
QUICK_LOADS = (1.5, 2.0)
SKIPPED_S, JUDGED_S, QUICK_JUDGED_S = 4.0, 10.0, 8.0
SHARED = "shop"
"""The superbox that all outputs need."""


@dataclass(frozen=True)
class Contender:
    """A way to share the machine among outputs."""

    name: str
    side: str
    job: dict[str, Any]
    rival: bool
    """Whether it is one of the rivals."""
    in_branches: bool = True
    """Whether each output has a branch of its own, so that what was lost can be told apart."""


MINE = Contender("QoS, state, shedding", OURS, ours("state", shed=True), False)
CONTENDERS = (
    MINE,
    Contender("QoS, state", OURS, ours("state"), False),
    Contender("QoS, feedback", OURS, ours("feedback"), False),
    Contender("FIFO", OURS, ours("fifo"), True),
    Contender("FIFO, all boxes at once", OURS, ours("fifo", discipline="superbox"), True, in_branches=False),
    Contender("round robin", OURS, ours("round-robin"), True),
    Contender("Spark, FIFO", "FIFO", {}, True, in_branches=False),
    Contender("Spark, FAIR", "FAIR", {}, True, in_branches=False),
    Contender("Spark, one query", "one query", {}, True, in_branches=False),
    Contender("Spark, two queries", "two queries", {}, True, in_branches=False),
)
SIDES = tuple(dict.fromkeys(contender.side for contender in CONTENDERS))


@dataclass(frozen=True)
class Against:
    """A run against the bound."""

    losses: Losses
    """With the capacity that was measured before it."""
    given: float
    """The bound with the CPU time that the run got: neighbours may take what the capacity had."""


@dataclass(frozen=True)
class Point:
    """The result of a contender at a load, in one of the runs."""

    contender: Contender
    load: float
    number: int
    utilities: dict[str, float]
    p95: dict[str, float | None]
    fractions: dict[str, float]
    cores: float
    """CPU seconds per second."""
    against: Against | None
    """What was lost; None for what does not run in branches."""

    @property
    def utility(self) -> float:
        return sum(self.utilities.values())

    @property
    def fairness(self) -> float:
        """Jain's index of what the outputs have of their best utility; 0 if none has any."""
        parts = (utility / QUALITIES[name].weight for name, utility in self.utilities.items())
        return jain(parts) or 0.0


def measure(shop: Workshop) -> list[Point]:
    """Every contender at every load, in every run."""
    loads = shop.loads or (QUICK_LOADS if shop.quick else LOADS)
    found = []
    for number in range(shop.runs):
        for side in SIDES:
            shop.measure(side)
            found += [point for load in loads for point in _at(shop, side, load, number)]
    return found


def _at(shop: Workshop, side: str, load: float, number: int) -> Iterator[Point]:
    judged_s = QUICK_JUDGED_S if shop.quick else JUDGED_S
    seconds, span = SKIPPED_S + judged_s + LATEST_S, (SKIPPED_S, SKIPPED_S + judged_s)
    with shop.stream(side, [load] * round(seconds / PERIOD_S)) as (folder, _):
        for contender in (each for each in CONTENDERS if each.side == side):
            run, told = shop.run(side, folder, **contender.job, span=span)
            until = told["until"]
            pieces = {name: run[name].between(*span) for name in QUALITIES}
            utilities = judged(run, QUALITIES, *span, until)
            point = Point(
                contender,
                load,
                number,
                utilities,
                {name: each.p95(until) for name, each in pieces.items()},
                {name: each.fraction for name, each in pieces.items()},
                told["cpu_s"] / until,
                _against_bound(shop, load, told, sum(utilities.values())) if contender.in_branches else None,
            )
            say(f"    {load:.0%} {_told(point)}; files at most {told['late']:.2f} s late")
            yield point


def _against_bound(shop: Workshop, load: float, told: Mapping[str, Any], utility: float) -> Against:
    """What was lost against the bound; and the bound with the time that the processors gave to this run."""
    measured = shop.capacities[OURS]
    work = _work(measured["parts"], load)
    given = told["cpu_s"] / told["until"] / (measured["cpu_us"] * measured["capacity"] / 1e6)
    processed = dict.fromkeys(work.stages, 0.0) | told["processed"]
    return Against(losses(work, 1.0, processed, utility), bound(work, given).utility)


def _work(parts: Mapping[str, float], load: float) -> Work:
    """The work of the scene at a load, in capacities: as the time of a backlog was divided among branches."""
    ways = {name: (SHARED, branch) for name, branch in branches(network(), "branch").items()}
    curves = {name: attainable(quality) for name, quality in QUALITIES.items()}
    return Work({name: load * part for name, part in parts.items()}, ways, curves)


def _told(point: Point) -> str:
    each = ", ".join(f"{name} {utility:.2f}" for name, utility in point.utilities.items())
    told = f"{point.contender.name}: {point.utility:.2f} ({each}), Jain {point.fairness:.2f}"
    if point.against is None:
        return f"{told}, {point.cores:.2f} cores"
    lost = point.against.losses
    return (
        f"{told}, {point.cores:.2f} cores; bound {lost.bound:.2f}, with these cores "
        f"{point.against.given:.2f}, lost to scheduling {lost.scheduling:.2f}, to late shedding "
        f"{lost.shed_late:.2f}, to shares {lost.shares:.2f}, to lateness {lost.lateness:.2f}"
    )


# --- what came of it


def _of(points: list[Point], contender: Contender, load: float) -> list[Point]:
    """The runs of a contender at a load."""
    return [point for point in points if point.contender == contender and point.load == load]


def ratio(points: list[Point], load: float) -> float | None:
    """Our utility relative to the best rival's, each at a part of its own capacity: medians of runs."""
    rivals = [_of(points, contender, load) for contender in CONTENDERS if contender.rival]
    if not any(rivals):
        return None
    best = max(median(point.utility for point in runs) for runs in rivals if runs)
    return median(point.utility for point in _of(points, MINE, load)) / max(best, 1e-9)


def of_bound(points: list[Point], load: float) -> float | None:
    """Our utility relative to the bound: the median of the runs."""
    found = [point.utility / point.against.losses.bound for point in _of(points, MINE, load) if point.against]
    return median(found) if found else None


def of_given(points: list[Point], load: float) -> float | None:
    """The same with the CPU time that each run got."""
    found = [point.utility / point.against.given for point in _of(points, MINE, load) if point.against]
    return median(found) if found else None


def fairness(points: list[Point], load: float) -> float | None:
    """Our fairness: the median of the runs."""
    found = [point.fairness for point in _of(points, MINE, load)]
    return median(found) if found else None


def tables(points: list[Point]) -> Iterator[Table]:
    """Utility and fairness by load and contender, every run; what was lost; and output by output."""
    loads = sorted({point.load for point in points})
    yield _by_load(points, loads)
    yield _by_load(points, loads, "Jain's index of the outputs", lambda point: point.fairness)
    yield _lost(points, loads)
    detail = Table(
        "output by output", *QUALITIES, title="utility, 95th percentile of the delay in s, fraction"
    )
    for point in points:
        cells = (
            f"{point.utilities[name]:.2f}, {_seconds(point.p95[name])}, {point.fractions[name]:.0%}"
            for name in QUALITIES
        )
        detail.add_row(f"{point.load:.0%} {point.contender.name}, run {point.number + 1}", *cells)
    yield detail


def _by_load(
    points: list[Point],
    loads: list[float],
    title: str = f"utility (most {MOST:g})",
    of: Callable[[Point], float] = lambda point: point.utility,
) -> Table:
    """A figure of every run."""
    table = Table(title, *(f"{load:.0%}" for load in loads), title="load, of each side's own capacity")
    for contender in CONTENDERS:
        runs = (_of(points, contender, load) for load in loads)
        table.add_row(contender.name, *(" ".join(f"{of(point):.2f}" for point in found) for found in runs))
    return table


def _lost(points: list[Point], loads: list[float]) -> Table:
    """The bound and what was lost against it, in every run."""
    table = Table("against the bound", *(f"{load:.0%}" for load in loads), title=MINE.name)
    runs = [_of(points, MINE, load) for load in loads]

    def row(name: str, of: Callable[[Point, Losses], float]) -> None:
        known = ([(point, point.against.losses) for point in found if point.against] for found in runs)
        table.add_row(name, *(" ".join(f"{of(*each):.2f}" for each in found) for found in known))

    row("bound", lambda _, lost: lost.bound)
    row("lost to scheduling", lambda _, lost: lost.scheduling)
    row("lost to late shedding", lambda _, lost: lost.shed_late)
    row("lost to shares", lambda _, lost: lost.shares)
    row("lost to lateness", lambda _, lost: lost.lateness)
    row("ours", lambda point, _: point.utility)
    row("ours / bound", lambda point, lost: point.utility / lost.bound)
    row("CPU seconds per second", lambda point, _: point.cores)
    row("bound with these", lambda point, _: point.against.given if point.against else 0.0)
    ratios = (ratio(points, load) for load in loads)
    table.add_row("ours / best rival (medians)", *("-" if x is None else f"{x:.2f}" for x in ratios))
    return table


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def picture(points: list[Point]) -> str:
    """Utility and fairness over load, a line for each contender: the means of the runs, and their range."""
    utility = [*_lines(points, lambda point: point.utility), _bound(points)]
    return chart(
        [
            Panel("total utility by load, in % of each side's own capacity", tuple(utility), most=MOST),
            Panel("Jain's index", tuple(_lines(points, lambda point: point.fairness)), most=1.0),
        ],
        "%",
    )


def _lines(points: list[Point], of: Callable[[Point], float]) -> Iterator[Line]:
    for contender in CONTENDERS:
        loads = sorted({point.load for point in points if point.contender == contender})
        runs = [(load * 100, [of(point) for point in _of(points, contender, load)]) for load in loads]
        yield Line(
            contender.name,
            tuple((load, fmean(found)) for load, found in runs),
            dashed=contender.rival,
            range=tuple((load, min(found), max(found)) for load, found in runs),
        )


def _bound(points: list[Point]) -> Line:
    known = [(p.load * 100, p.against.losses.bound) for p in points if p.contender == MINE and p.against]
    loads = sorted({load for load, _ in known})
    places = tuple((load, fmean(y for x, y in known if x == load)) for load in loads)
    return Line("bound", places, colour="#888888")
