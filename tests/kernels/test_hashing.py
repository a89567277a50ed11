"""Hashes recorded from Spark, and the contract of partitions: equal keys are together."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.errors import KernelError
from australis.kernels.arrays.hashing import SEED, partitions, spark_hash

RECORDED: list[tuple[pa.DataType, Any, int]] = [
    (pa.int32(), 0, 933211791),
    (pa.int64(), 0, -1670924195),
    (pa.float64(), 0.0, -1670924195),
    (pa.float64(), math.nan, -1281358385),
    (pa.bool_(), True, -559580957),
    (pa.string(), "", 142593372),
    (pa.string(), "Spark", 228093765),
    (pa.string(), "süß", -1168577736),
    (pa.timestamp("us", tz="UTC"), 1, -1712319331),
    (pa.decimal128(18, 2), Decimal("1.25"), 1910520950),
    (pa.decimal128(38, 2), Decimal("-1.25"), -342901333),
]
"""`SELECT hash(value)` in Spark 4.3."""


@pytest.mark.parametrize(("kind", "value", "expected"), RECORDED)
def test_recorded_hashes(kind: pa.DataType, value: Any, expected: int) -> None:
    assert spark_hash([pa.array([value], kind)]).tolist() == [expected]


def test_a_null_leaves_the_seed_of_the_next_column() -> None:
    numbers, nothing = pa.array([7, -7]), pa.array([None, None], pa.string())
    assert spark_hash([nothing]).tolist() == [SEED, SEED]
    assert spark_hash([nothing, numbers]).tolist() == spark_hash([numbers]).tolist()
    assert spark_hash([numbers, nothing]).tolist() == spark_hash([numbers]).tolist()


def test_keys_that_group_by_takes_for_equal_are_in_one_partition() -> None:
    nans = np.array([0x7FF8000000000000, 0xFFF8000000000001], np.uint64).view(np.float64)
    batch = pa.table({"h": pa.array([0.0, -0.0, *nans])})
    zero, negative_zero, nan, other_nan = partitions(batch, ["h"], 1000).tolist()
    assert zero == negative_zero
    assert nan == other_nan


def test_partitions_are_from_0_up_to_their_count() -> None:
    found = partitions(pa.table({"k": np.arange(100_000)}), ["k"], 7)
    assert found.dtype == np.int64
    assert np.bincount(found).min() > 100_000 / 7 * 0.9
    assert len(np.bincount(found)) == 7


def test_without_keys_or_choice_there_is_one_partition() -> None:
    batch = pa.table({"k": [1, 2, 3]})
    assert partitions(batch, [], 4).tolist() == [0, 0, 0]
    assert partitions(batch, ["k"], 1).tolist() == [0, 0, 0]


TYPES = (
    pa.int32(),
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.string(),
    pa.decimal128(6, 2),
    pa.decimal128(30),
)


@given(st.sampled_from(TYPES), st.lists(st.sampled_from([None, 0, 1]), max_size=20), st.data())
def test_a_slice_has_the_hashes_of_its_rows(
    kind: pa.DataType, values: list[Any], data: st.DataObject
) -> None:
    array = pa.array(values, pa.int8()).cast(kind)
    begin = data.draw(st.integers(0, len(values)))
    count = data.draw(st.integers(0, len(values) - begin))
    assert spark_hash([array.slice(begin, count)]).tolist() == spark_hash([array])[begin:][:count].tolist()


def test_other_types_are_refused() -> None:
    with pytest.raises(KernelError, match="date32"):
        spark_hash([pa.array([1], pa.date32())])
