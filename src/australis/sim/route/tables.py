"""The tables of the paper on distributed eddies, from our runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, log

from australis.policy.route import POLICIES
from australis.sim.route import paper
from australis.sim.route.queries import Measured
from australis.sim.route.workload import TOGETHER


@dataclass(frozen=True)
class Means:
    """Geometric means by policy: the paper's, and ours."""

    table: str
    seed: int
    plans: int
    queries: int
    """How many values the means are of."""
    paper: Mapping[str, float]
    ours: Mapping[str, float]
    fixed: Mapping[str, float] | None = None
    """For data rates with shared resources: ours with fixed ones."""
    stays: Mapping[str, float] | None = None
    """For response times: the same for all tuples, including those that were eliminated."""


def response_times(table: str, found: Sequence[Measured]) -> Means:
    """Table 4.11, 4.13, 5.4 or 5.5."""
    ours = {name: mean(time for each in found for time in each.response_times[name]) for name in POLICIES}
    stays = {name: mean(time for each in found for time in each.stays[name]) for name in POLICIES}
    queries = sum(len(each.rates) for each in found)
    return Means(table, _seed(found), plans(found), queries, paper.MEANS[table], ours, stays=stays)


def data_rates(table: str, found: Sequence[Measured], fixed: Sequence[Measured] = ()) -> Means:
    """Table 4.12, 4.14, 5.3 or 5.6; the last two compared with the same worlds with fixed resources."""
    before = _rates(fixed) if fixed else None
    return Means(
        table, _seed(found), plans(found), len(found), paper.MEANS[table], _rates(found), fixed=before
    )


def plans(found: Sequence[Measured]) -> int:
    """The number of plans in all worlds."""
    return sum(TOGETHER if each.job.together else 1 for each in found)


def mean(values: Iterable[float]) -> float:
    """The geometric mean.

    >>> round(mean([1, 100]), 9)
    10.0
    """
    logs = [log(value) for value in values]
    return exp(fsum(logs) / len(logs))


def _rates(found: Sequence[Measured]) -> Mapping[str, float]:
    return {name: mean(each.data_rates[name] for each in found) for name in POLICIES}


def _seed(found: Sequence[Measured]) -> int:
    return min(each.job.seed for each in found)
