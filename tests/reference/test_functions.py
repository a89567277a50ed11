"""The window functions mean what Spark's aggregates of the same names mean."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from australis.algebra.expr import parse_window
from australis.algebra.schema import parse_schema
from australis.algebra.user_functions import register_aggregate
from australis.reference.functions import window_value

NAN, INF = float("nan"), float("inf")


def result(text: str, schema: str, *values: Any) -> Any:
    """The result of the one call in a text, over a window with these values of `x`."""
    [call] = parse_window(text).bind(parse_schema(schema)).calls
    return window_value(call, [{"x": value} for value in values], "UTC")


@pytest.mark.parametrize(
    ("text", "schema", "values", "expected"),
    [
        ("count(*)", "x int", [1, None, 1], 3),
        ("count(x)", "x int", [1, None, 1], 2),
        ("count(distinct x)", "x int", [1, None, 1, 2], 2),
        ("count(distinct x)", "x double", [NAN, NAN, 0.0, -0.0], 2),
        ("sum(x)", "x int", [1, None, 2], 3),
        ("sum(x)", "x int", [2**31 - 1, 1], 2**31),
        ("sum(x)", "x long", [2**63 - 1, 1], -(2**63)),
        ("sum(x)", "x double", [0.1, 0.2, 0.3], 0.1 + 0.2 + 0.3),
        ("sum(x)", "x double", [1e16, 1.0, -1e16], 0.0),
        ("sum(x)", "x decimal(5,2)", [Decimal("1.10"), Decimal("2.05")], Decimal("3.15")),
        ("sum(x)", "x decimal(38,0)", [Decimal(10**38 - 1), Decimal(1), Decimal(-5)], None),
        ("avg(x)", "x int", [1, None, 2], 1.5),
        (
            "avg(x)",
            "x decimal(5,2)",
            [Decimal("1.00"), Decimal("1.00"), Decimal("2.00")],
            Decimal("1.333333"),
        ),
        ("avg(x)", "x decimal(5,2)", [Decimal("-0.01")] * 2 + [Decimal(0)], Decimal("-0.006667")),
        ("min(x)", "x double", [3.0, NAN, None, -INF], -INF),
        ("max(x)", "x double", [3.0, INF, None], INF),
        ("min(x)", "x string", ["b", "a", None, "B"], "B"),
        ("max(x)", "x string", ["\ufffd", "\U00010000"], "\U00010000"),
        ("max(x)", "x boolean", [False, True, None], True),
        ("first(x)", "x int", [None, 1, 2], None),
        ("last(x)", "x int", [1, 2, None], None),
        ("stddev(x)", "x int", [2, 4, None, 6], 2.0),
        ("stddev(x)", "x int", [2], None),
        ("first(x order by x desc)", "x int", [None, 1, 3, 2], 3),
        ("last(x order by x)", "x int", [1, None, 3], None),
        ("last(x order by x desc)", "x int", [1, None, 3], None),
        ("last(x order by x % 2, x > 2 desc)", "x int", [3, 1, 2, 5], 1),
        ("last(x order by x % 2)", "x int", [3, 1, 2, 5, 4], 5),
        ("first(x order by x % 2)", "x int", [3, 2, 6, 4], 2),
        ("first(x order by x % 2, x desc)", "x int", [3, 2, 6, 4], 6),
        ("first(x order by x)", "x int", [], None),
        ("size(collect_list(x, 3))", "x string", ["b", None, "a", "b", "c"], ["b", "a", "b"]),
        ("size(collect_set(x, 3))", "x string", ["b", None, "a", "b", "c", "d"], ["b", "a", "c"]),
        ("size(collect_set(x, 3))", "x string", [None], []),
        ("median(x)", "x int", [9, 1, None, 4], 4.0),
        ("median(x)", "x int", [9, 1, 4, 2], 3.0),
        ("percentile(x, 0.25)", "x int", [9, 1, None, 4, 2], 1.75),
        ("percentile(x, 1)", "x int", [9, 1, None, 4], 9.0),
        ("sum(x * 2)", "x int", [1, 2], 6),
    ],
)
def test_values(text: str, schema: str, values: list[Any], expected: Any) -> None:
    found = result(text, schema, *values)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("text", ["sum(x)", "avg(x)", "min(x)", "max(x)", "stddev(x)", "median(x)"])
@pytest.mark.parametrize("schema", ["x int", "x double", "x decimal(10,2)"])
def test_a_window_of_nulls_has_no_value(text: str, schema: str) -> None:
    assert result(text, schema, None, None) is None


def test_nan_is_greater_than_all_other_numbers() -> None:
    assert math.isnan(result("max(x)", "x double", 1.0, NAN, INF))
    assert result("median(x)", "x double", NAN, 1.0, 2.0) == 2.0


@pytest.fixture
def spread() -> str:
    register_aggregate(
        "tests:spread",
        init=lambda: [None, None],
        incr=lambda state, x: [x if state[0] is None else state[0], x],
        final=lambda state: None if state[1] is None else state[1] - state[0],
        takes=("int",),
        returns="double",
    )
    return "`tests:spread`(x)"


def test_user_aggregates_see_every_tuple_in_order(spread: str) -> None:
    found = result(spread, "x int", 3, 5, 10)
    assert found == 7.0
    assert isinstance(found, float)
    assert result(spread, "x int", 3, None) is None
