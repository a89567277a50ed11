"""Where windows start, above all with doubles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from australis.reference.starts import starts_containing


def test_a_quotient_that_is_rounded_up_does_not_move_a_value_into_the_next_window() -> None:
    value, origin, advance = 7.7, -6.4, 0.1
    assert (value - origin) // advance == 141
    assert origin + 141 * advance > value
    assert starts_containing(value, origin, 0.15, advance) == [origin + 140 * advance]


def test_a_quotient_that_is_rounded_down_does_not_leave_a_value_in_the_window_before() -> None:
    origin, advance = -7.3, 0.1
    value = origin + 65 * advance
    assert (value - origin) // advance == 64
    assert starts_containing(value, origin, 0.05, advance) == [value]


@given(
    st.floats(-100, 100),
    st.floats(-100, 100) | st.none(),
    st.sampled_from([0.1, 0.3, 1 / 3, 0.5, 2.0]),
    st.sampled_from([0.05, 0.1, 0.7, 1 / 7, 3.0]),
)
def test_starts_of_doubles_counted_out(
    value: float, first_start: float | None, size: float, advance: float
) -> None:
    if first_start is not None and value < first_start:
        value, first_start = first_start, value
    origin = 0 if first_start is None else first_start
    numbers = range(0 if first_start is not None else -5000, 5000)
    starts = [origin + k * advance for k in numbers]
    expected = [start for start in starts if start <= value < start + size]
    assert starts_containing(value, first_start, size, advance) == expected
