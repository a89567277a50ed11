"""Files through a real node: stopped or killed between any two steps, what comes out is the same."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.engine.sinks.through_node import OUTPUTS, run, write_inputs

from australis.engine.crash_points import VARIABLE

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.fixture(scope="module")
def undisturbed(
    inputs: Path, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> dict[str, object]:
    place = tmp_path_factory.mktemp("undisturbed")
    assert run(inputs, place) == 8
    return contents(place)


def contents(place: Path) -> dict[str, object]:
    """What the outputs hold: bytes, or the rows of all parts."""
    found: dict[str, object] = {}
    for name in OUTPUTS.values():
        path = place / name
        if path.is_dir():
            found[name] = pq.read_table(sorted(path.glob("part-*"))).to_pylist()
        else:
            data = path.read_bytes()
            found[name] = gzip.decompress(data) if name.endswith(".gz") else data
    return found


def test_what_comes_out(undisturbed: dict[str, object]) -> None:
    rows = undisturbed["all.parquet"]
    assert isinstance(rows, list)
    assert len(rows) == 2 * 2000 - 5
    bad = undisturbed["bad.tsv"]
    assert isinstance(bad, bytes)
    lines = [bad.decode().count(f"line {n + 2}: 'bad'") for n in range(7, 2000, 400)]
    assert lines == [1] * 5


@pytest.mark.parametrize("most", [1, 3])
def test_a_node_that_is_stopped_goes_on(
    inputs: Path, tmp_path: Path, spark: SparkSession, undisturbed: dict[str, object], most: int
) -> None:
    runs = 0
    while run(inputs, tmp_path, most):
        runs += 1
    assert runs == -(-8 // most)
    assert contents(tmp_path) == undisturbed


@pytest.mark.parametrize("point", ["ingest.committed:5", "consumer.acknowledged:6"])
def test_a_node_that_is_killed_goes_on(
    inputs: Path, tmp_path: Path, spark: SparkSession, undisturbed: dict[str, object], point: str
) -> None:
    command = [sys.executable, "-m", "tests.engine.sinks.through_node", str(inputs), str(tmp_path)]
    killed = subprocess.run(
        command, cwd=ROOT, env={**os.environ, VARIABLE: point}, capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    run(inputs, tmp_path)
    assert contents(tmp_path) == undisturbed
