"""A node whose trains run on a standalone cluster does what the kernels do, also when an executor is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.crash.scenarios import FLUSH
from tests.spark_cluster.child import given
from tests.spark_cluster.handling import child
from tests.spark_cluster.standalone import Cluster

from australis.kernels.run import PipelineRun

SEQ = "#seq"


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
    with child("tests.spark_cluster.child", folder, cluster.url, str(folder), way) as lines:
        assert next(lines, None) == "running"
        disturb()
        assert list(lines) == ["done"]
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
    both: list[str] = []
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
