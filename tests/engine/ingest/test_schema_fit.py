"""Whether what arrives fits its input: columns by name, in the types of the schema; else an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from australis.algebra.schema import TS, parse_schema
from australis.algebra.types import TIMESTAMP
from australis.engine.ingest.schema_fit import fitting, widens
from australis.errors import EngineError

SCHEMA = parse_schema("k long not null, v double")


def test_columns_are_taken_by_name_in_the_types_of_the_schema() -> None:
    given = pa.table({"extra": ["x"], "v": pa.array([1], pa.int32()), "k": pa.array([7], pa.int16())})
    found = fitting("n.s", given, SCHEMA)
    assert found.schema.names == ["k", "v"]
    assert found.schema.types == [pa.int64(), pa.float64()]
    assert found.to_pylist() == [{"k": 7, "v": 1.0}]


def test_null_is_left_to_the_network() -> None:
    given = pa.table({"k": pa.array([None], pa.int64()), "v": [1.0]})
    assert fitting("n.s", given, SCHEMA)["k"].null_count == 1


def test_times_of_arrival_stay_where_there_are_some() -> None:
    given = pa.table({"k": [1], "v": [1.0], TS: pa.array([5], pa.timestamp("ms", "UTC"))})
    found = fitting("n.s", given, SCHEMA)
    assert found.schema.names == ["k", "v", TS]
    assert found.schema.field(TS).type == TIMESTAMP.arrow


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"v": [1.0]}, r"^n\.s: has no column 'k', but v; expected \(k long not null, v double\)$"),
        ({}, r"^n\.s: has no column 'k', but no columns; "),
        ({"k": ["x"], "v": [1.0]}, r"^n\.s: its column 'k' is string: .*expected values of int64$"),
        ({"k": np.array([2**63], np.uint64), "v": [1.0]}, r"^n\.s: its column 'k' is uint64: "),
        ({"k": [1.5], "v": [1.0]}, r"^n\.s: its column 'k' is double: "),
    ],
)
def test_what_has_another_shape_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(EngineError, match=message):
        fitting("n.s", pa.table(given), SCHEMA)


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        (pa.int32(), pa.int64(), True),
        (pa.int64(), pa.int64(), True),
        (pa.int64(), pa.int32(), False),
        (pa.uint32(), pa.int64(), False),
        (pa.float32(), pa.float64(), True),
        (pa.float64(), pa.float32(), False),
        (pa.int32(), pa.float64(), False),
        (pa.string(), pa.string(), True),
        (pa.timestamp("ms", "UTC"), TIMESTAMP.arrow, True),
        (pa.timestamp("ns", "UTC"), TIMESTAMP.arrow, False),
        (pa.timestamp("us"), TIMESTAMP.arrow, False),
    ],
)
def test_a_type_widens_where_every_value_of_it_fits(
    given: pa.DataType, wanted: pa.DataType, expected: bool
) -> None:
    assert widens(given, wanted) is expected
