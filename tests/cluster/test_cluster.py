"""A node whose trains run on a standalone cluster does what the kernels do, also when an executor is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cluster.child import given
from tests.cluster.standalone import HOST, Cluster
from tests.crash.scenarios import FLUSH

from australis.kernels.run import PipelineRun

SEQ = "#seq"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def expected() -> dict[str, pa.Table]:
    """The outputs of the kernels alone, each as a whole."""
    scenario = given()
    run = PipelineRun(scenario.network)
    parts: dict[str, list[pa.Table]] = {}
    for event in scenario.events:
        flushing = event.what == FLUSH
        outputs = run.flush(event.now) if flushing else run.push(event.what, event.batch, event.now)
        for name, table in outputs.items():
            parts.setdefault(name, []).append(table)
    return {name: pa.concat_tables(tables) for name, tables in parts.items()}


def run(cluster: Cluster, folder: Path, way: str, disturb: Callable[[], object]) -> dict[str, pa.Table]:
    """A node in a process of its own, disturbed when large trains are on their way."""
    command = [sys.executable, "-m", "tests.cluster.child", cluster.url, str(folder), way]
    environment = {**os.environ, "SPARK_LOCAL_IP": HOST}
    with open(folder / "errors", "w+") as errors:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
        ) as child:
            assert child.stdout is not None
            said = [word.strip() for word in iter(child.stdout.readline, "running\n") if word]
            disturb()
            said += [line.strip() for line in child.stdout]
        errors.seek(0)
        assert said == ["done"], errors.read()[-4000:]
    return {path.stem: pq.read_table(path) for path in folder.glob("*.parquet")}


def check(found: dict[str, pa.Table], expected: dict[str, pa.Table]) -> None:
    """The same tuples; among those of one number, partitions may come in another order."""
    assert found.keys() == expected.keys()
    for name, table in expected.items():
        assert table.num_rows, name
        numbers = found[name][SEQ].to_pylist()
        assert numbers == sorted(numbers), name
        assert _sorted(found[name].drop_columns([SEQ])).equals(_sorted(table)), name


def _sorted(table: pa.Table) -> pa.Table:
    ordered = table.combine_chunks().sort_by([(name, "ascending") for name in table.column_names])
    return ordered.replace_schema_metadata(None).cast(pa.schema([(f.name, f.type) for f in table.schema]))


@pytest.mark.timeout(600)
def test_as_the_kernels(cluster: Cluster, tmp_path: Path, expected: dict[str, pa.Table]) -> None:
    both: list[int] = []
    found = run(cluster, tmp_path, "fused", lambda: both.extend(cluster.executors()))
    assert len(both) == 2
    check(found, expected)


@pytest.mark.timeout(600)
def test_an_executor_is_killed_in_mid_run(
    cluster: Cluster, tmp_path: Path, expected: dict[str, pa.Table]
) -> None:
    check(run(cluster, tmp_path, "fused", cluster.kill_executor), expected)


@pytest.mark.timeout(600)
def test_by_way_of_spark_an_executor_is_killed(
    cluster: Cluster, tmp_path: Path, expected: dict[str, pa.Table]
) -> None:
    check(run(cluster, tmp_path, "spark", cluster.kill_executor), expected)
