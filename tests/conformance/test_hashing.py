"""The hash that chooses partitions equals Spark's: random values of every type, alone and in rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from tests.conformance.agreement import sample, setting, table_of
from tests.conformance.values import rows, schemas

from australis.algebra.types import DataType, parse_type
from australis.kernels.arrays.columns import column
from australis.kernels.arrays.hashing import partitions, spark_hash

ROWS = 300

InSpark = Callable[[pa.Table, list[Column]], list[list[int]]]


@pytest.fixture
def in_spark(spark: SparkSession) -> InSpark:
    """Evaluates columns over a table in one job."""

    def evaluate(table: pa.Table, columns: list[Column]) -> list[list[int]]:
        with setting(spark, "spark.sql.execution.arrow.localRelationThreshold", "0"):
            frame = spark.createDataFrame(table)
        found = frame.select([each.alias(f"c{at}") for at, each in enumerate(columns)]).toArrow()
        return [each.to_pylist() for each in found.columns]

    return evaluate


def drawn() -> pa.Table:
    """Rows of a random schema, with attributes of every type."""
    schema = sample(schemas(), 10)[-1]
    return table_of(schema, sample(rows(schema), ROWS))


def depth() -> range:
    """How many tables a test draws: 3 by default, 120 in the deep profile."""
    return range(3 * max(1, settings().max_examples // 50))


@pytest.mark.timeout(3600)
def test_every_column_has_sparks_hash(in_spark: InSpark) -> None:
    for _ in depth():
        table = drawn()
        right = in_spark(table, [F.hash(name) for name in table.column_names])
        for name, expected in zip(table.column_names, right, strict=True):
            assert spark_hash([column(table, name)]).tolist() == expected, table.schema.field(name)


@pytest.mark.timeout(3600)
def test_rows_are_in_sparks_partitions(in_spark: InSpark) -> None:
    for _ in depth():
        table, counts = drawn(), (2, 3, 7, 200)
        names = sample(st.permutations(table.column_names), 5)[-1]
        keys = [names[:length] for length in (1, 2, 5, len(names))]
        right = in_spark(table, [F.pmod(F.hash(*some), F.lit(count)) for some in keys for count in counts])
        found = [partitions(table, some, count).tolist() for some in keys for count in counts]
        assert found == right


LIMITS: dict[str, list[Any]] = {
    "int": [0, -1, 2**31 - 1, -(2**31)],
    "long": [0, -1, 2**63 - 1, -(2**63), 2**32, -(2**32)],
    "double": [0.0, -0.0, math.nan, math.copysign(math.nan, -1.0), math.inf, -math.inf, 5e-324],
    "boolean": [True, False],
    "timestamp": [0, -1, 2**63 - 1, -(2**63)],
    "decimal(18,0)": [Decimal(sign * (10**digits - 1)) for digits in range(19) for sign in (1, -1)],
    "decimal(19,4)": [Decimal(sign * bit).scaleb(-4) for bit in (0, 2**62, 2**63 - 1) for sign in (1, -1)],
    # Around each power of 2 the number of bytes changes, but not where two's complement has room for a sign.
    "decimal(38,0)": [
        Decimal(sign * (2**bits + step)) for bits in range(126) for step in (-1, 0, 1) for sign in (1, -1)
    ],
    "string": [letter * count for letter in ("a", "é", "日", "😀", "\0", "\x7f") for count in range(20)],
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits(in_spark: InSpark, name: str) -> None:
    kind: DataType = parse_type(name)
    table = pa.table({"key": pa.array([None, *LIMITS[name], None], kind.arrow)})
    assert spark_hash([column(table, "key")]).tolist() == in_spark(table, [F.hash("key")])[0]
