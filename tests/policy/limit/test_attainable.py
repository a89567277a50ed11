"""What an output can have: no delivery is worth more than its curve says, and some is worth that much."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policy.limit.networks import qualities

from australis.algebra.quality import Points, Quality, ValueGraph
from australis.policy.limit import attainable
from australis.qos.graphs import utility
from australis.qos.histograms import bins_of
from australis.qos.utility import Delivery, worth

IN_TIME_S, TOO_LATE_S, DUE = 0.5, 1e6, 1_000
GRAPH = ValueGraph("kind", categories=(("alarm", 1.0), ("note", 0.25), ("trace", 0.0)))
BINS = bins_of(GRAPH)


def is_concave(points: Points) -> bool:
    slopes = np.diff([y for _, y in points]) / np.diff([x for x, _ in points])
    return bool(np.all(np.diff(slopes) <= 1e-9))


@settings(max_examples=300, deadline=None)
@given(qualities(), st.integers(1, DUE), st.data())
def test_no_delivery_is_worth_more(quality: Quality, kept: int, data: st.DataObject) -> None:
    kept = kept if quality.loss else DUE
    in_time = data.draw(st.integers(0, kept))
    found = worth(quality, Delivery({IN_TIME_S: in_time, TOO_LATE_S: kept - in_time}, kept / DUE))
    assert found is not None
    curve = attainable(quality)
    assert is_concave(curve)
    assert found.utility <= utility(curve, in_time / DUE) + 1e-9


@settings(max_examples=100, deadline=None)
@given(qualities(), st.integers(1, DUE))
def test_what_is_not_had_in_time_is_shed_or_waits(quality: Quality, in_time: int) -> None:
    """The curve is what one of both is worth, at the points of the graphs."""
    curve, fraction = attainable(quality), in_time / DUE
    waits = worth(quality, Delivery({IN_TIME_S: in_time, TOO_LATE_S: DUE - in_time}))
    assert waits is not None
    assert waits.utility <= utility(curve, fraction) + 1e-9
    if not quality.loss:
        assert waits.utility == pytest.approx(utility(curve, fraction))
    elif quality.delay and not quality.delay[-1][1]:
        shed = worth(quality, Delivery({IN_TIME_S: in_time}, fraction))
        assert shed is not None
        assert shed.utility <= utility(curve, fraction) + 1e-9
        is_convex = not quality.loss[0][1]
        assert not is_convex or shed.utility == pytest.approx(utility(curve, fraction))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any),
    st.sampled_from(((), ((0.0, 0.0), (0.5, 0.8), (1.0, 1.0)), ((0.0, 0.2), (1.0, 1.0)))),
    st.data(),
)
def test_no_choice_of_values_is_worth_more(came: list[int], loss: Points, data: st.DataObject) -> None:
    quality = Quality(loss=loss, delay=((1, 1), (3, 0)), value=GRAPH, weight=2)
    delivered = [data.draw(st.integers(0, each)) for each in came]
    fraction = sum(delivered) / sum(came)
    if not fraction:
        return
    found = worth(quality, Delivery({IN_TIME_S: sum(delivered)}, fraction, np.array(delivered)))
    assert found is not None
    curve = attainable(quality, np.array(came))
    assert is_concave(curve)
    assert found.utility <= utility(curve, fraction) + 1e-9


def test_the_best_values_have_it() -> None:
    quality = Quality(delay=((1, 1), (3, 0)), loss=((0, 0), (1, 1)), value=GRAPH)
    curve = attainable(quality, np.array([20, 80, 0, 0]))
    # The fifth that matters most: 0.2 of the tuples by the loss graph, with nothing but the best values.
    assert utility(curve, 0.2) == pytest.approx(0.2)
    assert utility(curve, 1.0) == pytest.approx(0.2 * 1 + 0.8 * 0.25)


def test_a_graph_that_is_not_convex_is_bounded_by_its_hull() -> None:
    assert attainable(Quality(delay=((1, 1), (2, 0)), loss=((0.5, 0), (1, 1)))) == ((0.0, 0.0), (1.0, 1.0))
