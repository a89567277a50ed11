"""Apache Flink's side, in its own environment: `python -m benchmarks.others.flink_side JOB`, a JSON text.

Each query is Flink SQL, so tuples never leave the JVM: window functions, which aggregate in two phases over
slices, and an interval join. A pass is a streaming job on a local cluster in the JVM of this process, with a
slot for each core, objects reused, and a checkpoint each second, by which the exactly-once Parquet sink
commits. It runs over a folder that it watches, and is warm when it has committed the first results of the
first tuples.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from benchmarks.engine.digest import Digest, digest_of_files
from benchmarks.engine.processes import cpu_seconds
from benchmarks.turns import Outcome, Run, serve
from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

CORES = 2
SETTINGS = {
    "parallelism.default": str(CORES),
    "taskmanager.numberOfTaskSlots": str(CORES),
    "pipeline.object-reuse": "true",
    "execution.checkpointing.interval": "1 s",
    "execution.checkpointing.incremental": "true",
    "taskmanager.memory.managed.size": "1 g",
    "table.local-time-zone": "UTC",
}
BAND = "INTERVAL '0.5' SECOND"
WINDOWS = """
    SELECT window_start, `key`, AVG(`value`) FROM TABLE({window})
    GROUP BY window_start, window_end, `key`
"""
OF_10_S = "TUMBLE(TABLE events, DESCRIPTOR(`time`), INTERVAL '10' SECOND)"
BY_2_S = "HOP(TABLE events, DESCRIPTOR(`time`), INTERVAL '2' SECOND, INTERVAL '10' SECOND)"
QUERIES = {
    "tumbling": WINDOWS.format(window=OF_10_S),
    "sliding": WINDOWS.format(window=BY_2_S),
    "filter": "SELECT `time`, `key`, `value` * 2 + 1 FROM events WHERE `value` > 50",
    "join": f"""
        SELECT l.`time`, l.`key`, l.`value` - r.`value` FROM `left` l JOIN `right` r
        ON l.`key` = r.`key` AND r.`time` BETWEEN l.`time` - {BAND} AND l.`time` + {BAND}
    """,
}
COLUMNS = "`time` TIMESTAMP(3) {null}, `key` BIGINT {null}, `value` DOUBLE {null}"
SOURCE = """
    CREATE TEMPORARY TABLE `{name}` ({columns}, WATERMARK FOR `time` AS `time`) WITH (
        'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{path}',
        'source.monitor-interval' = '10 ms'
    )
"""
SINK = """
    CREATE TEMPORARY TABLE results ({columns}) WITH (
        'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{path}'
    )
"""
POLL_S = 0.01


class Flink:
    """Passes of one case, each as a job."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._query = QUERIES[job["case"]]
        self._inputs = {name: Path(path) for name, path in job["inputs"].items()}
        self._rows: int = job["rows"]
        self._jars = ";".join(path.absolute().as_uri() for path in Path(job["jars"]).glob("*.jar"))

    def run(self, root: Path, backend: str) -> Outcome:
        """The clock and the cores' time from the second files to the last commit, and what came out."""
        folders = {name: root / "in" / name for name in self._inputs}
        for folder in (*folders.values(), root / "out", root / "checkpoints"):
            folder.mkdir(parents=True)
        output = Output(root / "out")
        client = self._start(root, backend, folders).get_job_client()
        # Only when all tasks run is there a checkpoint, and both readers wait for a file.
        _until(lambda: any((root / "checkpoints").glob("*/chk-*/_metadata")))
        self._appear(folders, "warm")
        _until(lambda: output.rows() > 0)
        used, begin = cpu_seconds(), time.perf_counter()
        self._appear(folders, "rest")
        _until(lambda: output.rows() >= self._rows)
        seconds, cpu = time.perf_counter() - begin, cpu_seconds() - used
        client.cancel().result()
        return seconds, cpu, {"out": output.digest()}

    def _start(self, root: Path, backend: str, folders: dict[str, Path]) -> Any:
        settings = {
            **SETTINGS,
            "pipeline.jars": self._jars,
            "state.backend.type": backend,
            "execution.checkpointing.dir": (root / "checkpoints").as_uri(),
        }
        configuration = Configuration()
        for name, value in settings.items():
            configuration.set_string(name, value)
        made = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration)
        tables = TableEnvironment.create(made.build())
        columns = COLUMNS.format(null="NOT NULL")
        for name, folder in folders.items():
            tables.execute_sql(SOURCE.format(name=name, columns=columns, path=folder.as_uri()))
        tables.execute_sql(SINK.format(columns=COLUMNS.format(null=""), path=(root / "out").as_uri()))
        return tables.execute_sql(f"INSERT INTO results {self._query}")

    def _appear(self, folders: dict[str, Path], part: str) -> None:
        for name, folder in folders.items():
            for path in sorted(self._inputs[name].glob(f"{part}-*.parquet")):
                os.link(path, folder / path.name)


class Output:
    """The files that were committed: those that are written have hidden names."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._seen = folder, dict[Path, int]()

    def rows(self) -> int:
        """How many rows there are."""
        for path in self._committed():
            if path not in self._seen:
                self._seen[path] = pq.read_metadata(path).num_rows
        return sum(self._seen.values())

    def digest(self) -> Digest:
        return digest_of_files(self._folder, "part-*")

    def _committed(self) -> Iterable[Path]:
        return self._folder.glob("part-*")


def _until(is_so: Callable[[], bool]) -> None:
    """Look at files until they show it: no other process may wait for Flink's commits."""
    while not is_so():
        time.sleep(POLL_S)


def start() -> Run:
    """What does the passes of the job that was asked for."""
    return Flink(json.loads(sys.argv[1])).run


if __name__ == "__main__":
    serve(start)
