"""The experiments of the paper on hot spots, compared with the numbers that it prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

from australis.policy.hotspot import Criteria, Levels, Manners
from australis.sim.hotspot.run import Messages, Outcome, simulated
from australis.sim.hotspot.workload import Setting

LEVELS = (3, 4, 5, 6, 7)
PAPER_UPDATES = {3: 249, 5: 259, 7: 277}
PAPER_MIGRATION = 249
PAPER_DATA = 8000
PAPER_OVERHEAD = 0.0635
CRITERIA = tuple((overload, imbalance) for overload in (1.0, 2.0, 4.0) for imbalance in (0.2, 1.0))


class Job(NamedTuple):
    """One run."""

    setting: Setting
    seed: int
    balanced: bool = True


@dataclass(frozen=True)
class Compared:
    """With and without hot spots alleviated: means over runs."""

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
    """The effect of thresholds: means over runs."""

    overload: float
    imbalance: float
    minutes: int
    migration: float
    delay_s: float
    spread: float


@dataclass(frozen=True)
class HotSpots:
    """All results."""

    seed: int
    runs: int
    without: Compared
    balanced: Compared
    first: Counted
    whole: Counted
    """For the whole runs, per 2,000 tuples."""
    updates: dict[int, float]
    """Load updates until 2,000 tuples were delivered, by the number of levels."""
    sensitivity: tuple[Sensitivity, ...]
    curves: dict[str, tuple[tuple[float, float], ...]]
    """The delay of each minute, by whether hot spots were alleviated."""
    loads: dict[str, tuple[tuple[float, float], ...]]
    """Loads of peers by minute, in the first run."""


def jobs(seed: int, runs: int) -> list[Job]:
    """The runs of the experiment of section 4 and its variations, without repetition."""
    varied = [
        *(_with(levels=Levels(count)) for count in LEVELS),
        *(_with(criteria=each) for each in _varied()),
    ]
    settings = dict.fromkeys([(Setting(), False), (Setting(), True), *((each, True) for each in varied)])
    seeds = range(seed, seed + runs)
    return [Job(setting, each, balanced) for setting, balanced in settings for each in seeds]


def measured(job: Job) -> Outcome:
    """Run one job."""
    return simulated(job.setting, job.seed, balanced=job.balanced)


def hot_spots(seed: int, runs: int, outcomes: Mapping[Job, Outcome]) -> HotSpots:
    """The paper's figures for its experiment, from the runs of all jobs."""
    seeds = range(seed, seed + runs)

    def ran(setting: Setting, *, balanced: bool = True) -> list[Outcome]:
        return [outcomes[Job(setting, each, balanced)] for each in seeds]

    without, balanced = ran(Setting(), balanced=False), ran(Setting())
    return HotSpots(
        seed,
        runs,
        _compared(without),
        _compared(balanced),
        _first(balanced),
        _counted([each.whole for each in balanced]),
        {count: _first(ran(_with(levels=Levels(count)))).load_updates for count in LEVELS},
        tuple(_sensitive(each, ran(_with(criteria=each))) for each in _varied()),
        {"without": _curve(without), "balanced": _curve(balanced)},
        {"without": without[0].loads, "balanced": balanced[0].loads},
    )


def _varied() -> list[Criteria]:
    return [*(Criteria(*each) for each in CRITERIA), Criteria(minutes=5), Criteria(minutes=15)]


def _with(*, levels: Levels | None = None, criteria: Criteria | None = None) -> Setting:
    manners = Manners(criteria=criteria or Criteria(), levels=levels or Levels())
    return replace(Setting(), manners=manners)


def _sensitive(criteria: Criteria, found: Sequence[Outcome]) -> Sensitivity:
    return Sensitivity(
        criteria.overload,
        criteria.imbalance,
        criteria.minutes,
        _first(found).migration,
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
    """Messages per 2,000 tuples."""
    every = list(found)

    def mean(name: str) -> float:
        return fmean(2000 * getattr(each, name) / each.delivered for each in every)

    return Counted(
        mean("load_updates"), mean("migration"), mean("data"), fmean(each.overhead for each in every)
    )


def _first(found: Sequence[Outcome]) -> Counted:
    return _counted(each.first for each in found)


def _curve(found: Sequence[Outcome]) -> tuple[tuple[float, float], ...]:
    minutes = zip(*(each.delays for each in found), strict=True)
    return tuple((each[0][0], fmean(delay for _, delay in each)) for each in minutes)
