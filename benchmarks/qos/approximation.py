"""Windows over a part of their tuples: count, sum and average after a random drop box.

Counts and sums fall by what was shed, which the ledger knows: divided by the fraction delivered they are
estimates. An average needs no correction.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.qos.by_hand import run_shedding
from rich.table import Table

from australis import Network, NetworkBuilder, Order, Quality

RATES = (0.1, 0.3, 0.5, 0.7)
FILES, TUPLES, KEYS, WINDOWS = 5, 200_000, 100, 10
"""All windows are emitted but the last one, which no tuple closes."""
PER_WINDOW = FILES * TUPLES // (KEYS * WINDOWS)


def network() -> Network:
    net = NetworkBuilder("windows")
    events = net.input("events", "time long not null, key long not null, value double not null")
    functions = {"count": "count(*)", "sum": "sum(value)", "average": "avg(value)"}
    windows = events.aggregate(functions, Order("time", group_by=("key",)), size=1, align=True)
    windows.output("windows", Quality(delay=((0, 1), (9, 0)), loss=((0, 0), (1, 1))))
    return net.build()


def run(job: dict[str, Any]) -> list[dict[str, float]]:
    """The mean relative error of the functions at each rate."""
    scratch = Path(job["scratch"])
    files = _files(scratch)
    exact = _sorted(run_shedding(network(), files, 0.0, scratch).output)
    return [_errors(files, exact, rate, scratch) for rate in RATES]


def _errors(files: list[Path], exact: pa.Table, rate: float, scratch: Path) -> dict[str, float]:
    outcome = run_shedding(network(), files, rate, scratch)
    found, delivered = _sorted(outcome.output), outcome.delivered
    if not found.select(["key", "time"]).equals(exact.select(["key", "time"])):
        raise SystemExit(f"some windows were not emitted when {rate:.0%} was shed")
    told = {"rate": rate, "delivered": delivered}
    for name in ("count", "sum", "average"):
        told[name] = _error(found[name], exact[name], 1.0)
    for name in ("count", "sum"):
        told[f"{name}_scaled"] = _error(found[name], exact[name], delivered)
    return told


def _error(found: pa.ChunkedArray, exact: pa.ChunkedArray, delivered: float) -> float:
    truth = exact.to_numpy().astype(float)
    return float(np.mean(np.abs(found.to_numpy() / delivered - truth) / np.abs(truth)))


def _sorted(output: pa.Table) -> pa.Table:
    return output.sort_by([("key", "ascending"), ("time", "ascending")])


def _files(folder: Path) -> list[Path]:
    """Widely spread values: a few are many times the median."""
    chance = np.random.default_rng(11)
    paths = [folder / f"events-{number}.parquet" for number in range(FILES)]
    for number, path in enumerate(paths):
        first = number * TUPLES
        times = (first + np.arange(TUPLES)) * WINDOWS // (FILES * TUPLES)
        values = chance.lognormal(3, 0.75, TUPLES)
        pq.write_table(
            pa.table({"time": times, "key": chance.integers(0, KEYS, TUPLES), "value": values}), path
        )
    return paths


def table(found: list[dict[str, float]]) -> Table:
    made = Table("delivered", "count", "count / delivered", "sum", "sum / delivered", "average")
    made.title = f"mean relative error of windows of {PER_WINDOW:,} tuples"
    for each in found:
        cells = ("count", "count_scaled", "sum", "sum_scaled", "average")
        made.add_row(f"{each['delivered']:.1%}", *(f"{each[cell]:.2%}" for cell in cells))
    return made
