"""Axes: numbered values, and where on them a condition begins to hold."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.types import DOUBLE, INT, LONG, TIMESTAMP, DataType, decimal
from australis.qos.intervals import Axis, along


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_positions_of_doubles_are_in_their_order(one: float, other: float) -> None:
    axis = Axis(DOUBLE)
    assert (axis.position(one) < axis.position(other)) == (one < other)
    assert axis.value(axis.position(one)) == one


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_beside_a_double_is_the_next_one(value: float) -> None:
    axis = Axis(DOUBLE)
    assert axis.value(axis.position(value) + 1) == math.nextafter(value, math.inf)
    assert axis.value(axis.position(value) - 1) == math.nextafter(value, -math.inf)


@pytest.mark.parametrize(
    ("type_", "first", "last"),
    [
        (INT, -(2**31), 2**31 - 1),
        (LONG, -(2**63), 2**63 - 1),
        (TIMESTAMP, -(2**63), 2**63 - 1),
        (DOUBLE, -math.inf, math.inf),
        (decimal(5, 2), Decimal("-999.99"), Decimal("999.99")),
    ],
)
def test_an_axis_has_all_values_of_its_type(type_: DataType, first: object, last: object) -> None:
    axis = Axis(type_)
    assert (axis.value(axis.first), axis.value(axis.last)) == (first, last)


@given(st.sampled_from([INT, LONG, DOUBLE, decimal(9, 2)]), st.floats(-1e8, 1e8))
def test_where_something_begins_to_hold(type_: DataType, edge: float) -> None:
    axis = Axis(type_)
    found = axis.where(lambda value: along(value, type_) >= edge)
    if found <= axis.last:
        assert along(axis.value(found), type_) >= edge
    if found > axis.first:
        assert along(axis.value(found - 1), type_) < edge


def test_a_condition_that_never_holds_begins_past_the_end() -> None:
    axis = Axis(INT)
    assert axis.where(lambda _: False) == axis.last + 1
    assert axis.where(lambda _: True) == axis.first


def test_timestamps_lie_on_graphs_in_seconds() -> None:
    assert along(1_500_000, TIMESTAMP) == 1.5
