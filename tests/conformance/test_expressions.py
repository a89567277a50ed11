"""Spark, the Arrow evaluator and the reference give the same values: random expressions, random rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.conformance.agreement import Bench, equal, sample, spark_values
from tests.conformance.expressions import Texts, loosened
from tests.conformance.values import ZONES, rows, schemas

import australis.kernels.expressions as kernels
import australis.reference.expressions as reference
from australis.algebra.expr import FUNCTIONS, Call, Cast, Expr, parse, text_of, walk
from australis.algebra.schema import Schema, parse_schema
from australis.algebra.user_functions import register_function, register_scalar
from australis.engine.spark.columns import CALLS, column
from australis.errors import ExpressionError

BATCH, ROWS = 120, 50
SCHEMA = parse_schema(
    "i int, l long, d double, m decimal(10,2), w decimal(38,10), s string, t boolean, ts timestamp"
)

MakeBench = Callable[[], tuple[Bench, Texts]]


def batches() -> int:
    """How many batches a test evaluates in every time zone: 1 by default, 40 in the deep profile."""
    return max(1, settings().max_examples // 50)


@pytest.fixture
def bench(spark: SparkSession) -> MakeBench:
    """Makes rows of a new schema, and the texts over it."""

    def make() -> tuple[Bench, Texts]:
        schema = sample(schemas(), 10)[-1]
        return Bench(spark, schema, sample(rows(schema), ROWS)), Texts(schema)

    return make


def bound(texts: Sequence[str], schema: Schema) -> list[Expr]:
    """The typed trees of some texts, except quotients and strings that may become too long."""
    return [parse(text).bind(schema) for text in texts if not is_too_long(text, schema)]


def is_too_long(text: str, schema: Schema) -> bool:
    try:
        parse(text).bind(schema)
    except ExpressionError as error:
        return bool(re.search("can have a quotient of|a text of up to", error.problems[0].what))
    return False


def test_the_evaluators_know_the_same_functions() -> None:
    assert set(CALLS) == set(FUNCTIONS)
    assert set(kernels.FUNCTIONS) == set(FUNCTIONS)
    assert set(reference.FUNCTIONS) == set(FUNCTIONS)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.timeout(7200)
def test_the_three_evaluators_agree(bench: MakeBench, zone: str) -> None:
    for _ in range(batches()):
        rows_bench, texts = bench()
        drawn = sample(texts.any(3) | texts.any(2) | texts.any(1) | texts.inexact(), BATCH)
        found = rows_bench.compare(bound(drawn, rows_bench.schema), zone)
        inner = [part for disagreement in found[:5] for part in rows_bench.innermost(disagreement)]
        assert not found, "\n".join(map(str, inner or found))


@pytest.mark.timeout(7200)
def test_a_text_means_what_spark_reads(bench: MakeBench) -> None:
    """Spark's own parser gets the text, here and nowhere else: precedence, literals, typing, sugar."""
    for _ in range(batches()):
        rows_bench, texts = bench()
        drawn = sample(loosened(texts.any(3) | texts.any(2)), BATCH)
        pairs = [(text, expr) for text in drawn for expr in as_spark_reads(text, rows_bench.schema)]
        exprs = [expr for _, expr in pairs]
        ours = spark_values(rows_bench.frame, [column(expr) for expr in exprs], exprs)
        theirs = spark_values(rows_bench.frame, [F.expr(text) for text, _ in pairs], exprs)
        for (text, expr), values, rights in zip(pairs, ours, theirs, strict=True):
            for row, value, right in zip(rows_bench.rows, values, rights, strict=True):
                assert equal(value, right, inexact=False), (
                    f"{text}\n{text_of(expr)}\n{row}: {value} is not {right}"
                )


def as_spark_reads(text: str, schema: Schema) -> list[Expr]:
    """The expression of a text, if it is in the subset and Spark itself would not stop at some values."""
    try:
        expr = parse(text).bind(schema)
    except ExpressionError:
        return []
    return [] if any(is_guarded(node) for node in walk(expr)) else [expr]


