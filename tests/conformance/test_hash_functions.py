"""The hashes of expressions are Spark's, for texts of every length up to several blocks."""

from __future__ import annotations

import hashlib
import math
import zlib
from random import Random

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.conformance.agreement import Bench

from australis.algebra.expr import parse
from australis.algebra.schema import parse_schema
from australis.errors import ExpressionError
from australis.kernels.expressions import evaluate
from australis.reference.expressions import evaluate as evaluate_one

SCHEMA = parse_schema("s string, i int, l long, d double, b boolean, t timestamp")
CALLS = (
    *("crc32(s)", "md5(s)", "sha2(s, 256)", "xxhash64(s)", "xxhash64(i)", "xxhash64(l)", "xxhash64(d)"),
    *("xxhash64(b)", "xxhash64(t)", "xxhash64(s, i, l, d, b, t)", "xxhash64(NULL, s, 'a')", "md5('a')"),
)
INTS = (0, 1, -1, 2**31 - 1, -(2**31), None)
LONGS = (0, 1, -1, 2**63 - 1, -(2**63), None)
DOUBLES = (0.0, -0.0, 1.5, -math.inf, math.nan, 5e-324, None)
TEXTS = ["".join(Random(size).choices("aé😀\0z9 ", k=size)) for size in (*range(140), 1000, 5000)]


def rows() -> list[dict[str, object]]:
    others = [
        {"i": INTS[n % 6], "l": LONGS[n % 6], "d": DOUBLES[n % 7], "b": (True, False, None)[n % 3]}
        for n in range(len(TEXTS))
    ]
    given = [{"s": text, **other, "t": other["l"]} for text, other in zip(TEXTS, others, strict=True)]
    return [*given, dict.fromkeys(SCHEMA.names)]


def test_digests_are_those_of_the_standards() -> None:
    texts = pa.table({"s": pa.array(["", "left out", *TEXTS, None]).slice(2)})
    found = [evaluate(parse(call).bind(SCHEMA), texts).to_pylist() for call in CALLS[:3]]
    data = [text.encode() for text in TEXTS]
    assert found == [
        [*map(zlib.crc32, data), None],
        [*(hashlib.md5(each, usedforsecurity=False).hexdigest() for each in data), None],
        [*(hashlib.sha256(each).hexdigest() for each in data), None],
    ]


@pytest.mark.parametrize("call", CALLS)
def test_kernels_and_reference_agree(call: str) -> None:
    expr = parse(call).bind(SCHEMA)
    table = pa.Table.from_pylist(rows(), schema=SCHEMA.arrow)
    assert evaluate(expr, table).to_pylist() == [evaluate_one(expr, row) for row in rows()]


def test_spark_agrees(spark: SparkSession) -> None:
    exprs = [parse(call).bind(SCHEMA) for call in CALLS]
    assert not Bench(spark, SCHEMA, rows()).compare(exprs, "UTC")


@pytest.mark.parametrize("call", ["sha2(s, 512)", "sha2(s, i)", "xxhash64()", "xxhash64(1.5)", "md5(i)"])
def test_what_has_no_hash_is_refused(call: str) -> None:
    with pytest.raises(ExpressionError):
        parse(call).bind(SCHEMA)
