"""Semantic against random shedding: the same fraction of a stream shed by value, and at random.

A gauge reports levels, of which high ones matter; the output has a risk computed from them, and the drop box
is before that. What counts is the utility of all values that were delivered.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.qos.by_hand import run_shedding
from rich.table import Table

from australis import Network, NetworkBuilder, Quality, ValueGraph
from australis.qos.graphs import value_utilities

RATES = (0.3, 0.5, 0.7)
TOLD = 0.5
"""The rate whose ratio represents all."""
FILES, TUPLES = 8, 50_000
RISKS = ValueGraph("risk", points=((0, 0), (50, 0.2), (100, 1)))


def network() -> Network:
    net = NetworkBuilder("gauges")
    levels = net.input("levels", "gauge long not null, level double not null, note string not null")
    risks = levels.filter("level >= 0").map(
        {"gauge": "gauge", "risk": "(level - 20) * 1.25", "note": "upper(note)"}
    )
    risks.output("risks", Quality(delay=((0, 1), (2, 1), (9, 0)), value=RISKS))
    return net.build()


def run(job: dict[str, Any]) -> list[dict[str, float]]:
    """The utility delivered at each rate, with random and semantic shedding."""
    scratch = Path(job["scratch"])
    files = _files(scratch)
    whole = _utility(run_shedding(network(), files, 0.0, scratch).output)
    found = []
    for rate in RATES:
        told = {"rate": rate}
        for kind, by_value in (("random", False), ("semantic", True)):
            outcome = run_shedding(network(), files, rate, scratch, by_value=by_value)
            told[f"{kind}_delivered"] = outcome.delivered
            told[f"{kind}_utility"] = _utility(outcome.output) / whole
        found.append(told)
    return found


def _files(folder: Path) -> list[Path]:
    chance = np.random.default_rng(3)
    paths = [folder / f"levels-{number}.parquet" for number in range(FILES)]
    for path in paths:
        levels = np.clip(chance.normal(55, 22, TUPLES), 0, 100)
        notes = pa.array([f"gauge note {number % 500}" for number in range(TUPLES)])
        table = {"gauge": chance.integers(0, 200, TUPLES), "level": levels, "note": notes}
        pq.write_table(pa.table(table), path)
    return paths


def _utility(output: pa.Table) -> float:
    return float(value_utilities(RISKS, output["risk"].to_numpy()).sum())


def ratio(found: list[dict[str, float]]) -> float:
    """The utility of semantic relative to random shedding, for the same number of tuples."""
    told = next(each for each in found if each["rate"] == TOLD)
    each = {kind: told[f"{kind}_utility"] / told[f"{kind}_delivered"] for kind in ("random", "semantic")}
    return each["semantic"] / each["random"]


def table(found: list[dict[str, float]]) -> Table:
    made = Table("to be shed", "delivered: random", "semantic", "utility: random", "semantic", "ratio")
    for each in found:
        share = each["semantic_utility"] / each["random_utility"]
        cells = ("random_delivered", "semantic_delivered", "random_utility", "semantic_utility")
        made.add_row(f"{each['rate']:.0%}", *(f"{each[cell]:.1%}" for cell in cells), f"{share:.2f}x")
    return made
