"""Where windows lie, above all with doubles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from australis.reference.extents import Steps

SIZES = st.sampled_from([0.05, 0.1, 0.3, 1 / 3, 0.5, 2.0])
ADVANCES = st.sampled_from([0.05, 0.1, 0.7, 1 / 7, 3.0])
VALUES = st.floats(-100, 100) | st.integers(-1000, 1000).map(lambda tenths: tenths / 10)


def starts(steps: Steps, value: float) -> list[float]:
    return [extent.start for extent in steps.containing(value)]


def test_a_quotient_that_is_rounded_up_does_not_move_a_value_into_the_next_window() -> None:
    value, origin, advance = 7.7, -6.4, 0.1
    assert (value - origin) // advance == 141
    assert origin + 141 * advance > value
    assert origin + 140 * advance + advance <= value  # start + size would leave a gap
    assert starts(Steps(origin, advance, advance), value) == [origin + 140 * advance]


def test_a_quotient_that_is_rounded_down_does_not_leave_a_value_in_the_window_before() -> None:
    origin, advance = -7.3, 0.1
    value = origin + 65 * advance
    assert (value - origin) // advance == 64
    assert origin + 64 * advance + advance > value  # start + size would make the windows overlap
    assert starts(Steps(origin, advance, advance), value) == [value]


def test_a_size_that_is_not_a_multiple_adds_the_rest() -> None:
    found = [(extent.start, extent.end) for extent in Steps(0.5, 1.25, 0.5).containing(2.0)]
    assert found == [(1.0, 2.25), (1.5, 2.75), (2.0, 3.25)]


def test_a_size_smaller_than_the_advance_leaves_gaps() -> None:
    assert starts(Steps(3, 2, 5), 9) == [8]
    assert starts(Steps(3, 2, 5), 10) == []


def test_whole_numbers_are_exact() -> None:
    extent = Steps(1 - 2**62, 2**62 - 1, 2**60 - 1).containing(2**61)[-1]
    assert extent.end - extent.start == 2**62 - 1


@given(VALUES, VALUES | st.none(), SIZES, ADVANCES)
def test_windows_of_doubles_counted_out(
    value: float, first_start: float | None, size: float, advance: float
) -> None:
    if first_start is not None and value < first_start:
        value, first_start = first_start, value
    steps = Steps(first_start, size, advance)
    origin = 0 if first_start is None else first_start
    numbers = range(0 if first_start is not None else -5000, 5000)
    windows = [(origin + k * advance, steps._end(k)) for k in numbers]
    assert starts(steps, value) == [start for start, end in windows if start <= value < end]


@given(VALUES, VALUES | st.none(), ADVANCES)
def test_every_value_is_in_just_one_of_the_windows_that_follow_each_other(
    value: float, first_start: float | None, advance: float
) -> None:
    if first_start is not None and value < first_start:
        value, first_start = first_start, value
    assert len(Steps(first_start, advance, advance).containing(value)) == 1
