"""Many expressions over the same rows, evaluated in Spark, over Arrow and row by row, and compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import TypeVar

import pyarrow as pa
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st
from pyspark.sql import Column, DataFrame, SparkSession
from tests.conformance.expressions import INEXACT

from australis.algebra.expr import Call, Expr, Value, children, text_of, walk
from australis.algebra.schema import Schema
from australis.engine.spark.columns import column
from australis.engine.spark.types import spark_type
from australis.kernels.expressions import evaluate as evaluate_arrays
from australis.reference.expressions import evaluate as evaluate_row

Drawn = TypeVar("Drawn")
Row = Mapping[str, Value]
SEEDS = Random()
"""Gives each sample of a test another seed. Each test begins with the seed of the run."""
_RELATIVE = 1e-14
"""How far the last digits of INEXACT functions may be apart."""


def sample(strategy: st.SearchStrategy[Drawn], count: int) -> list[Drawn]:
    """Some examples of a strategy at once: Spark then evaluates all of them in one job."""
    drawn: list[Drawn] = []

    @seed(SEEDS.getrandbits(64))
    @settings(max_examples=count, phases=[Phase.generate])
    @given(strategy)
    def collect(example: Drawn) -> None:
        drawn.append(example)

    collect()
    return drawn


def table_of(schema: Schema, rows: Sequence[Row]) -> pa.Table:
    """The rows as Arrow columns."""
    return pa.Table.from_arrays(
        [pa.array([row[f.name] for row in rows], f.type.arrow) for f in schema], schema=schema.arrow
    )


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    """Spark with another setting for a while."""
    before = str(spark.conf.get(name))
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.set(name, before)


def spark_values(frame: DataFrame, columns: Sequence[Column], exprs: Sequence[Expr]) -> list[list[Value]]:
    """The values of some columns, in one job; their types must be those of the expressions."""
    selected = frame.select([col.alias(f"c{i}") for i, col in enumerate(columns)])
    for field, expr in zip(selected.schema, exprs, strict=True):
        assert field.dataType == spark_type(expr.type), (
            f"{text_of(expr)}: {field.dataType} is not {expr.type}"
        )
    found = selected.toArrow()
    return [plain(found.column(i), expr) for i, expr in enumerate(exprs)]


def arrow_values(table: pa.Table, exprs: Sequence[Expr], zone: str) -> list[list[Value]]:
    """The values that the Arrow evaluator finds."""
    return [plain(evaluate_arrays(expr, table, zone), expr) for expr in exprs]


def row_values(rows: Sequence[Row], exprs: Sequence[Expr], zone: str) -> list[list[Value]]:
    """The values that the reference finds."""
    return [[evaluate_row(expr, row, zone) for row in rows] for expr in exprs]


def plain(array: pa.Array | pa.ChunkedArray, expr: Expr) -> list[Value]:
    """An array's values in plain Python, timestamps as microseconds."""
    if pa.types.is_timestamp(array.type):
        assert array.type.unit == "us", array.type
        array = array.cast(pa.int64())
    else:
        assert array.type == expr.type.arrow, f"{text_of(expr)}: {array.type} is not {expr.type}"
    found: list[Value] = array.to_pylist()
    return found


def equal(one: Value, other: Value, inexact: bool) -> bool:
    """Whether two values are identical; NaN equals NaN, and types must match."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return math.isclose(one, other, rel_tol=_RELATIVE) if inexact else one == other
    return one == other


@dataclass(frozen=True)
class Disagreement:
    """An expression and a row on which an evaluator does not agree with Spark."""

    evaluator: str
    expr: Expr
    row: Row
    zone: str
    expected: Value
    found: Value

    def __str__(self) -> str:
        read = {name: value for name, value in self.row.items() if name in text_of(self.expr)}
        return (
            f"{self.evaluator} in {self.zone}: {text_of(self.expr)}\n"
            f"    over {read}\n    is {self.found!r}, in Spark {self.expected!r}"
        )


class Bench:
    """Rows of a schema, and expressions over them in the three evaluators."""

    def __init__(self, spark: SparkSession, schema: Schema, rows: Sequence[Row]) -> None:
        self.rows, self.schema = rows, schema
        self.table = table_of(schema, rows)
        with setting(spark, "spark.sql.execution.arrow.localRelationThreshold", "0"):
            # Else the optimizer evaluates so small a table itself, and the code made for jobs is not tested.
            self.frame = spark.createDataFrame(self.table)
        self._spark = spark

    def compare(self, exprs: Sequence[Expr], zone: str) -> list[Disagreement]:
        """The first disagreement of each expression and evaluator with Spark."""
        with setting(self._spark, "spark.sql.session.timeZone", zone):
            right = spark_values(self.frame, [column(expr) for expr in exprs], exprs)
        found = {
            "kernels": arrow_values(self.table, exprs, zone),
            "reference": row_values(self.rows, exprs, zone),
        }
        return [
            disagreement
            for name, values in found.items()
            for expr, expected, got in zip(exprs, right, values, strict=True)
            for disagreement in self._first(name, expr, expected, got, zone)
        ]

    def _first(
        self, name: str, expr: Expr, right: list[Value], got: list[Value], zone: str
    ) -> list[Disagreement]:
        inexact = is_inexact(expr)
        for row, expected, value in zip(self.rows, right, got, strict=True):
            if not equal(expected, value, inexact):
                return [Disagreement(name, expr, row, zone, expected, value)]
        return []

    def innermost(self, disagreement: Disagreement) -> list[Disagreement]:
        """The disagreements inside an expression whose parts all agree: where the fault is."""
        parts = [
            part
            for part in dict.fromkeys(walk(disagreement.expr))
            if part.type.name not in ("interval", "null", "array<string>")
        ]
        found = {(d.evaluator, d.expr): d for d in self.compare(parts, disagreement.zone)}
        return [
            d
            for (evaluator, expr), d in found.items()
            if not any((evaluator, part) in found for child in children(expr) for part in walk(child))
        ]


def is_inexact(expr: Expr) -> bool:
    """Whether an expression calls a function whose last digits may differ."""
    return any(isinstance(node, Call) and node.function in INEXACT for node in walk(expr))