def is_guarded(node: Expr) -> bool:
    """Whether the compiled call gives NULL, or an exact value, where Spark's own would stop or round."""
    if isinstance(node, Cast):
        return (node.arg.type.name, node.type.name) in (("double", "decimal"), ("string", "timestamp"))
    if not isinstance(node, Call):
        return False
    guarded = (
        "split_part",
        "element_at",
        "to_timestamp",
        "date_trunc",
        "timestampdiff",
        "timestamp_seconds",
        "timestamp_millis",
        "round",
    )
    shifted = node.function in ("+", "-") and node.type.name == "timestamp"
    return (
        shifted
        or node.function in guarded
        or (node.function in ("abs", "negate") and node.type.precision > 34)
    )


@pytest.mark.timeout(7200)
@given(st.data())
def test_the_text_of_a_tree_is_its_text(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    exprs = bound([data.draw(Texts(schema).any(3))], schema)
    assert bound(list(map(text_of, exprs)), schema) == exprs


# --- what random texts do not reach


@pytest.mark.parametrize(
    "text",
    [
        *("i = d = t", "t = t IS NULL", "NOT t = t IS NULL", "NOT i IN (1, 2) AND t", "t OR t AND NOT t"),
        *(
            "s || s = s",
            "i + l * 2 - -i",
            "-i % 7",
            "- - i",
            "i - -1",
            "i * l DIV 3 % 5",
            "i = 1 BETWEEN FALSE AND t",
        ),
        *(
            "t AND i BETWEEN 1 AND 2 AND t",
            "i < l = t",
            "t = (i IN (1))",
            "! t AND t",
            "i == 1",
            "i != 1",
            "+i",
        ),
        *(
            "CASE WHEN t THEN 1 END + 1",
            "'a' 'b'",
            "'it''s'",
            '"it\'s"',
            "'\\u0041\\101\\n\\_'",
            ".5 + 5. + 1e1",
            "1.e2",
        ),
        *(
            "2147483648",
            "-2147483648",
            "99999999999999999999",
            "-9223372036854775808",
            "1.50BD",
            "1.5e2BD",
            "0.001",
        ),
        *(
            "m + 5",
            "5L * m",
            "m / 3",
            "m = 5",
            "w * w",
            "w + w",
            "w / m",
            "m % w",
            "coalesce(5, m)",
            "m IN (5, 6L)",
        ),
        *(
            "round(m)",
            "round(m, 5)",
            "round(m, -1)",
            "round(w, 3)",
            "ceil(m)",
            "floor(w)",
            "nullif(i, m)",
            "i / l",
        ),
        *(
            "if(t, 5, m)",
            "NULL + i",
            "NULL = NULL",
            "i IN (NULL)",
            "coalesce(NULL, NULL, i)",
            "i /* c */ + -- d\n 1",
        ),
        *("CAST(i AS bigint)", "CAST(i AS integer)", "isnan(NULL)", "length(NULL)"),
        *(
            "ts + INTERVAL 1 DAY - INTERVAL 2 HOURS",
            "ts + INTERVAL 1 DAY -2 HOURS",
            "ts - INTERVAL '-3' HOUR",
        ),
        *("TIMESTAMP '2003-01-01'", "TIMESTAMP '2003-01-01 10:30'", "TIMESTAMP '2003-01-01 00:00:30+05:30'"),
        *(
            "TIMESTAMP '2003-01-01T00:00:30.5 America/Argentina/Buenos_Aires'",
            "TIMESTAMP '+12003-01-01 00:00:00Z'",
        ),
    ],
)
def test_spark_reads_the_same(spark: SparkSession, text: str) -> None:
    values = {
        "i": 7,
        "l": -3,
        "d": 2.5,
        "m": Decimal("3.25"),
        "w": Decimal("-1.5"),
        "s": "x",
        "t": True,
        "ts": 0,
    }
    rows_bench = Bench(spark, SCHEMA, [values, dict.fromkeys(values)])
    expr = parse(text).bind(SCHEMA)
    [ours], [theirs] = (spark_values(rows_bench.frame, [one], [expr]) for one in (column(expr), F.expr(text)))
    assert ours == theirs
    assert not rows_bench.compare([expr], "UTC")


@pytest.mark.parametrize(
    "text", ["t IS NULL IS NULL", "t IS NULL = t", "i IN (1) IS NULL", "i LIKE )", "1..2", "i i i"]
)
def test_spark_refuses_it_too(spark: SparkSession, text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)
    with pytest.raises((ParseException, AnalysisException)):
        Bench(spark, SCHEMA, []).frame.select(F.expr(text)).collect()


def test_a_registered_function_is_called_by_every_evaluator(spark: SparkSession) -> None:
    register_function("conformance:later", _later, takes=("timestamp", "long"), returns="timestamp")
    expr = parse("`conformance:later`(ts, i)").bind(SCHEMA)
    full = dict.fromkeys(SCHEMA.names) | {"ts": 1_600_000_000_000_000, "i": 3}
    rows_bench = Bench(spark, SCHEMA, [full, dict.fromkeys(SCHEMA.names)])
    assert not rows_bench.compare([expr], "Asia/Kolkata")
    assert spark_values(rows_bench.frame, [column(expr)], [expr]) == [[1_600_000_003_000_000, None]]


def test_a_scalar_function_is_called_by_every_evaluator(spark: SparkSession) -> None:
    register_scalar(
        "conformance:told", _told, takes=("timestamp", "decimal(10,2)", "string"), returns="string"
    )
    expr = parse("`conformance:told`(ts, m, s)").bind(SCHEMA)
    full = dict.fromkeys(SCHEMA.names) | {"ts": 1_600_000_000_000_000, "m": Decimal("1.50"), "s": "x"}
    bench = Bench(spark, SCHEMA, [full, full | {"s": None}])
    assert not bench.compare([expr], "Asia/Kolkata")
    assert spark_values(bench.frame, [column(expr)], [expr]) == [["1600000000000000 1.50 x", None]]


def _told(instant: int, amount: Decimal, text: str) -> str:
    return f"{instant} {amount} {text}"


def _later(instant: pa.Array, seconds: pa.Array) -> pa.Array:
    microseconds = pc.add(instant.cast(pa.int64()), pc.multiply(seconds, 1_000_000))
    return microseconds.cast(instant.type)


def test_the_tuples_of_a_pair_are_columns_with_a_dot(spark: SparkSession) -> None:
    side = parse_schema("sid int, pos double")
    expr = parse("left.sid = right.sid AND left.pos < right.pos").bind({"left": side, "right": side})
    table = pa.table(
        {"left.sid": [1, 1], "right.sid": [1, 2], "left.pos": [1.0, 1.0], "right.pos": [2.0, 2.0]}
    )
    table = table.cast(
        pa.schema([(name, pa.int32() if "sid" in name else pa.float64()) for name in table.column_names])
    )
    assert spark_values(spark.createDataFrame(table), [column(expr)], [expr]) == [[True, False]]
    assert kernels.evaluate(expr, table).to_pylist() == [True, False]
    assert [reference.evaluate(expr, row) for row in table.to_pylist()] == [True, False]


def test_an_expression_at_the_limits_runs_everywhere(spark: SparkSession) -> None:
    texts = [
        " + ".join(["i"] * 150),
        "-".join(["i", *["(m * 2)"] * 148]),
        "abs(" * 31 + "i" + ")" * 31,
        "(1L + " * 31 + "i" + ")" * 31,
        "coalesce(1L, " * 31 + "i" + ")" * 31,
        "(" * 75 + "i" + " + 1) * 2" * 74 + ")",
        " OR ".join(["i = 3"] * 500),
    ]
    exprs = bound(texts, SCHEMA)
    assert bound([text_of(expr) for expr in exprs], SCHEMA) == exprs
    rows_bench = Bench(spark, SCHEMA, [dict.fromkeys(SCHEMA.names) | {"i": 2}])
    assert not rows_bench.compare(exprs, "UTC")
