"""The experiments of the paper on hot spots, beside the numbers that it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from australis.policy.hotspot.levels import Criteria, Levels
from australis.policy.hotspot.peer import Manners
from australis.sim.hotspots.run import Messages, Outcome, simulated
from australis.sim.hotspots.workload import Setting

LEVELS = (3, 4, 5, 6, 7)
PAPER_UPDATES = {3: 249, 5: 259, 7: 277}
PAPER_MIGRATION = 249
PAPER_DATA = 8000
PAPER_OVERHEAD = 0.0635
CRITERIA = tuple((overload, imbalance) for overload in (1.0, 2.0, 4.0) for imbalance in (0.2, 1.0))
RUNS = 5


@dataclass(frozen=True)
class Compared:
    """With hot spots alleviated, and without: means over runs."""

    delay_s: float
    delay_s_p95: float
    delivered: float
    entered: float
    spread: float
    peak: float
    overloaded: float
    migrations: float
    returns: float


@dataclass(frozen=True)
class Counted:
    """Messages until 2,000 tuples were delivered: means over runs."""

    load_updates: float
    migration: float
    data: float
    overhead: float


@dataclass(frozen=True)
class Sensitivity:
    """What thresholds change: means over runs."""

    overload: float
    imbalance: float
    minutes: int
    migration: float
    delay_s: float
    spread: float


@dataclass(frozen=True)
class HotSpots:
    """All of it."""

    seed: int
    runs: int
    without: Compared
    balanced: Compared
    first: Counted
    whole: Counted
    """Of the whole runs, for each 2,000 tuples."""
    updates: dict[int, float]
    """Load updates until 2,000 tuples were delivered, by the number of levels."""
    sensitivity: tuple[Sensitivity, ...]
    curves: dict[str, tuple[tuple[float, float], ...]]
    """The delay of each minute, by whether hot spots were alleviated."""
    loads: dict[str, tuple[tuple[float, float], ...]]
    """Loads of peers by minute, of the first run."""


def hot_spots(seed: int, runs: int = RUNS, done: Callable[[int], object] = lambda _: None) -> HotSpots:
    """Run the experiment of section 4, and vary what it varies."""
    seeds = range(seed, seed + runs)

    def ran(setting: Setting, *, balanced: bool = True) -> list[Outcome]:
        found = [simulated(setting, each, balanced=balanced) for each in seeds]
        done(runs)
        return found

    without, balanced = ran(Setting(), balanced=False), ran(Setting())
    return HotSpots(
        seed,
        runs,
        _compared(without),
        _compared(balanced),
        _counted([each.first for each in balanced]),
        _counted([each.whole for each in balanced]),
        {count: _updates(ran(_with(levels=Levels(count)))) for count in LEVELS},
        tuple(_sensitive(*each, ran) for each in _varied()),
        {"without": _curve(without), "balanced": _curve(balanced)},
        {"without": without[0].loads, "balanced": balanced[0].loads},
    )


def settings() -> int:
    """How many settings are run."""
    return 2 + len(LEVELS) + len(_varied())


def _varied() -> list[tuple[float, float, int]]:
    return [*((*each, 1) for each in CRITERIA), (2.0, 0.2, 5), (2.0, 0.2, 15)]


def _with(*, levels: Levels | None = None, criteria: Criteria | None = None) -> Setting:
    manners = Manners(criteria=criteria or Criteria(), levels=levels or Levels())
    return replace(Setting(), manners=manners)


def _sensitive(
    overload: float, imbalance: float, minutes: int, ran: Callable[[Setting], list[Outcome]]
) -> Sensitivity:
    found = ran(_with(criteria=Criteria(overload, imbalance, minutes)))
    return Sensitivity(
        overload,
        imbalance,
        minutes,
        fmean(each.first.migration for each in found),
        fmean(each.delay_s for each in found),
        fmean(each.spread for each in found),
    )


def _compared(found: Sequence[Outcome]) -> Compared:
    def mean(name: str) -> float:
        return fmean(getattr(each, name) for each in found)

    return Compared(
        mean("delay_s"),
        mean("delay_s_p95"),
        mean("delivered"),
        mean("entered"),
        mean("spread"),
        mean("peak"),
        mean("overloaded"),
        mean("migrations"),
        mean("returns"),
    )


def _counted(found: Iterable[Messages]) -> Counted:
    """Messages for each 2,000 tuples."""
    every = list(found)

    def mean(name: str) -> float:
        return fmean(2000 * getattr(each, name) / each.delivered for each in every)

    return Counted(
        mean("load_updates"), mean("migration"), mean("data"), fmean(each.overhead for each in every)
    )


def _updates(found: Sequence[Outcome]) -> float:
    return fmean(each.first.load_updates for each in found)


def _curve(found: Sequence[Outcome]) -> tuple[tuple[float, float], ...]:
    minutes = zip(*(each.delays for each in found), strict=True)
    return tuple((each[0][0], fmean(delay for _, delay in each)) for each in minutes)
