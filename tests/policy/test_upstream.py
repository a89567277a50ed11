"""Graphs of inner streams: those of the outputs behind them, moved upstream and added."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.quality import Quality, ValueGraph
from australis.policy.upstream import POINTS_MOST, Downstream, inferred, later, together
from australis.qos.graphs import utility

FRACTIONS = st.floats(0.05, 1.0)
LATE = Quality(delay=((0, 1), (2, 1), (6, 0)), loss=((0, 0), (0.5, 0.9), (1, 1)))


def descending(draw: Any) -> tuple[tuple[float, float], ...]:
    xs = sorted(draw(st.sets(st.integers(0, 60), min_size=1, max_size=6)))
    ys = sorted(draw(st.lists(st.floats(0, 1), min_size=len(xs), max_size=len(xs))), reverse=True)
    return tuple(zip(map(float, xs), [1.0, *ys[1:]], strict=True))


@st.composite
def outputs(draw: Any) -> list[Downstream]:
    found = []
    for _ in range(draw(st.integers(1, 5))):
        delay = descending(draw) if draw(st.booleans()) else ()
        loss = tuple((x / 60, y) for x, y in reversed([(60 - x, y) for x, y in descending(draw)]))
        weight = draw(st.floats(0.1, 10))
        quality = Quality(delay=delay, loss=loss if draw(st.booleans()) else (), weight=weight)
        kept = draw(st.one_of(st.just(1.0), FRACTIONS))
        found.append(Downstream(quality, draw(FRACTIONS), draw(st.floats(0, 30)), kept))
    return found


def test_the_way_that_is_left_shifts_a_delay_graph() -> None:
    found = inferred([Downstream(LATE, delay_s=1.5)])
    assert found is not None
    assert found.delay == ((0.0, 1.0), (0.5, 1.0), (4.5, 0.0))
    assert later(LATE, 0.5).delay == ((0.0, 1.0), (1.5, 1.0), (5.5, 0.0))


def test_what_is_late_beyond_leaves_a_part_of_the_good_zone() -> None:
    """This node cannot mend it: it still sheds by the rest of the graph, and not everything."""
    found = inferred([Downstream(LATE, delay_s=60)])
    assert found is not None
    assert found.delay[1][0] == pytest.approx(0.4)


def test_a_stream_that_has_a_part_in_an_output_loses_only_that_part() -> None:
    found = inferred([Downstream(Quality(loss=((0, 0), (1, 1))), share=0.25)])
    assert found is not None
    assert found.loss == ((0.0, 0.75), (1.0, 1.0))


def test_what_is_shed_beyond_moves_the_curve() -> None:
    """Half is shed there already: the first tuples that are shed here cost what the next half costs."""
    found = inferred([Downstream(LATE, kept=0.5)])
    assert found is not None
    assert found.loss == ((0.0, 0.0), (1.0, 1.0))


def test_what_may_lose_nothing_beyond_may_lose_nothing_here() -> None:
    found = inferred([Downstream(LATE), Downstream(Quality(delay=((0, 1), (9, 0))))])
    assert found is not None
    assert found.loss == ()
    assert found.delay
    assert inferred([Downstream(Quality())]) is None
    assert inferred([]) is None
    valued = inferred([Downstream(Quality(value=ValueGraph("v", ((0, 0), (1, 1)))))])
    assert valued is not None
    assert valued.loss == ((0.0, 0.0), (1.0, 1.0))


def test_outputs_count_by_their_weights() -> None:
    heavy, light = Quality(delay=((0, 1), (1, 0)), weight=3), Quality(delay=((0, 1), (10, 0)))
    found = together([heavy, light])
    assert found is not None
    assert found.weight == 4
    assert utility(found.delay, 1.0) == pytest.approx(0.9 / 4)


@given(outputs())
def test_graphs_are_sound_and_what_their_sum_says(behind: list[Downstream]) -> None:
    """They are what `Quality` admits, in few points, and differ from the sum by rounding alone."""
    found = inferred(behind)
    if found is None:
        assert not any(each.quality.delay or each.quality.loss for each in behind)
        return
    assert len(found.delay) <= POINTS_MOST
    assert len(found.loss) <= POINTS_MOST
    if found.loss:
        whole = sum(each.quality.weight * utility(each.quality.loss, each.kept) for each in behind)
        kept = [each.kept if whole else 1.0 for each in behind]
        whole = whole or sum(each.quality.weight for each in behind)
        for x in np.linspace(0, 1, 7):
            parts = (
                each.quality.weight * utility(each.quality.loss, k * (1 - each.share * (1 - x)))
                for each, k in zip(behind, kept, strict=True)
            )
            assert utility(found.loss, x) == pytest.approx(sum(parts) / whole, abs=1e-6)
    assert all(before[1] >= after[1] for before, after in pairwise(found.delay))
