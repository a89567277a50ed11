"""The experiments on distributed eddies: the paper's numbers and ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import click

from australis.app.papers.route import charts as eddies_charts
from australis.app.papers.route import model as eddies_model
from australis.app.showing import print_table
from australis.sim.route import (
    Job,
    Means,
    Measured,
    ResponseTimes,
    data_rates,
    queries,
    response_times,
    response_times_of_ds3,
    response_times_of_s3,
)

EXAMPLES: Mapping[str, Callable[[int], ResponseTimes]] = {
    "4.10": response_times_of_s3,
    "5.2": response_times_of_ds3,
}
WORLDS: Mapping[str, tuple[bool, bool]] = {
    "4.11": (False, False),
    "4.12": (False, False),
    "4.13": (True, False),
    "4.14": (True, False),
    "5.3": (False, True),
    "5.4": (False, True),
    "5.5": (True, True),
    "5.6": (True, True),
}
"""For tables of means: whether plans run together, and whether nodes share load."""
BESIDE = ("5.3", "5.6")
"""Tables that also need the same worlds with fixed resources."""
RATES = ("4.12", "4.14", *BESIDE)
TITLES: Mapping[str, str] = {
    "4.10": "The average response time of S3 at a rate of tuples",
    "5.2": "The average response time of DS3 at a rate of tuples, nodes sharing load",
    "4.11": "Response times, {plans} plans one at a time, {queries} queries",
    "4.12": "Maximum data rates, {plans} plans one at a time",
    "4.13": "Response times, {plans} plans, 20 together, {queries} queries",
    "4.14": "Maximum data rates, {plans} plans, 20 together",
    "5.3": "Maximum data rates, {plans} plans one at a time, nodes sharing load",
    "5.4": "Response times, {plans} plans one at a time, nodes sharing load, {queries} queries",
    "5.5": "Response times, {plans} plans, 20 together, nodes sharing load, {queries} queries",
    "5.6": "Maximum data rates, {plans} plans, 20 together, nodes sharing load",
}
Example = tuple[str, int]
"""A table of one plan of the paper, and a seed."""
Found = ResponseTimes | Means


@dataclass(frozen=True)
class Report:
    """Tables, and the runs that they are from."""

    model: eddies_model.Model | None
    tables: Mapping[str, Found]
    worlds: Sequence[Measured]

    def as_dict(self) -> dict[str, object]:
        """For `--json`: a table, or several by their numbers."""
        every: dict[str, dict[str, object]] = {"model": self.model.as_dict()} if self.model else {}
        every |= {number: _without_none(asdict(found)) for number, found in self.tables.items()}
        return next(iter(every.values())) if len(every) == 1 else dict(every)


def _without_none(found: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in found.items() if value is not None}


def jobs(tables: Sequence[str], seed: int, plans: int) -> list[Example | Job]:
    """All jobs for some tables, the longest first, without repetition."""
    kinds = dict.fromkeys(kind for table in tables if table in WORLDS for kind in _kinds(table))
    worlds = [
        job
        for together, shared in sorted(kinds, reverse=True)
        for job in queries.jobs(seed, plans, together=together, shared=shared)
    ]
    return [*worlds, *((table, seed) for table in tables if table in EXAMPLES)]


def _kinds(table: str) -> list[tuple[bool, bool]]:
    together, shared = WORLDS[table]
    return [(together, shared), *([(together, False)] if table in BESIDE else [])]


def run_job(job: Example | Job) -> ResponseTimes | Measured:
    """Run a job."""
    if isinstance(job, Job):
        return queries.measured(job)
    table, seed = job
    return EXAMPLES[table](seed)


def make_report(tables: Sequence[str], outcomes: Iterable[ResponseTimes | Measured]) -> Report:
    """Tables from the results of the jobs."""
    found = list(outcomes)
    worlds = [each for each in found if isinstance(each, Measured)]
    examples = {each.table: each for each in found if isinstance(each, ResponseTimes)}
    model = eddies_model.compute() if "model" in tables else None
    simulated = {
        number: examples.get(number) or _means(number, worlds) for number in tables if number != "model"
    }
    return Report(model, simulated, worlds)


def _means(table: str, worlds: Sequence[Measured]) -> Means:
    together, shared = WORLDS[table]

    def of(shared: bool) -> list[Measured]:
        return [each for each in worlds if (each.job.together, each.job.shared) == (together, shared)]

    if table not in RATES:
        return response_times(table, of(shared))
    return data_rates(table, of(shared), of(False) if table in BESIDE else ())


def plots(report: Report) -> dict[str, str]:
    """Pictures of the simulated tables, by the names of their files."""
    return eddies_charts.figures(report.tables, report.worlds)


def print_report(report: Report) -> None:
    """Print the tables."""
    if report.model:
        eddies_model.print_report(report.model)
    for place, (number, found) in enumerate(report.tables.items()):
        click.echo("\n" * bool(report.model or place) + f"Table {number}. {_title(number, found)}\n")
        if isinstance(found, ResponseTimes):
            _print_times(found)
        else:
            _print_means(found)


def _title(number: str, found: Found) -> str:
    return TITLES[number].format(**asdict(found))


def _print_times(found: ResponseTimes) -> None:
    rows = [
        [policy, who, *(f"{time:.2f}" for time in times[policy])]
        for policy in found.ours
        for who, times in (("paper", found.paper), ("ours", found.ours))
    ]
    print_table(["policy", "", *(f"{rate:g}" for rate in found.rates)], rows, names=2)


def _print_means(found: Means) -> None:
    kinds = {
        "paper": found.paper,
        "ours": found.ours,
        "ours, fixed": found.fixed,
        "ours, all tuples": found.stays,
    }
    told = {name: numbers for name, numbers in kinds.items() if numbers}
    rows = [[policy, *(_short(numbers[policy]) for numbers in told.values())] for policy in found.ours]
    print_table(["policy", *told], rows, names=1)


def _short(number: float) -> str:
    """A number with three digits, or all those before the point.

    >>> _short(1.917), _short(27.14), _short(1314.6)
    ('1.92', '27.1', '1315')
    """
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"
