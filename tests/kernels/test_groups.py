"""Groups are numbered by first arrival, with SQL's idea of equal keys, for every type of key."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from australis.kernels.arrays.groups import encode

NAN, NEGATIVE_NAN = math.nan, math.copysign(math.nan, -1.0)


def codes(kind: pa.DataType, known: list[Any], given: list[Any]) -> tuple[list[int], list[Any]]:
    old = pa.table({"k": pa.array(known, kind)})
    found = encode(old, len(known), pa.table({"k": pa.array(given, kind)}))
    assert found.count == found.keys.num_rows
    return found.codes.tolist(), found.keys["k"].to_pylist()


@pytest.mark.parametrize(
    ("kind", "one", "two", "three"),
    [
        (pa.int32(), 7, -3, 0),
        (pa.int64(), 2**62, -(2**62), 0),
        (pa.string(), "b", "", "é"),
        (pa.decimal128(6, 2), Decimal("1.50"), Decimal("-0.01"), Decimal("0.00")),
        (pa.timestamp("us", tz="UTC"), 10**15, 0, -1),
        (pa.float64(), math.inf, -1.5, NAN),
    ],
)
def test_keys_of_every_type(kind: pa.DataType, one: Any, two: Any, three: Any) -> None:
    assert codes(kind, [one], [two, one, None, two, three, None])[0] == [1, 0, 2, 1, 3, 2]
    assert codes(kind, [one, None], [None, two, one, three])[0] == [1, 2, 0, 3]
    assert codes(kind, [], [three, two, three])[0] == [0, 1, 0]
    assert codes(kind, [one], [])[0] == []


def test_booleans() -> None:
    assert codes(pa.bool_(), [True], [False, True, None, False]) == ([1, 0, 2, 1], [True, False, None])


def test_zeros_are_one_key_and_so_are_nans() -> None:
    found, keys = codes(pa.float64(), [], [-0.0, 0.0, NAN, NEGATIVE_NAN, None])
    assert found == [0, 0, 1, 1, 2]
    assert math.copysign(1.0, keys[0]) == 1.0


def test_several_attributes_are_one_key() -> None:
    known = pa.table({"a": pa.array(["x"]), "b": pa.array([1], pa.int64())})
    given = pa.table({"a": ["x", "y", "x", None, "y"], "b": [2, 1, 1, None, 1]})
    found = encode(known, 1, given)
    assert found.codes.tolist() == [1, 2, 0, 3, 2]
    assert found.keys.to_pylist()[1:] == [{"a": "x", "b": 2}, {"a": "y", "b": 1}, {"a": None, "b": None}]


def test_without_attributes_all_are_in_one_group() -> None:
    nothing = pa.table({"k": [1]}).select([])
    assert encode(nothing, 0, pa.table({"x": [1, 2]})).codes.tolist() == [0, 0]
    assert encode(nothing, 0, pa.table({"x": pa.array([], pa.int64())})).count == 0
    assert encode(nothing, 1, pa.table({"x": [1]})).count == 1
