"""What the quarantine says about a tuple."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from australis.algebra.quarantine_text import order_reason, timestamp_text, tuple_as_json
from australis.algebra.schema import parse_schema


def test_a_tuple_as_json_is_in_the_order_of_its_schema() -> None:
    schema = parse_schema("b boolean, s string, l long, d double, p decimal(38,3), t timestamp")
    values = {
        "t": 1_000_001,
        "p": Decimal("12345678901234567890123456789012345.1"),
        "d": -0.0,
        "l": 2**63 - 1,
        "s": 'é "quoted"',
        "b": None,
    }
    assert tuple_as_json(values, schema) == (
        '{"b": null, "s": "é \\"quoted\\"", "l": 9223372036854775807, "d": -0.0, '
        '"p": "12345678901234567890123456789012345.100", "t": "1970-01-01T00:00:01.000001Z"}'
    )


@pytest.mark.parametrize(
    ("value", "text"), [(float("nan"), "NaN"), (float("inf"), "Infinity"), (float("-inf"), "-Infinity")]
)
def test_doubles_that_json_has_no_number_for_are_texts(value: float, text: str) -> None:
    assert json.loads(tuple_as_json({"d": value}, parse_schema("d double"))) == {"d": text}


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (253402300799_999_999, "9999-12-31T23:59:59.999999Z"),
        (253402300800_000_000, "253402300800000000 us"),
        (-(2**63), "-9223372036854775808 us"),
    ],
)
def test_times_outside_the_years_1_to_9999_are_numbers(microseconds: int, text: str) -> None:
    assert timestamp_text(microseconds) == text


def test_the_limits_of_an_order() -> None:
    assert order_reason("a", 2**62 - 1) is None
    assert order_reason("a", -(2**62)) == "'a' is 2^62 or more in magnitude, which has no place in an order"
    assert order_reason("a", 2.0**50, advance=1.0) is None
    assert order_reason("a", 2.0**51, advance=None) is None
    assert order_reason("a", 2.0**51, advance=1.0) is not None
