"""Figure 11: load that comes at once, and goes again."""

from __future__ import annotations

from statistics import fmean

import pytest

from australis.sim.trade.stability import LARGE, SMALL, Reaction, Shift, shifted

RUNS = 3


@pytest.fixture(scope="module")
def answers() -> dict[tuple[str, int], list[Reaction]]:
    return {
        (variant, extra): [shifted(Shift(variant, extra, run)) for run in range(RUNS)]
        for variant in ("fixed", "bounded")
        for extra in (LARGE, SMALL)
    }


def _more(answers: list[Reaction]) -> float:
    return fmean(answer.more for answer in answers)


def test_a_large_shift_moves_some_and_a_small_one_hardly_any(
    answers: dict[tuple[str, int], list[Reaction]],
) -> None:
    for variant in ("fixed", "bounded"):
        large, small = _more(answers[variant, LARGE]), _more(answers[variant, SMALL])
        assert 20 < large < 100
        assert small < 0.3 * large


def test_one_price_moves_fewer_and_nothing_when_load_goes(
    answers: dict[tuple[str, int], list[Reaction]],
) -> None:
    assert _more(answers["fixed", LARGE]) < _more(answers["bounded", LARGE])
    assert all(answer.after == 0 for extra in (LARGE, SMALL) for answer in answers["fixed", extra])


def test_cost_rises_with_the_load_and_falls_by_movements(
    answers: dict[tuple[str, int], list[Reaction]],
) -> None:
    costs = {moment.time // 1_000_000: moment.cost for moment in answers["fixed", LARGE][0].moments}
    assert costs[59] < costs[100] < costs[60]
    assert costs[180] < costs[100]
