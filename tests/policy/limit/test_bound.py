"""The bound is what an exhaustive search and a linear program find, and it is what it says."""

from __future__ import annotations

from itertools import chain, combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.policy.limit.networks import STAGES, TENTHS, works

from australis.policy.limit import Work, bound
from australis.policy.limit.selection import worthwhile

CAPACITIES = st.floats(0, 4)
STEPS = 20


@settings(max_examples=300, deadline=None)
@given(works(), CAPACITIES)
def test_no_fractions_are_better(work: Work, capacity: float) -> None:
    """An exhaustive search along a grid: the best fractions, rounded down to it, lose little."""
    found = bound(work, capacity)
    best = max(
        work.utility(fractions)
        for each in product(range(STEPS + 1), repeat=len(work.ways))
        if work.needs(fractions := {name: n / STEPS for name, n in zip(work.ways, each, strict=True)})
        <= capacity + 1e-9
    )
    steepest = sum(max((_slopes(points)), default=0.0) for points in work.curves.values())
    assert best - 1e-6 <= found.utility <= best + steepest / STEPS + 1e-6


@settings(max_examples=300, deadline=None)
@given(works(), CAPACITIES)
def test_it_is_the_optimum_of_the_linear_program(work: Work, capacity: float) -> None:
    assert bound(work, capacity).utility == pytest.approx(_by_linear_program(work, capacity), abs=1e-6)


@settings(max_examples=300, deadline=None)
@given(works(), CAPACITIES)
def test_its_fractions_have_it_and_fit(work: Work, capacity: float) -> None:
    found = bound(work, capacity)
    assert all(-1e-9 <= each <= 1 + 1e-9 for each in found.fractions.values())
    assert work.needs(found.fractions) <= capacity + 1e-6
    assert work.utility(found.fractions) == pytest.approx(found.utility, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(works(), CAPACITIES, CAPACITIES)
def test_more_capacity_is_never_worth_less_nor_each_bit_of_it_more(
    work: Work, one: float, other: float
) -> None:
    low, middle, high = (
        bound(work, each).utility for each in (min(one, other), (one + other) / 2, max(one, other))
    )
    assert low <= middle + 1e-6
    assert middle <= high + 1e-6
    assert middle >= (low + high) / 2 - 1e-6


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(st.sampled_from("abcde"), st.integers(-3, 9), min_size=1),
    st.fixed_dictionaries(dict.fromkeys(STAGES, st.integers(0, 9))),
    st.data(),
)
def test_worthwhile_outputs_are_the_best_of_all_sets(
    gains: dict[str, int], costs: dict[str, int], data: st.DataObject
) -> None:
    needs = {name: tuple(data.draw(st.sets(st.sampled_from(STAGES)))) for name in gains}

    def worth(chosen: tuple[str, ...]) -> float:
        return sum(gains[name] for name in chosen) - sum(
            costs[stage] for stage in {stage for name in chosen for stage in needs[name]}
        )

    sets = list(chain.from_iterable(combinations(sorted(gains), size) for size in range(len(gains) + 1)))
    best = max(map(worth, sets))
    found = worthwhile(gains, costs, needs)
    assert worth(tuple(found)) == best
    assert found <= min((set(each) for each in sets if worth(each) == best), key=len), "the least of the best"


def test_an_output_pays_for_a_shared_stage_with_another() -> None:
    """Neither is worth the stage alone; and who can pay for nothing else leaves the stage to others."""
    curves = dict.fromkeys("abc", ((0.0, 0.0), (1.0, 1.0)))
    work = Work({"s": 1.0, "t": 0.1}, {"a": ("s",), "b": ("s",), "c": ("t",)}, curves)
    assert bound(work, 1.1).utility == pytest.approx(3)
    assert bound(work, 0.6).utility == pytest.approx(2)
    assert bound(work, 0.6).fractions == pytest.approx({"a": 0.5, "b": 0.5, "c": 1.0})


def test_an_output_for_which_all_is_free_has_all() -> None:
    work = Work(
        {"s": 0.0}, {"a": ("s",), "b": ()}, {"a": ((0.0, 0.0), (1.0, 2.0)), "b": ((0.0, 1.0), (1.0, 1.0))}
    )
    assert bound(work, 0.0).utility == 3


@given(st.lists(TENTHS, min_size=1, max_size=30), st.floats(0.01, 3))
@settings(max_examples=30, deadline=None)
def test_many_outputs_after_one_stage(costs: list[float], capacity: float) -> None:
    """The dearest outputs come last, as weights are alike."""
    stages = {"s": 0.0, **{str(index): cost for index, cost in enumerate(costs)}}
    ways = {str(index): ("s", str(index)) for index in range(len(costs))}
    found = bound(Work(stages, ways, dict.fromkeys(ways, ((0.0, 0.0), (1.0, 1.0)))), capacity)
    expected, rest = 0.0, capacity
    for cost in sorted(costs):
        part = 1.0 if cost <= rest else rest / cost
        expected, rest = expected + part, max(rest - cost, 0.0)
    assert found.utility == pytest.approx(expected, abs=1e-6)


def _slopes(points: tuple[tuple[float, float], ...]) -> list[float]:
    return [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(points)]


def _by_linear_program(work: Work, capacity: float) -> float:
    """The same, stated as a linear program: variables are the pieces of curves, and the parts of stages."""
    pieces = [
        (name, x1 - x0, slope)
        for name, points in work.curves.items()
        for ((x0, _), (x1, _)), slope in zip(pairwise(points), _slopes(points), strict=True)
    ]
    stages, count = list(work.stages), len(pieces)
    rows = []
    for name, way in work.ways.items():
        for stage in way:
            row = np.zeros(count + len(stages))
            row[[index for index, piece in enumerate(pieces) if piece[0] == name]] = 1.0
            row[count + stages.index(stage)] = -1.0
            rows.append((row, 0.0))
    rows.append((np.array([0.0] * count + [work.stages[stage] for stage in stages]), capacity))
    found = linprog(
        [-slope for _, _, slope in pieces] + [0.0] * len(stages),
        A_ub=np.array([row for row, _ in rows]),
        b_ub=[most for _, most in rows],
        bounds=[(0, length) for _, length, _ in pieces] + [(0, 1)] * len(stages),
    )
    return float(sum(points[0][1] for points in work.curves.values()) - found.fun)
