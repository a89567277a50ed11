"""Bytewax's side, in its own environment: `python -m benchmarks.others.bytewax_side JOB`, a JSON text.

A tuple is a Python object there, and its windows are Python, above a dataflow engine in Rust. Two ways:
`items` is the idiomatic one, an item for each tuple; `partials` sums each batch of Arrow by key and step of
the windows first, and the windows only put these parts together. Both write Parquet, and keep recovery files.
There is one worker, since workers of one process share Python's lock, and those of others get their tuples
pickled: that takes less of the clock, but more of the cores' time.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import bytewax.operators as op
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from benchmarks.engine.digest import digest_of_files
from benchmarks.engine.processes import cpu_seconds
from benchmarks.turns import Outcome, Run, serve
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.operators.windowing import EventClock, SlidingWindower, TumblingWindower, Windower, fold_window
from bytewax.outputs import FixedPartitionedSink, StatefulSinkPartition
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.testing import run_main

START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ADVANCES_S = {"tumbling": 10, "sliding": 2}
SIZE_S = 10
EPOCH = 10 * SECOND
"""As by default: at its end the states of all keys are written."""
BATCH = 10_000
"""The tuples of a batch of items; batches of Arrow are row groups."""
ROWS = 100_000
Value = tuple[datetime, float, int]
"""A time, a sum and a count."""
Row = tuple[datetime, int, float]
Begun = Callable[[], None]


class Files(FixedPartitionedSource[Any, int]):
    """The files of a stream in order; it says when the second one begins."""

    def __init__(self, folder: Path, begun: Begun, batch: int | None) -> None:
        # No closing tuples: the end of the input closes all windows.
        self._paths, self._begun, self._batch = sorted(folder.glob("*.parquet"))[:-1], begun, batch

    def list_parts(self) -> list[str]:
        return ["files"]

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> Part:
        return Part(self._batches(), resume_state or 0)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for number, path in enumerate(self._paths):
            if number == 1:
                self._begun()
            file = pq.ParquetFile(path)
            groups = (file.read_row_group(group) for group in range(file.num_row_groups))
            yield from (part for group in groups for part in group.to_batches(self._batch))


class Part(StatefulSourcePartition[Any, int]):
    """One stream of batches."""

    def __init__(self, batches: Iterator[pa.RecordBatch], done: int) -> None:
        self._batches, self._done = batches, done
        for _ in range(done):
            next(batches)

    def next_batch(self) -> list[pa.RecordBatch]:
        batch = next(self._batches)
        self._done += 1
        return [batch]

    def snapshot(self) -> int:
        return self._done


class Parquet(FixedPartitionedSink[Any, int]):
    """A folder of files, one for each epoch or for so many rows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list_parts(self) -> list[str]:
        return ["all"]

    def part_fn(self, item_key: str) -> int:
        return 0

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> Rows:
        return Rows(self._folder, resume_state or 0)


class Rows(StatefulSinkPartition[Any, int]):
    """Rows that wait for the end of their epoch."""

    def __init__(self, folder: Path, files: int) -> None:
        self._folder, self._files, self._rows = folder, files, list[Row]()

    def write_batch(self, values: list[Row]) -> None:
        self._rows += values
        if len(self._rows) >= ROWS:
            self._write()

    def snapshot(self) -> int:
        self._write()
        return self._files

    def close(self) -> None:
        self._write()

    def _write(self) -> None:
        if not self._rows:
            return
        times, keys, values = zip(*self._rows, strict=True)
        columns = [pa.array(times, pa.timestamp("us", "UTC")), pa.array(keys), pa.array(values)]
        table = pa.Table.from_arrays(columns, ["time", "key", "value"])
        pq.write_table(table, self._folder / f"part-{self._files:05d}.parquet")
        self._files += 1
        self._rows = []


class Bytewax:
    """Passes of one case, each as a dataflow."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._folder, self._advance_s = Path(job["inputs"]["events"]), ADVANCES_S[job["case"]]

    def run(self, root: Path, way: str) -> Outcome:
        """The clock and the cores' time from the second file to the end, and what came out."""
        output, recovery = root / "out", root / "recovery"
        for folder in (output, recovery):
            folder.mkdir(parents=True)
        init_db_dir(recovery, 1)
        begun: list[tuple[float, float]] = []
        flow = self._flow(way, output, lambda: begun.append((time.perf_counter(), cpu_seconds())))
        run_main(flow, epoch_interval=EPOCH, recovery_config=RecoveryConfig(recovery))
        (begin, used) = begun[0]
        seconds, cpu = time.perf_counter() - begin, cpu_seconds() - used
        return seconds, cpu, {"out": digest_of_files(output)}

    def _flow(self, way: str, output: Path, begun: Begun) -> Dataflow:
        flow = Dataflow("average")
        batches = op.input("files", flow, Files(self._folder, begun, BATCH if way == "items" else None))
        split = _items if way == "items" else self._partials
        keyed = op.flat_map("split", batches, split)
        # Time goes by key here, so windows wait a little for tuples of the next batch.
        clock = EventClock(lambda value: value[0], wait_for_system_duration=SIZE_S * SECOND)
        folded = fold_window(
            "average", keyed, clock, self._windower(), lambda: (0.0, 0), _add, _merge, ordered=False
        )
        rows = op.map("rows", folded.down, self._row)
        op.output("parquet", rows, Parquet(output))
        return flow

    def _windower(self) -> Windower[Any]:
        size, advance = SIZE_S * SECOND, self._advance_s * SECOND
        if size == advance:
            return TumblingWindower(length=size, align_to=START)
        return SlidingWindower(length=size, offset=advance, align_to=START)

    def _partials(self, batch: pa.RecordBatch) -> Iterable[tuple[str, Value]]:
        """A sum and a count for each key and step of the windows."""
        micros = batch["time"].cast(pa.int64())
        step = self._advance_s * 1_000_000
        steps = pc.multiply(pc.divide(micros, step), step).cast(pa.timestamp("us", "UTC"))
        table = pa.table({"key": batch["key"], "step": steps, "value": batch["value"]})
        sums = table.group_by(["key", "step"]).aggregate([("value", "sum"), ("value", "count")])
        keys = sums["key"].cast(pa.string()).to_pylist()
        values = (sums[name].to_pylist() for name in ("step", "value_sum", "value_count"))
        return zip(keys, zip(*values, strict=True), strict=True)

    def _row(self, item: tuple[str, tuple[int, tuple[float, int]]]) -> tuple[str, Row]:
        key, (window, (total, count)) = item
        return "", (START + window * self._advance_s * SECOND, int(key), total / count)


def _items(batch: pa.RecordBatch) -> Iterable[tuple[str, Value]]:
    keys = batch["key"].cast(pa.string()).to_pylist()
    values = zip(batch["time"].to_pylist(), batch["value"].to_pylist(), [1] * len(keys), strict=True)
    return zip(keys, values, strict=True)


def _add(total: tuple[float, int], value: Value) -> tuple[float, int]:
    return total[0] + value[1], total[1] + value[2]


def _merge(one: tuple[float, int], other: tuple[float, int]) -> tuple[float, int]:
    return one[0] + other[0], one[1] + other[1]


def start() -> Run:
    """What does the passes of the job that was asked for."""
    return Bytewax(json.loads(sys.argv[1])).run


if __name__ == "__main__":
    serve(start)
