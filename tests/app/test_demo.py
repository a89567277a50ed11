"""`australis demo`: what was hidden is found, whatever the seed, and a difference would be told."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.app.files import australis

from australis.app.demo import agreement
from australis.app.demo.agreement import engines_agree, evaluators_agree
from australis.app.demo.network import network
from australis.app.demo.stream import connections


def test_the_intruders_are_found() -> None:
    answer = australis("demo", "--tuples", "60000", "--no-spark", "--seed", "11")
    assert answer.exit_code == 0, answer.output
    assert "Found the scan by 203.0.113.66, the beacon from 10.4.1.77 to 198.51.100.23" in answer.stdout
    assert "agrees on all" in answer.stdout
    assert "tuples/s" in answer.stdout


def batches(count: int) -> list[pa.Table]:
    stream = connections(network().inputs["connections"].schema, 50_000, 1)
    return [stream.slice(20_000, count), stream.slice(20_000 + count, count)]


def test_the_same_seed_makes_the_same_stream() -> None:
    schema = network().inputs["connections"].schema
    assert connections(schema, 50_000, 5).equals(connections(schema, 50_000, 5))
    assert not connections(schema, 50_000, 5).equals(connections(schema, 50_000, 6))


def test_spark_agrees(spark: SparkSession) -> None:
    compared = evaluators_agree(network(), batches(1000), spark)
    assert compared.differences == ()
    assert compared.count > 2000


def test_a_difference_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = agreement._outputs

    def tampered(engine: str, *arguments: object) -> dict[str, pa.Table]:
        found = outputs(engine, *arguments)  # type: ignore[arg-type]
        return {**found, "tap_a": found["tap_a"].slice(1)} if engine == "reference" else found

    monkeypatch.setattr(agreement, "_outputs", tampered)
    assert engines_agree(network(), batches(500)).differences == ("tap_a",)
