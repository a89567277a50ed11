"""Pictures of the experiments on distributed eddies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from australis.algebra.quality import Points
from australis.app.pictures import Panel, Series, plotted
from australis.policy.route import POLICIES
from australis.sim.route import Means, Measured, ResponseTimes, mean

NAMES = {"4.10": "eddies-s3.svg", "5.2": "eddies-ds3.svg"}
WORLDS = {
    (False, False): ("eddies-plans.svg", "one plan"),
    (False, True): ("eddies-plans-shared.svg", "one plan, shared load"),
    (True, False): ("eddies-together.svg", "20 plans"),
    (True, True): ("eddies-together-shared.svg", "20 plans, shared load"),
}
"""By whether plans run together, and whether nodes share load."""


def figures(tables: Mapping[str, ResponseTimes | Means], worlds: Sequence[Measured]) -> dict[str, str]:
    """SVG texts by the names of their files."""
    drawn = {
        NAMES[number]: plotted(
            [
                _times(f"({number}) Paper", found.rates, found.paper),
                _times(f"({number}) Ours", found.rates, found.ours),
            ]
        )
        for number, found in tables.items()
        if isinstance(found, ResponseTimes)
    }
    for kind, (name, title) in WORLDS.items():
        own = [each for each in worlds if (each.job.together, each.job.shared) == kind]
        if own:
            drawn[name] = plotted([_over_rates(title, own), _over_plans(title, own)])
    return drawn


def _times(title: str, rates: tuple[float, ...], times: Mapping[str, tuple[float, ...]]) -> Panel:
    lines = tuple(
        Series(policy, tuple(zip(rates, times[policy], strict=True)), dots=True) for policy in POLICIES
    )
    return Panel(title, "tuples per unit of time", "average response time", lines, rates)


def _over_rates(title: str, worlds: Sequence[Measured]) -> Panel:
    """Response times at the rates of queries, as fractions of a world's highest rate."""
    lines = tuple(Series(policy, _curve(policy, worlds), dots=True) for policy in POLICIES)
    return Panel(f"Response time, {title}", "fraction of the highest rate", "geometric mean", lines)


def _curve(policy: str, worlds: Sequence[Measured]) -> Points:
    return tuple(
        (part, mean(each.response_times[policy][place] for each in worlds))
        for place, part in enumerate(worlds[0].parts)
    )


def _over_plans(title: str, worlds: Sequence[Measured]) -> Panel:
    """Maximum data rates of worlds, sorted for each policy."""
    lines = tuple(Series(policy, _sorted(policy, worlds)) for policy in POLICIES)
    return Panel(
        f"Maximum data rate, {title}", "% of worlds that take less", "tuples per unit of time", lines
    )


def _sorted(policy: str, worlds: Sequence[Measured]) -> Points:
    rates = sorted(each.data_rates[policy] for each in worlds)
    return tuple((100 * (place + 0.5) / len(rates), rate) for place, rate in enumerate(rates))
