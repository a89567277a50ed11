"""Texts into values: what each type accepts, and that the fast and the careful way agree."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.types import BOOLEAN, DOUBLE, INT, LONG, STRING, TIMESTAMP, DataType, decimal
from australis.engine.files.texts import convert, parse_value

MONEY = decimal(10, 2)
NOON = 1_706_702_400_000_000  # 2024-01-31T12:00:00Z


def value_of(text: str, data_type: DataType, timezone: str = "UTC") -> object:
    """The value by the way of whole columns, after a check that the careful way gives the same."""
    converted = convert(pa.array([text]), data_type, timezone)
    if converted.bad_rows:
        with pytest.raises(ValueError, match=r".*"):
            parse_value(text, data_type, timezone)
        return "refused"
    column = converted.column
    assert column.type == data_type.arrow
    value = (column.cast(pa.int64()) if data_type == TIMESTAMP else column)[0].as_py()
    assert repr(value) == repr(parse_value(text, data_type, timezone))
    return value


@pytest.mark.parametrize(
    ("text", "data_type", "expected"),
    [
        ("42", INT, 42),
        ("-2147483648", INT, -(2**31)),
        ("2147483648", INT, "refused"),
        ("2147483648", LONG, 2**31),
        ("9223372036854775808", LONG, "refused"),
        ("+7", INT, 7),
        (" 7 ", INT, 7),
        ("", INT, None),
        ("7.0", INT, "refused"),
        ("0x10", INT, "refused"),
        ("1_000", INT, "refused"),
        ("٣", INT, "refused"),
        ("abc", INT, "refused"),
        ("0.1", DOUBLE, 0.1),
        ("1e3", DOUBLE, 1000.0),
        (".5", DOUBLE, 0.5),
        ("-Infinity", DOUBLE, float("-inf")),
        ("NaN", DOUBLE, float("nan")),
        ("1_0", DOUBLE, "refused"),
        ("1,5", DOUBLE, "refused"),
        ("12.5", MONEY, Decimal("12.50")),
        ("12.500", MONEY, Decimal("12.50")),
        ("12.505", MONEY, "refused"),
        ("99999999.99", MONEY, Decimal("99999999.99")),
        ("100000000", MONEY, "refused"),
        ("NaN", MONEY, "refused"),
        ("1e-99999", MONEY, "refused"),
        ("true", BOOLEAN, True),
        ("False", BOOLEAN, False),
        ("TRUE", BOOLEAN, True),
        ("1", BOOLEAN, "refused"),
        ("yes", BOOLEAN, "refused"),
    ],
)
def test_values(text: str, data_type: DataType, expected: object) -> None:
    assert repr(value_of(text, data_type)) == repr(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-31T12:00:00Z", NOON),
        ("2024-01-31 12:00:00Z", NOON),
        ("2024-01-31T14:00:00+02:00", NOON),
        ("2024-01-31T07:00:00-0500", NOON),
        ("2024-01-31T14:00+02", NOON),
        ("2024-01-31T12:00:00", NOON),
        ("2024-01-31T12:00", NOON),
        ("2024-01-31", NOON - 12 * 3_600_000_000),
        ("2024-01-31T12:00:00.5Z", NOON + 500_000),
        ("2024-01-31T12:00:00.123456789Z", NOON + 123_456),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ("0001-01-01T00:00:00+01:00", -62_135_600_400_000_000),
        ("2023-02-29T00:00:00Z", "refused"),
        ("2024-01-31T24:00:00Z", "refused"),
        ("31.1.2024", "refused"),
        ("1706702400", "refused"),
        ("20240131T120000Z", "refused"),
    ],
)
def test_moments(text: str, expected: object) -> None:
    assert value_of(text, TIMESTAMP) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-31T13:00:00", NOON),
        ("2024-01-31T12:00:00Z", NOON),
        # The clocks of Berlin skip 02:30 on 31 March 2024, and show it twice on 27 October.
        ("2024-03-31T02:30:00", 1_711_848_600_000_000),
        ("2024-10-27T02:30:00", 1_729_989_000_000_000),
    ],
)
def test_moments_without_a_zone_are_local(text: str, expected: object) -> None:
    assert value_of(text, TIMESTAMP, "Europe/Berlin") == expected


def test_strings_stay_as_they_are() -> None:
    assert convert(pa.array([" a ", "", None]), STRING, "UTC").column.to_pylist() == [" a ", "", None]


def test_a_bad_text_does_not_touch_its_neighbours() -> None:
    texts = [str(number) for number in range(5000)]
    texts[17], texts[4999] = "seventeen", ""
    converted = convert(pa.array(texts), INT, "UTC")
    assert converted.bad_rows == (17,)
    assert converted.column.to_pylist() == [*range(17), None, *range(18, 4999), None]


@given(
    st.lists(st.one_of(st.none(), st.text("0123456789.+-eE_x infaNTZ:", max_size=22))),
    st.sampled_from([0, 1, 2, 3]),
)
def test_columns_and_single_texts_agree(texts: list[str | None], which: int) -> None:
    data_type = (INT, DOUBLE, MONEY, TIMESTAMP)[which]
    converted = convert(pa.array(texts, pa.string()), data_type, "UTC")
    for row, text in enumerate(texts):
        try:
            expected = None if text is None else parse_value(text, data_type, "UTC")
        except ValueError:
            assert row in converted.bad_rows
            continue
        assert row not in converted.bad_rows
        assert repr(converted.column[row]) == repr(pa.array([expected], data_type.arrow)[0])
