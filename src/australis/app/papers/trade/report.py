"""The market of the paper on contracts, simulated: its numbers and ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

import click

from australis.app.papers.trade.charts import figures
from australis.app.showing import print_table
from australis.sim.trade import (
    LARGE,
    NODES,
    PAPER_GRAPHS,
    SMALL,
    VARIANTS,
    Graphs,
    Job,
    Outcome,
    Reaction,
    Result,
    Shift,
    experiments,
    measured,
    shifted,
    summed_up,
    table_1,
)

TRACED = 5
"""The least contracts in Figure 10."""
PAPER_EXCESS = {
    ("fixed", 10): "> 99 %",
    ("bounded", 7): "all",
    ("bounded", 10): "all",
    ("random", 10): "94 %",
}
PAPER_CAPACITY = {("fixed", 10): "> 95 %", ("bounded", 10): "> 98 %"}
NOTES = """\
Excess moved: of what nodes have above 14 operators, underloaded. Capacity used: of the room, overloaded.
15 s: the part of the fall in cost within 15 s of the first movement; nearly all of it in the paper."""
SHIFT_NOTE = """\
Operators moved when 100 (30 %) or 50 (15 %) more come to 10 of 50 nodes, and when these end again."""


@dataclass(frozen=True)
class Stability:
    """Operators that are moved when load arrives and leaves: means over runs."""

    variant: str
    extra: int
    """Operators for each of ten nodes."""
    moved_more: float
    moved_after: float


@dataclass(frozen=True)
class Report:
    """The report on the market."""

    nodes: int
    runs: int
    seed: int
    results: list[Result]
    graphs: list[Graphs]
    stability: list[Stability]

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return {**asdict(self), "graphs": [each._asdict() for each in self.graphs]}


@dataclass(frozen=True)
class GraphJob:
    """A row of Table 1, to be computed."""

    least: int
    nodes: int
    runs: int
    seed: int


AnyJob = Job | GraphJob | Shift
AnyOutcome = Outcome | Graphs | Reaction


def jobs(
    variants: Sequence[str], contracts: Sequence[int], *, nodes: int, runs: int, seed: int, even: bool
) -> list[AnyJob]:
    """All jobs: for Figures 8 and 9, for Table 1 and for Figure 11."""
    shifts = [
        Shift(name, extra, run, seed) for name in variants for extra in (LARGE, SMALL) for run in range(runs)
    ]
    return [
        *experiments.jobs(variants, contracts, nodes=nodes, runs=runs, seed=seed, even=even),
        *(GraphJob(least, nodes, runs, seed) for least in contracts),
        *shifts,
    ]


def run_job(job: AnyJob) -> AnyOutcome:
    """Run a job."""
    if isinstance(job, GraphJob):
        return table_1(job.least, nodes=job.nodes, runs=job.runs, seed=job.seed)
    return shifted(job) if isinstance(job, Shift) else measured(job)


def make_report(every: Sequence[AnyJob], outcomes: Iterable[AnyOutcome]) -> Report:
    """The report from the results of the jobs."""
    found = list(outcomes)
    first = next(job for job in every if isinstance(job, GraphJob))
    reactions = [each for each in found if isinstance(each, Reaction)]
    return Report(
        first.nodes,
        first.runs,
        first.seed,
        summed_up(each for each in found if isinstance(each, Outcome)),
        [each for each in found if isinstance(each, Graphs)],
        stability(reactions),
    )


def stability(reactions: Iterable[Reaction]) -> list[Stability]:
    """Figure 11: means over runs, by variant and load."""
    groups: dict[tuple[str, int], list[Reaction]] = {}
    for each in reactions:
        groups.setdefault((each.shift.variant, each.shift.extra), []).append(each)
    return [
        Stability(variant, extra, fmean(each.more for each in group), fmean(each.after for each in group))
        for (variant, extra), group in groups.items()
    ]


def plots(report: Report) -> dict[str, str]:
    """Figures 8 to 11 as SVG, by the names of their files."""
    seed, nodes = report.seed, report.nodes
    shown = dict.fromkeys(each.variant for each in report.results)
    traces = [measured(Job(name, "underload", TRACED, 0, seed, nodes, traced=True)) for name in shown]
    answers = {
        "(a) 30 % more, bounded prices": shifted(Shift("bounded", LARGE, 0, seed)),
        "(b) 15 % more, bounded prices": shifted(Shift("bounded", SMALL, 0, seed)),
        "(c) 30 % more, fixed prices": shifted(Shift("fixed", LARGE, 0, seed)),
    }
    return figures(report.results, traces, answers)


def print_report(report: Report) -> None:
    """Print the report as tables."""
    click.echo(f"{report.nodes} nodes, means over {report.runs} runs, seed {report.seed}\n")
    headers = ["least contracts", "most: paper", "ours", "diameter: paper", "ours", "longest way"]
    # The paper's are for its 995 nodes.
    paper = PAPER_GRAPHS if report.nodes == NODES else {}
    print_table(headers, (_graph_row(row, *paper.get(row.least, ("", ""))) for row in report.graphs), names=0)
    click.echo()
    print_table(
        ["prices", "least", "excess moved", "paper", "capacity used", "paper", "15 s"],
        (_result_row(row, report.nodes == NODES) for row in report.results),
        names=1,
    )
    click.echo(f"\n{NOTES}\n")
    print_table(["prices", "30 %: moved", "ended", "15 %: moved", "ended"], _shift_rows(report), names=1)
    click.echo(f"\n{SHIFT_NOTE}")


def _graph_row(row: Graphs, most: int | str, diameter: int | str) -> list[str]:
    ours = (f"{row.diameter:.1f}", f"{row.longest:.1f}")
    return [f"{row.least}", f"{most}", f"{row.most:.1f}", f"{diameter}", *ours]


def _result_row(row: Result, beside: bool) -> list[str]:
    key = (row.variant, row.contracts) if beside else ("", 0)
    return [
        row.variant,
        f"{row.contracts}",
        f"{row.excess_moved:.1%}",
        PAPER_EXCESS.get(key, ""),
        f"{row.capacity_used:.1%}",
        PAPER_CAPACITY.get(key, ""),
        f"{row.soon:.0%}",
    ]


def _shift_rows(report: Report) -> Iterable[list[str]]:
    for variant in VARIANTS:
        own = {each.extra: each for each in report.stability if each.variant == variant}
        if own:
            told = [(own[extra].moved_more, own[extra].moved_after) for extra in (LARGE, SMALL)]
            yield [variant, *(f"{moved:.1f}" for pair in told for moved in pair)]
