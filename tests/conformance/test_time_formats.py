"""Times are written and read by a format alike in Spark, kernels and reference."""

from __future__ import annotations

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession
from tests.conformance.agreement import Bench, sample
from tests.conformance.time_formats import fitting, read, written
from tests.conformance.values import ZONES, timestamps

from australis.algebra.expr import parse
from australis.algebra.expr.text import string_text
from australis.algebra.schema import parse_schema

SCHEMA = parse_schema("t timestamp, s string")
LOCAL = (
    "2020-03-29 02:30:00",
    "2020-10-25 02:30:00",
    "2011-03-13 00:01:00",
    "1890-01-01 00:00:00",
    "0000-12-31 23:59:59",
)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.timeout(7200)
def test_random_formats(spark: SparkSession, zone: str) -> None:
    for _ in range(max(1, settings().max_examples // 50)):
        formats = sample(read(), 50)
        texts = [sample(fitting(pattern), 4) for pattern in formats]
        strings = [None, "", *LOCAL, *(text for some in texts for text in some)]
        instants = [None, *sample(timestamps(), len(strings) - 1)]
        rows = [{"t": t, "s": s} for t, s in zip(instants[: len(strings)], strings, strict=False)]
        calls = [f"to_timestamp(s, {string_text(pattern)})" for pattern in formats]
        calls += [f"date_format(t, {string_text(pattern)})" for pattern in sample(written(), 50)]
        exprs = [parse(call).bind(SCHEMA) for call in calls]
        found = Bench(spark, SCHEMA, rows).compare(exprs, zone)
        assert not found, "\n".join(map(str, found[:20]))
