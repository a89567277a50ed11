"""The experiments on hot spots, simulated: the paper's numbers and ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import click

from australis.algebra.quality import Points
from australis.app.papers.jobs import seeds_of
from australis.app.pictures import Panel, Series, plotted
from australis.app.showing import print_table
from australis.sim.hotspot import (
    PAPER_DATA,
    PAPER_MIGRATION,
    PAPER_OVERHEAD,
    PAPER_UPDATES,
    Compared,
    HotSpots,
    Job,
    Outcome,
    Sensitivity,
    Trial,
    experiments,
    hot_spots,
    measured,
    tried,
)

WHAT = {
    "delay_s": "mean end-to-end delay, s",
    "delay_s_p95": "95 % of delays are below, s",
    "delivered": "tuples delivered",
    "spread": "spread of loads",
    "peak": "greatest load",
    "overloaded": "peers overloaded",
    "migrations": "migrations",
    "returns": "tasks that returned",
}

COUNTED = "until 2,000 tuples are delivered"


@dataclass(frozen=True)
class Trials:
    """Migrations in unreliable worlds: the counts, and the errors."""

    seeds: int
    tuples: int
    moves: int
    returns: int
    crashes: int
    suspicions: int
    events: int
    lost: int = 0
    doubled: int = 0
    ping_pong: int = 0
    """These three would have ended the run, with the seed."""


@dataclass(frozen=True)
class Report:
    """The report on hot spots."""

    found: HotSpots
    trials: Trials

    def as_dict(self) -> dict[str, object]:
        """For `--json`, without what is only drawn."""
        found = asdict(self.found)
        del found["curves"], found["loads"]
        paper = {
            "overhead": PAPER_OVERHEAD,
            "migration": PAPER_MIGRATION,
            "data": PAPER_DATA,
            "updates": PAPER_UPDATES,
        }
        return {**found, "paper": paper, "trials": asdict(self.trials)}


def jobs(seed: int, runs: int, seeds: int) -> list[Job | range]:
    """All jobs: the experiment, and unreliable worlds by their seeds."""
    return [*experiments.jobs(seed, runs), *seeds_of(seed, seeds)]


def run_job(job: Job | range) -> Outcome | tuple[Trial, ...]:
    """Run a job."""
    return tuple(map(tried, job)) if isinstance(job, range) else measured(job)


def make_report(every: Sequence[Job | range], outcomes: Iterable[Outcome | tuple[Trial, ...]]) -> Report:
    """The report from the results of the jobs."""
    found = dict(zip(every, outcomes, strict=True))
    runs = {job: each for job, each in found.items() if isinstance(job, Job) and isinstance(each, Outcome)}
    seeds = {job.seed for job in runs}
    trials = [trial for each in found.values() if isinstance(each, tuple) for trial in each]
    return Report(hot_spots(min(seeds), len(seeds), runs), summed_up(trials))


def summed_up(trials: list[Trial]) -> Trials:
    """All trials combined."""
    names = ("tuples", "moves", "returns", "crashes", "suspicions", "events")
    return Trials(len(trials), *(sum(getattr(each, name) for each in trials) for name in names))


def print_report(report: Report) -> None:
    """Print the report as tables."""
    found = report.found
    click.echo(f"30 peers, 10 operators, 15 minutes; means over {found.runs} runs from seed {found.seed}\n")
    rows = [[text, *_pair(found.without, found.balanced, name)] for name, text in WHAT.items()]
    print_table(["", "without", "with migrations"], rows, names=1)
    click.echo("\nMessages for 2,000 delivered tuples:\n")
    print_table(["", "paper", "ours, the first", "ours, in all"], _messages(found), names=1)
    click.echo()
    updates = [
        [f"{levels}", f"{PAPER_UPDATES.get(levels, '')}", f"{ours:.0f}"]
        for levels, ours in found.updates.items()
    ]
    print_table(["load levels", "updates: paper", "ours"], updates, names=0)
    click.echo()
    print_table(
        ["h", "l", "t, min", "migration messages", "delay, s", "spread"],
        [_sensitive(each) for each in found.sensitivity],
        names=0,
    )
    click.echo(f"\n{_trials(report.trials)}")


def _pair(without: Compared, balanced: Compared, name: str) -> list[str]:
    numbers = [getattr(each, name) for each in (without, balanced)]
    return [f"{number:,.0f}" if number >= 1000 else f"{number:.4g}" for number in numbers]


def _messages(found: HotSpots) -> list[list[str]]:
    first, whole = found.first, found.whole

    def row(text: str, paper: float, name: str) -> list[str]:
        return [text, f"{paper:g}", f"{getattr(first, name):.0f}", f"{getattr(whole, name):.0f}"]

    return [
        row("about migrations", PAPER_MIGRATION, "migration"),
        row("load updates", PAPER_UPDATES[5], "load_updates"),
        row("with tuples", PAPER_DATA, "data"),
        ["overhead", f"{PAPER_OVERHEAD:.2%}", f"{first.overhead:.2%}", f"{whole.overhead:.2%}"],
    ]


def _sensitive(each: Sensitivity) -> list[str]:
    numbers = (f"{each.migration:.0f}", f"{each.delay_s:.1f}", f"{each.spread:.2f}")
    return [f"{each.overload:g}", f"{each.imbalance:g}", f"{each.minutes}", *numbers]


def _trials(trials: Trials) -> str:
    return (
        f"{trials.seeds:,} unreliable worlds: {trials.tuples:,} tuples, {trials.moves:,} migrations, "
        f"{trials.crashes:,} crashes, {trials.suspicions:,} suspicions;\n"
        f"lost {trials.lost}, doubled {trials.doubled}; {trials.returns:,} tasks returned, "
        f"{trials.ping_pong} of them before loads were inverted"
    )


def plots(report: Report) -> dict[str, str]:
    """Figures 4 to 7 as SVG, by the names of their files."""
    found = report.found
    return {
        "hotspots-delay.svg": plotted([_delay(found)]),
        "hotspots-loads.svg": plotted([_loads(name, points) for name, points in found.loads.items()]),
        "hotspots-messages.svg": plotted([_migration(found), _updates(found)]),
    }


def _delay(found: HotSpots) -> Panel:
    lines = tuple(Series(_name(name), points) for name, points in found.curves.items())
    return Panel("(4) End-to-end delay", "minutes", "seconds", lines)


def _loads(name: str, points: Points) -> Panel:
    dots = Series(_name(name), points, dots=True, line=False)
    return Panel(f"(5) Loads, {_name(name)}", "minutes", "of each peer", (dots,))


def _migration(found: HotSpots) -> Panel:
    short = [each for each in found.sensitivity if each.minutes == 1]
    lines = tuple(
        Series(f"l = {gap:g}", _over(short, gap), dots=True)
        for gap in sorted({each.imbalance for each in short})
    )
    marks = tuple(sorted({each.overload for each in short}))
    return Panel("(6) Migration messages", "overload threshold h", COUNTED, lines, marks)


def _over(found: list[Sensitivity], imbalance: float) -> Points:
    return tuple((each.overload, each.migration) for each in found if each.imbalance == imbalance)


def _updates(found: HotSpots) -> Panel:
    ours = tuple((float(levels), updates) for levels, updates in found.updates.items())
    paper = tuple((float(levels), float(updates)) for levels, updates in PAPER_UPDATES.items())
    lines = (Series("ours", ours, dots=True), Series("paper", paper, dots=True))
    return Panel("(7) Load updates", "load levels", COUNTED, lines, tuple(levels for levels, _ in ours))


def _name(name: str) -> str:
    return {"without": "without migrations", "balanced": "with migrations"}[name]
