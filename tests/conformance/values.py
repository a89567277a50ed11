"""Random schemas and rows, with every value that evaluators are known to stumble over."""

from __future__ import annotations

import math
from decimal import Context, Decimal

from hypothesis import strategies as st

from australis.algebra.expr import Value
from australis.algebra.schema import Field, Schema
from australis.algebra.types import BOOLEAN, DOUBLE, INT, LONG, STRING, TIMESTAMP, DataType, decimal

ZONES = ("UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kolkata")
KINDS = ("int", "long", "double", "decimal", "string", "boolean", "timestamp")
_US = 1_000_000
_WIDE = Context(prec=60)

_INTS = [
    0,
    1,
    -1,
    2,
    3,
    7,
    10,
    12,
    31,
    60,
    100,
    255,
    256,
    365,
    1000,
    2**31 - 1,
    -(2**31),
    2**30,
    -(2**31) + 1,
]
_LONGS = [
    *_INTS,
    2**31,
    -(2**31) - 1,
    2**53,
    2**53 + 1,
    10**12,
    10**18,
    2**62,
    2**63 - 1,
    -(2**63),
    -(2**63) + 1,
]
_DOUBLES = [
    *(0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, 3.5, -2.5, 0.1, 0.2, 0.3, 1.005, 2.675, 1e-5, 1e-7),
    *(math.nan, math.inf, -math.inf, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e22, 1e23),
    *(
        2.0**31,
        -(2.0**31) - 1,
        2.0**53,
        2.0**53 + 2,
        2.0**63,
        -(2.0**63),
        9.223372036854775e18,
        123456789.987654321,
        3.572829452237445e16,
        -8.939817659706545e17,
        6.904495253944366e18,
    ),
]
_NUMBER_LIKE = [
    *(
        "12",
        "-7",
        "+5",
        " 12 ",
        "\t3\n",
        "1.5",
        "-0.0",
        ".5",
        "5.",
        "1e3",
        "1E-3",
        "NaN",
        "nan",
        "Infinity",
        "-inf",
    ),
    *(
        "2147483648",
        "-9223372036854775808",
        "9223372036854775808",
        "0x1F",
        "1_000",
        "1d",
        "1.0f",
        "",
        " ",
        "1 2",
        "١٢",
    ),
    *(
        "99999999999999999999999999999999999999",
        "0.000000000000000000001",
        "1.23456789e5",
        "--1",
        "+",
        "-",
        ".",
    ),
]
_TRUTH_LIKE = [
    "true",
    "FALSE",
    "t",
    "f",
    "yes",
    "No",
    "y",
    "n",
    "1",
    "0",
    " true ",
    "on",
    "tru",
    "\u00a0true",
]
_TIME_LIKE = [
    *("2020-01-01", "2020-1-1", "2020", "2020-03-29 02:30:00", "2020-10-25 02:30:00", "2020-01-01T00:00:00Z"),
    *(
        "2020-01-01 12:34:56.789",
        "2020-01-01 12:34:56.123456789",
        "2020-02-30",
        "1900-01-01 00:00:00",
        "12:34",
        "T12:34:56",
        "2020:12",
        "20200:1",
        " 12:34:56.5 UTC",
    ),
    *(
        "2020-01-01 00:00:00+05:30",
        "2020-01-01 00:00:00 Europe/Berlin",
        "0001-01-01",
        "9999-12-31 23:59:59.999999",
    ),
    *(
        "2020-01-01 24:00:00",
        "-0001-01-01",
        "+10000-01-01",
        "2020-06-01 1:2:3",
        "2020-06",
        "2020-01-01 00:00:00UTC",
    ),
]
_NEWLY_PAIRED = "ƛɤꟓꟕ"
"""Old letters that got an upper case in Unicode 16 or 17: Python knows it later than Spark."""
_TEXTS = [
    *(
        "",
        "a",
        "A",
        "abc",
        "aXbXc",
        "a,b,,c",
        "  pad  ",
        "\tx\n",
        "100%",
        "a_b",
        "50\\%",
        "it's",
        "a\\b",
        "null",
        "\0",
    ),
    *(
        "Straße",
        "ﬁn",
        "İi",
        "ıI",
        "ΑΣ",
        "ΣΑΣ Σ",
        "ǆ",
        "ŉ",
        "é",
        "e\u0301",
        "ñ\u0303",
        "👩\u200d👩\u200d👧",
        "😀",
        "😀😁x",
    ),
    *(
        "𝔘𝔫𝔦",
        "日本語",
        "अ\u093f",
        "\u202eabc",
        "\uffff",
        "\U0010ffff",
        "à la carte",
        "ẞ",
        "Ω",
        "\u00a0",
        "\u3000x\u3000",
    ),
]
_FIXED_INSTANTS = [
    *(0, 1, -1, 999_999, -999_999, 86_400 * _US, -86_400 * _US, 1_583_020_800 * _US - 1, 951_782_400 * _US),
    *(
        -62_135_596_800 * _US,
        253_402_300_799_999_999,
        -2_208_988_800 * _US,
        -3_000_000_000 * _US,
        4_102_444_800 * _US,
    ),
    *(
        4 * 10**18,
        -4 * 10**18,
        4 * 10**18 + 1,
        2**63 - 1,
        -(2**63),
        -62_200_000_000 * _US,
        -12_219_292_800 * _US,
    ),
]


