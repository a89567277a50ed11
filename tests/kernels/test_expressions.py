"""The two evaluators outside Spark against what Spark made of the same texts, and what only they must do."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.kernels.recorded_expressions import Group, groups, plain, read, spark_values

from australis.algebra.expr.functions import FUNCTIONS
from australis.algebra.expr.parse import parse
from australis.algebra.expr.tree import Attribute, Call, Expr, Literal, UserCall, Value, walk
from australis.algebra.schema import Schema, parse_schema
from australis.algebra.types import DOUBLE, INT, LONG, STRING
from australis.algebra.user_functions import register_function
from australis.errors import AlgebraError, KernelError
from australis.kernels import expressions as kernels
from australis.reference import expressions as reference

GROUPS = groups()
LAST_DIGITS = (
    *("exp", "ln", "log10", "log2", "pow", "degrees", "radians"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
)
"""Functions whose last digits may differ between the JVM and the C library."""

by_group = pytest.mark.parametrize("group", GROUPS, ids=[group.name for group in GROUPS])


def same(expected: Value, found: Value, nearly: bool) -> bool:
    if isinstance(expected, float) and isinstance(found, float):
        both_nan = math.isnan(expected) and math.isnan(found)
        return both_nan or (math.isclose(expected, found, rel_tol=1e-14) if nearly else expected == found)
    return type(expected) is type(found) and expected == found


def assert_recorded(group: Group, text: str, expr: Expr, found: list[Value]) -> None:
    nearly = any(isinstance(node, Call) and node.function in LAST_DIGITS for node in walk(expr))
    for row, recorded, value in zip(group.rows, group.results[text], found, strict=True):
        expected = read(recorded, expr.type)
        assert same(expected, value, nearly), f"{text} over {row}: {value!r}, in Spark {expected!r}"


@by_group
def test_kernels_give_what_spark_gave(group: Group) -> None:
    for text in group.results:
        expr = parse(text).bind(group.schema)
        found = kernels.evaluate(expr, group.table, group.timezone)
        assert found.type == expr.type.arrow
        found.validate(full=True)
        assert_recorded(group, text, expr, plain(found))


@by_group
def test_kernels_do_not_care_where_a_batch_is_cut(group: Group) -> None:
    """One row at a time, from arrays with an offset: fast paths look at all rows and must change nothing."""
    (batch,) = group.table.to_batches()
    for text in group.results:
        expr = parse(text).bind(group.schema)
        pieces = [kernels.evaluate(expr, batch.slice(i, 1), group.timezone) for i in range(len(batch))]
        assert_recorded(group, text, expr, [value for piece in pieces for value in plain(piece)])


@by_group
def test_the_reference_gives_what_spark_gave(group: Group) -> None:
    for text in group.results:
        expr = parse(text).bind(group.schema)
        rows = (dict(zip(group.schema.names, row, strict=True)) for row in group.rows)
        found = [reference.evaluate(expr, row, group.timezone) for row in rows]
        assert_recorded(group, text, expr, found)


@by_group
def test_spark_still_gives_it(group: Group, spark: SparkSession) -> None:
    for text, found in spark_values(spark, group).items():
        type_ = parse(text).bind(group.schema).type
        for recorded, value in zip(group.results[text], found, strict=True):
            assert same(read(recorded, type_), read(value, type_), nearly=True), text


def test_every_function_of_the_table_is_implemented() -> None:
    assert kernels.FUNCTIONS.keys() == reference.FUNCTIONS.keys() == FUNCTIONS.keys()


def test_every_function_of_the_table_is_recorded() -> None:
    recorded = {
        node.function
        for group in GROUPS
        for text in group.results
        for node in walk(parse(text).bind(group.schema))
        if isinstance(node, Call)
    }
    assert recorded == FUNCTIONS.keys()


# --- where Spark stops the query, an expression is NULL

MANY_DIGITS = Decimal("99999999999999999999999999999.999999999")
TOTAL = [
    ("split_part(s, '.', n)", {"s": "a.b", "n": 0}, None),
    ("timestamp_seconds(m)", {"m": 2**63 - 1}, None),
    ("timestamp_millis(m)", {"m": -(2**63)}, None),
    ("t + INTERVAL 1 DAY", {"t": 2**63 - 1}, None),
    ("t - INTERVAL 1 MICROSECOND", {"t": -(2**63)}, None),
    ("date_trunc('YEAR', t)", {"t": -(2**63)}, None),
    ("timestampdiff(MICROSECOND, t, TIMESTAMP '2000-01-01 00:00:00Z')", {"t": -(2**63)}, None),
    ("CAST(s AS timestamp)", {"s": "12:30"}, None),
    ("CAST(s AS timestamp)", {"s": "T12:30"}, None),
    ("-d", {"d": MANY_DIGITS}, MANY_DIGITS.copy_negate()),
    ("abs(d)", {"d": MANY_DIGITS.copy_negate()}, MANY_DIGITS),
]


@pytest.mark.parametrize(("text", "values", "expected"), TOTAL)
def test_expressions_are_total(text: str, values: dict[str, Value], expected: Value) -> None:
    schema = parse_schema("s string, n int, m long, t timestamp, d decimal(38,9)")
    row = {name: values.get(name) for name in schema.names}
    expr = parse(text).bind(schema)
    assert reference.evaluate(expr, row) == expected
    assert plain(kernels.evaluate(expr, one_row(schema, row))) == [expected]


def one_row(schema: Schema, row: dict[str, Value]) -> pa.Table:
    arrays = [pa.array([row[field.name]], field.type.arrow) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema.arrow)


# --- the shapes that come in


def test_literals_are_spread_over_the_rows() -> None:
    table = pa.table({"x": [1, 2, 3]})
    assert kernels.evaluate(Literal("a", STRING), table).to_pylist() == ["a"] * 3
    constant = parse("1 + 2 * 3").bind(parse_schema("x long"))
    assert kernels.evaluate(constant, table).to_pylist() == [7] * 3


@by_group
def test_no_rows_give_no_values(group: Group) -> None:
    for text in group.results:
        expr = parse(text).bind(group.schema)
        found = kernels.evaluate(expr, group.table.slice(0, 0), group.timezone)
        assert (found.type, len(found)) == (expr.type.arrow, 0), text


def test_chunks_and_record_batches_are_tables_too() -> None:
    expr = parse("x + 1").bind(parse_schema("x long"))
    chunked = pa.table({"x": pa.chunked_array([[1, 2], [3]])})
    assert kernels.evaluate(expr, chunked).to_pylist() == [2, 3, 4]
    assert kernels.evaluate(expr, chunked.combine_chunks().to_batches()[0]).to_pylist() == [2, 3, 4]
    assert [array.to_pylist() for array in kernels.evaluate_all([expr, expr], chunked)] == [[2, 3, 4]] * 2


def test_the_sides_of_a_pair_are_columns() -> None:
    sides = {"left": parse_schema("x int"), "right": parse_schema("x int")}
    expr = parse("left.x < right.x").bind(sides)
    assert kernels.evaluate(
        expr, pa.table({"left.x": pa.array([1], pa.int32()), "right.x": pa.array([2], pa.int32())})
    )[0].as_py()
    assert reference.evaluate(expr, {"left.x": 1, "right.x": 2}) is True


def test_a_missing_column_is_named() -> None:
    with pytest.raises(AlgebraError, match="no column 'y'; expected one of x"):
        kernels.evaluate(Attribute("y", INT), pa.table({"x": [1]}))


# --- registered functions


def test_a_registered_function_is_called_with_whole_columns() -> None:
    register_function(
        "tests:twice", lambda x: pa.array(np.asarray(x) * 2.0), takes=("double",), returns="double"
    )
    expr = parse("`tests:twice`(x + 1)").bind(parse_schema("x double"))
    assert kernels.evaluate(expr, pa.table({"x": [1.0, 2.5]})).to_pylist() == [4.0, 7.0]
    assert reference.evaluate(expr, {"x": 1.0}) == 4.0


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        (pa.array([1]), "returned values of int64; expected double"),
        (pa.array([1.0]), "returned 1 values for 2 rows; expected as many as rows"),
        ([1.0, 2.0], "returned list; expected a pyarrow.Array"),
    ],
)
def test_what_a_registered_function_returns_is_checked(returned: object, complaint: str) -> None:
    register_function("tests:wrong", lambda: returned, takes=(), returns="double")
    with pytest.raises(KernelError, match=complaint):
        kernels.evaluate(UserCall("tests:wrong", (), DOUBLE), pa.table({"x": [1, 2]}))


def test_a_long_that_wraps_stays_a_long() -> None:
    expr = parse("x * 3").bind(parse_schema("x long"))
    assert expr.type == LONG
    assert kernels.evaluate(expr, pa.table({"x": [2**62]})).to_pylist() == [-(2**62)]
