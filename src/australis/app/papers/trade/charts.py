"""Figures 8 to 11 of the paper on contracts, from our runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from australis.algebra.quality import Points
from australis.app.pictures import Panel, Series, plotted
from australis.sim.trade import MONEY, Moment, Outcome, Reaction, Result

BAR_S = 5
"""The operators moved within this many seconds form one bar."""
SHOWN_S = 80
"""How much of the convergence is shown."""


def figures(
    results: Sequence[Result], traces: Sequence[Outcome], answers: Mapping[str, Reaction]
) -> dict[str, str]:
    """SVG texts by the names of their files."""
    return {
        "market-figure-8.svg": plotted([_left(results, "excess")]),
        "market-figure-9.svg": plotted([_left(results, "capacity")]),
        "market-figure-10.svg": plotted(_speed(traces)),
        "market-figure-11.svg": plotted([_stability(title, answer) for title, answer in answers.items()]),
    }


def _left(results: Sequence[Result], what: str) -> Panel:
    titles = {
        "excess": "Excess load left, underloaded",
        "capacity": "Capacity left over, overloaded",
    }
    lines = []
    for variant in dict.fromkeys(each.variant for each in results):
        own = [each for each in results if each.variant == variant]
        before = (0.0, float(getattr(own[0], f"{what}_before")))
        after = ((float(each.contracts), float(getattr(each, f"{what}_left"))) for each in own)
        lines.append(Series(variant, (before, *after), dots=True))
    marks = tuple(dict.fromkeys(x for line in lines for x, _ in line.points))
    return Panel(titles[what], "least contracts of a node", "operators", tuple(lines), marks)


def _speed(traces: Sequence[Outcome]) -> list[Panel]:
    def panel(title: str, up: str, lines: Iterable[Series]) -> Panel:
        return Panel(title, "seconds", up, tuple(lines))

    some = [each for each in traces if each.job.variant in ("fixed", "bounded")]
    return [
        panel("(a) Cost", "tuples in flight", (Series(o.job.variant, _costs(o)) for o in traces)),
        panel(
            "(b) Movements", "in all", (Series(o.job.variant, _steps(o.moments, "movements")) for o in some)
        ),
        panel(
            "(c) Operators",
            "moved in all",
            (Series(o.job.variant, _steps(o.moments, "operators")) for o in some),
        ),
    ]


def _costs(outcome: Outcome) -> Points:
    return _shown([(each.time, each.cost / MONEY) for each in outcome.moments], outcome.cost_before / MONEY)


def _steps(moments: Sequence[Moment], what: str) -> Points:
    return _shown([(each.time, float(getattr(each, what))) for each in moments], 0.0)


def _shown(values: Sequence[tuple[int, float]], first: float) -> Points:
    """The shown part from its beginning to its end, in seconds."""
    # The last value of each half second: more would not be visible.
    steps = {1 + time // 500_000: value for time, value in values if time < SHOWN_S * 1_000_000}
    shown = [(step / 2, value) for step, value in steps.items()]
    last = shown[-1][1] if shown else first
    return ((0.0, first), *shown, (float(SHOWN_S), last))


def _stability(title: str, answer: Reaction) -> Panel:
    costs = tuple((each.time / 1_000_000, each.cost / MONEY) for each in answer.moments)
    at = [0, *(each.operators for each in answer.moments[BAR_S - 1 :: BAR_S])]
    moved = tuple(
        (BAR_S * (place + 0.5), float(after - before)) for place, (before, after) in enumerate(pairwise(at))
    )
    bars = Series(f"operators moved in {BAR_S} s", moved, bars=True)
    return Panel(title, "seconds", "tuples, operators", (Series("tuples in flight", costs), bars))