def _around_changes() -> list[int]:
    """Instants around changes of the clocks in Berlin and St. John's (whose old rule was one minute past)."""
    changes = [
        1_585_443_600,
        1_603_587_600,
        1_583_645_400,
        1_604_205_000,
        1_300_073_460,
        1_289_097_060,
        -2_422_054_408,
    ]
    steps = [-3_600 * _US - 1, -3_600 * _US, -1, 0, 1, 1_800 * _US, 3_600 * _US - 1, 3_600 * _US, 7_200 * _US]
    return [change * _US + step for change in changes for step in steps]


INSTANTS = [*_FIXED_INSTANTS, *_around_changes()]


def strings() -> st.SearchStrategy[str]:
    """Texts, and texts that look like values of other types."""
    anything = st.text(
        st.characters(exclude_categories=("Cs", "Cn"), exclude_characters=_NEWLY_PAIRED), max_size=8
    )
    few = st.text(st.sampled_from("abAB xX,.%_\\'0129é😀\u0301Σσ"), max_size=8)
    return st.one_of(
        st.sampled_from(_TEXTS), st.sampled_from(_NUMBER_LIKE + _TRUTH_LIKE + _TIME_LIKE), few, anything
    )


def timestamps() -> st.SearchStrategy[int]:
    """Instants: around clock changes, far away, and in our century."""
    near = st.integers(-2_208_988_800 * _US, 4_102_444_800 * _US)
    whole = st.integers(0, 2_000_000_000).map(lambda seconds: seconds * _US)
    return st.one_of(st.sampled_from(INSTANTS), near, whole, st.integers(-(2**63), 2**63 - 1))


def decimals(type_: DataType) -> st.SearchStrategy[Decimal]:
    """Decimals of a type: its limits, what lies around zero, and what rounds."""
    most = 10**type_.precision - 1
    edges = [0, 1, -1, 5, -5, 15, 25, 49, 50, 51, most, -most, most // 2, 10 ** (type_.precision - 1)]
    unscaled = st.one_of(st.sampled_from([e for e in edges if abs(e) <= most]), st.integers(-most, most))
    return unscaled.map(lambda number: Decimal(number).scaleb(-type_.scale, context=_WIDE))


def values(type_: DataType) -> st.SearchStrategy[Value]:
    """Values of a type, none of them NULL."""
    match type_.name:
        case "int":
            return st.sampled_from(_INTS) | st.integers(-20, 20) | st.integers(-(2**31), 2**31 - 1)
        case "long":
            return st.sampled_from(_LONGS) | st.integers(-20, 20) | st.integers(-(2**63), 2**63 - 1)
        case "double":
            return st.sampled_from(_DOUBLES) | st.floats(-1000, 1000) | st.floats()
        case "string":
            return strings()
        case "boolean":
            return st.booleans()
        case "timestamp":
            return timestamps()
        case _:
            return decimals(type_)


def types(kind: str) -> st.SearchStrategy[DataType]:
    """The types of a kind: one, but for decimals."""
    fixed = {t.name: t for t in (INT, LONG, DOUBLE, STRING, BOOLEAN, TIMESTAMP)}
    return st.just(fixed[kind]) if kind in fixed else decimal_types()


@st.composite
def decimal_types(draw: st.DrawFn) -> DataType:
    """Decimal types, often at the limits of 38 digits and of none after the point."""
    precision = draw(st.sampled_from([1, 5, 9, 10, 18, 19, 20, 37, 38]) | st.integers(1, 38))
    return decimal(
        precision, draw(st.sampled_from([0, min(2, precision), precision]) | st.integers(0, precision))
    )


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Schemas with two or three attributes of every kind, some of which are never NULL."""
    kinds = [kind for kind in KINDS for _ in range(draw(st.integers(2, 3)))]
    fields = [(f"{kind}{i}", draw(types(kind)), draw(st.integers(0, 3)) > 0) for i, kind in enumerate(kinds)]
    return Schema(tuple(Field(*parts) for parts in fields))


def rows(schema: Schema) -> st.SearchStrategy[dict[str, Value]]:
    """Rows of a schema."""
    return st.fixed_dictionaries(
        {
            f.name: st.none() | values(f.type) | values(f.type) if f.nullable else values(f.type)
            for f in schema
        }
    )
