"""The experiments on recovery, simulated: the costs and benefits of checkpoints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import click

from australis.app.papers.jobs import seeds_of
from australis.app.pictures import Panel, Series, plotted
from australis.app.showing import print_table
from australis.sim.recover import (
    Frequency,
    Traded,
    Trial,
    Volume,
    frequencies,
    machines,
    traded,
    tried,
    volume,
)


@dataclass(frozen=True)
class Trials:
    """Networks in which servers failed: the counts, and the errors."""

    seeds: int
    tuples: int
    crashes: int
    failed: int
    begun: int
    events: int
    lost: int = 0
    wrong: int = 0
    """These two would have ended the run, with the seed."""


@dataclass(frozen=True)
class Report:
    """The report on recovery."""

    seed: int
    volumes: list[Volume]
    granularities: list[Traded]
    trials: Trials

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return asdict(self)


AnyJob = Frequency | int | range
"""A frequency of checkpoints, a number of virtual machines, or networks by their seeds."""
AnyOutcome = Volume | Traded | tuple[Trial, ...]


def jobs(seed: int, seeds: int) -> list[AnyJob]:
    """All jobs."""
    return [*frequencies(), *machines(), *seeds_of(seed, seeds)]


def run_job(job: AnyJob) -> AnyOutcome:
    """Run a job."""
    if isinstance(job, int):
        return traded(job)
    return tuple(map(tried, job)) if isinstance(job, range) else volume(job)


def make_report(seed: int, outcomes: Iterable[AnyOutcome]) -> Report:
    """The report from the results of the jobs."""
    found = list(outcomes)
    volumes = [each for each in found if isinstance(each, Volume)]
    granularities = [each for each in found if isinstance(each, Traded)]
    trials = [trial for each in found if not isinstance(each, Volume | Traded) for trial in each]
    return Report(seed, volumes, granularities, summed_up(trials))


def summed_up(trials: list[Trial]) -> Trials:
    """All trials combined."""
    names = ("tuples", "crashes", "failed", "begun", "events")
    return Trials(len(trials), *(sum(getattr(each, name) for each in trials) for name in names))


def print_report(report: Report) -> None:
    """Print the report as tables."""
    click.echo("One of four servers in a chain fails; recovery does not include the time to detect it.\n")
    print_table(
        ["k", "by", "every, s", "messages/tuple", "queue", "longest", "recovery, s", "redone"],
        [_volume_row(each) for each in report.volumes],
        names=0,
    )
    click.echo("\nOne server with eight boxes on virtual machines:\n")
    print_table(
        ["virtual machines", "messages/tuple", "redone, s", "foreseen, s", "recovery, s"],
        [_traded_row(each) for each in report.granularities],
        names=0,
    )
    trials = report.trials
    click.echo(
        f"\n{trials.seeds:,} networks with up to k of k-safe servers crashed: {trials.tuples:,} messages, "
        f"{trials.crashes:,} crashes,\n{trials.failed:,} servers failed, {trials.begun:,} restarted; "
        f"lost {trials.lost}, wrong {trials.wrong}"
    )


def _volume_row(each: Volume) -> list[str]:
    return [
        f"{each.k}",
        each.technique,
        f"{each.flow_s:g}",
        f"{each.messages:.3f}",
        f"{each.queue:.0f}",
        f"{each.queue_max}",
        f"{each.recovery_s:.2f}",
        f"{each.redone:.0f}",
    ]


def _traded_row(each: Traded) -> list[str]:
    seconds = (each.redone_s, each.foreseen_s, each.recovery_s)
    return [f"{each.machines}", f"{each.messages:.2f}", *(f"{time:.3f}" for time in seconds)]


def plots(report: Report) -> dict[str, str]:
    """Pictures as SVG, by the names of their files."""
    across = "messages about checkpoints, per tuple"
    queue = Panel("Output queues", across, "tuples, mean", _lines(report, "queue"))
    recovery = Panel("Recovery time", across, "seconds, once detected", _lines(report, "recovery_s"))
    told = tuple((each.messages, each.redone_s) for each in report.granularities)
    machines = Panel(
        "Virtual machines",
        "messages to the backup, per tuple",
        "seconds to redo",
        (Series("1 to 8 virtual machines", told, dots=True),),
    )
    return {
        "recovery-checkpoints.svg": plotted([queue, recovery]),
        "recovery-virtual-machines.svg": plotted([machines]),
    }


def _lines(report: Report, what: str) -> tuple[Series, ...]:
    kinds = dict.fromkeys((each.k, each.technique) for each in report.volumes)
    return tuple(
        Series(f"k = {k}, {technique}", _points(report, k, technique, what), dots=True)
        for k, technique in kinds
    )


def _points(report: Report, k: int, technique: str, what: str) -> tuple[tuple[float, float], ...]:
    own = [each for each in report.volumes if (each.k, each.technique) == (k, technique)]
    return tuple((each.messages, getattr(each, what)) for each in own)
