"""Histograms of times: short, and the delays that follow from them are right within a hundredth."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from australis.engine.worker.counts import EXACT_STEPS, PER_OCTAVE, time_counts
from australis.engine.worker.waybill import ARRIVAL_STEP_US

DAY_US = 86_400_000_000
TIMES = st.lists(st.integers(-(10**15), 10**15) | st.integers(0, DAY_US), max_size=50)


@given(TIMES, st.integers(0, DAY_US))
def test_delays_are_right_within_a_hundredth(times: list[int], waited: int) -> None:
    found = time_counts(np.array(times, np.int64))
    assert sum(tuples for _, tuples in found) == len(times)
    assert [time for time, _ in found] == sorted(time for time, _ in found)
    about = [time for time, tuples in found for _ in range(tuples)]
    now = max(times, default=0) + waited
    for time, right in zip(about, sorted(times), strict=True):
        error = abs((now - time) - (now - right))
        assert error <= ARRIVAL_STEP_US + (now - right) * 1.2 / PER_OCTAVE


def test_times_that_are_near_are_exact() -> None:
    times = np.repeat(np.arange(EXACT_STEPS) * ARRIVAL_STEP_US, 3)
    assert time_counts(times) == [(step * ARRIVAL_STEP_US, 3) for step in range(EXACT_STEPS)]


def test_a_backlog_of_a_day_has_a_short_histogram() -> None:
    times = np.arange(1_000_000) * (DAY_US // 1_000_000)
    assert len(time_counts(times)) < 1_500
