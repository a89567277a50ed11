"""Random regular expressions mean the same to Spark, RE2 and the reference."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.conformance.agreement import Bench, sample
from tests.conformance.patterns import extracting, patterns, replacing, texts

from australis.algebra.expr import parse
from australis.algebra.expr.text import string_text
from australis.algebra.schema import parse_schema

SCHEMA = parse_schema("s string")


def calls() -> st.SearchStrategy[str]:
    """Calls with random patterns, of every group that a pattern has."""
    matching = patterns().map(lambda pattern: f"s RLIKE {string_text(pattern)}")
    extracted = extracting().map(lambda args: f"regexp_extract(s, {args})")
    replaced = replacing().map(lambda args: f"regexp_replace(s, {args})")
    return matching | extracted | extracted | replaced


@pytest.mark.timeout(7200)
def test_random_patterns(spark: SparkSession) -> None:
    for _ in range(max(1, settings().max_examples // 50)):
        rows = [{"s": text} for text in sample(texts(), 150)]
        exprs = [parse(text).bind(SCHEMA) for text in sample(calls(), 300)]
        found = Bench(spark, SCHEMA, [*rows, {"s": None}]).compare(exprs, "UTC")
        assert not found, "\n".join(map(str, found[:20]))
