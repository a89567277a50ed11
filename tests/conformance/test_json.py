"""GET_JSON_OBJECT gives the same in Spark, kernels and reference: random texts, random paths."""

from __future__ import annotations

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession
from tests.conformance.agreement import Bench, sample
from tests.conformance.json_texts import paths, texts

from australis.algebra.expr import parse
from australis.algebra.expr.text import string_text
from australis.algebra.schema import parse_schema

SCHEMA = parse_schema("s string")
LIMITS = [
    *("9" * 1000, "9" * 1001, "0." + "9" * 1000, "1." + "9" * 998 + "e11"),
    *("[" * 1000 + "]" * 1000, "[" * 1001 + "]" * 1001, '{"a":' * 1001 + "1" + "}" * 1001),
    *('{"a":1,"b":' + "[" * 999 + "]" * 999 + "}", '{"a":1,"b":' + "[" * 1000 + "]" * 1000 + "}"),
]


@pytest.mark.timeout(7200)
def test_random_texts(spark: SparkSession) -> None:
    for _ in range(max(1, settings().max_examples // 50)):
        rows = [{"s": text} for text in sample(texts(), 400)]
        calls = [f"get_json_object(s, {string_text(path)})" for path in {"$", "$.a", *sample(paths(), 30)}]
        exprs = [parse(call).bind(SCHEMA) for call in calls]
        found = Bench(spark, SCHEMA, [*rows, {"s": None}]).compare(exprs, "UTC")
        assert not found, "\n".join(map(str, found[:20]))


def test_the_limits_of_a_text(spark: SparkSession) -> None:
    exprs = [parse(f"get_json_object(s, '{path}')").bind(SCHEMA) for path in ("$", "$.a", "$[0]")]
    assert not Bench(spark, SCHEMA, [{"s": text} for text in LIMITS]).compare(exprs, "UTC")
