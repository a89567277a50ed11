"""Benchmarks compare equal results, take passes in turn, and give each engine the same tuples."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from benchmarks.engine.australis_side import Runner
from benchmarks.engine.cases import FAN_OUT_TEN, KEYED_AVERAGE, THROUGHPUT, Case, threshold
from benchmarks.engine.digest import Digest, digest
from benchmarks.engine.inputs import KEYS, WARM_UP, write_stream
from benchmarks.engine.networks import NETWORKS
from benchmarks.engine.tuning import BEST, candidates
from benchmarks.others.cases import CASES
from benchmarks.others.inputs import write_partitions
from benchmarks.turns import Passes, Ratio, Side, in_turn

ROOT = Path(__file__).parents[1]
TUPLES = 30_000
SERVE = """
import sys
from benchmarks.engine.digest import Digest
from benchmarks.turns import serve

passes = []

def run(root, tuning):
    print("noise that is no answer")
    passes.append(tuning)
    if len(passes) > {most}:
        sys.exit(3)
    return float(len(passes)), tuning, {{"out": Digest({rows}, 1, 2, 3.0, 4.0)}}

serve(lambda: run)
"""


def side(rows: int = 7, most: int = 100, **ways: float) -> Side:
    """A process whose passes take as long as its tuning says."""
    return Side([sys.executable, "-c", SERVE.format(rows=rows, most=most)], ways or {"only": 1.0})


def test_sides_take_passes_in_turn_and_the_first_turns_only_warm_up(tmp_path: Path) -> None:
    found = in_turn({"one": side(), "two": side(fast=2.0, slow=5.0)}, tmp_path, 2, warm_ups=2)
    same = {"out": Digest(7, 1, 2, 3.0, 4.0)}
    assert found == {
        "one": [Passes("only", (3.0, 4.0), (1.0, 1.0), same)],
        "two": [Passes("fast", (5.0, 7.0), (2.0, 2.0), same), Passes("slow", (6.0, 8.0), (5.0, 5.0), same)],
    }


def test_different_results_are_not_compared(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"out of two, only: .*rows=8.* but of one: .*rows=7"):
        in_turn({"one": side(), "two": side(rows=8)}, tmp_path, 1)


def test_the_end_of_a_side_ends_the_benchmark(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="two ended with 3"):
        in_turn({"one": side(), "two": side(most=1)}, tmp_path, 2)


def test_the_best_tuning_counts_for_the_clock_and_for_the_cores_by_itself() -> None:
    ours = Passes("node", (1.0, 2.0, 3.0), (1.0, 1.0, 1.0), {})
    quick = Passes("quick", (4.0, 4.0, 4.0), (9.0, 9.0, 9.0), {})
    cheap = Passes("cheap", (9.0, 9.0, 9.0), (5.0, 6.0, 4.0), {})
    ratio = Ratio.of(ours, [quick, cheap])
    assert (ratio.clock.median, ratio.clock.least, ratio.clock.most) == (2.0, 4 / 3, 4.0)
    assert (ratio.cpu.median, ratio.cpu.least, ratio.cpu.most) == (5.0, 4.0, 6.0)


def test_every_case_has_a_network_and_tunings() -> None:
    names = {case.name for case in THROUGHPUT}
    assert names == set(NETWORKS) == set(BEST)
    assert all(set(BEST[name]) <= {*candidates(name)} for name in names)
    assert {case.ours for case in CASES} <= names


def test_partitions_hold_the_stream_each_in_order_of_time(tmp_path: Path) -> None:
    files = write_stream(tmp_path / "events", TUPLES, 0)
    write_partitions(tmp_path / "events", tmp_path / "parts")
    whole = pa.concat_tables(pq.read_table(path) for path in files)
    parts = {path.name: pq.read_table(path) for path in (tmp_path / "parts").iterdir()}
    assert sorted(parts) == ["rest-0.parquet", "rest-1.parquet", "warm-0.parquet", "warm-1.parquet"]
    assert digest(parts.values()).agrees(digest([whole]))
    assert sum(part.num_rows for name, part in parts.items() if name.startswith("warm")) == WARM_UP
    for part in parts.values():
        assert (np.diff(part["time"].cast(pa.int64()).to_numpy()) >= 0).all()
    # Each reader of a partition comes to the end of time, or windows would never close.
    ends = {pc.max(part["time"]).as_py() for name, part in parts.items() if name.startswith("rest")}
    assert ends == {pc.max(whole["time"]).as_py()}


@pytest.mark.parametrize("case", [KEYED_AVERAGE, FAN_OUT_TEN], ids=lambda case: case.name)
def test_a_pass_of_ours_has_the_results_of_arrow(case: Case, tmp_path: Path) -> None:
    files = write_stream(tmp_path / "events", TUPLES, 0)
    clock, cpu, digests = Runner(case, tmp_path, "light").run(tmp_path / "root")
    assert clock > 0
    assert cpu >= 0
    averages = averages_of(pa.concat_tables(pq.read_table(path) for path in files[:-1]))
    for number, output in enumerate(case.outputs):
        least = threshold(number) if len(case.outputs) > 1 else 0
        assert digests[output].agrees(digest([averages.filter(pc.field("value") > least)]))


def averages_of(table: pa.Table) -> pa.Table:
    """The average of each key in windows of 10 s; that of the closing tuples never closes."""
    starts = pc.floor_temporal(table["time"], 10, "second")
    grouped = pa.table({"time": starts, "key": table["key"], "value": table["value"]}).group_by(
        ["time", "key"]
    )
    found = grouped.aggregate([("value", "mean")]).rename_columns(["time", "key", "value"])
    assert found.num_rows > KEYS
    return found


@pytest.mark.spark
@pytest.mark.long
def test_the_benchmark_of_the_engine_runs_and_ends_with_json() -> None:
    arguments = ["--case", "keyed_average", "--passes", "1", "--tuples", str(TUPLES)]
    command = [sys.executable, "-m", "benchmarks.engine", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["keyed_average_cpu_x"] > 0
    assert figures["keyed_average_cpu_x_least"] <= figures["keyed_average_cpu_x_most"]
