"""What `australis check --rate` says beside what a node at that rate then needs, in cores.

Some networks, with and without a stored table, at some rates. The need that a node has is the time of the
cores that it and its workers use while tuples arrive at that rate and nothing is shed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks import steady
from benchmarks.saying import run, say

from australis import Network, NetworkBuilder, Node
from australis.app.checking import CapacityQuestion, analyse_load

PERIOD_S = 0.1
WARM_S, MEASURED_S = 15, 20
SAMPLE = 400_000
VISITORS = 5_000


@dataclass(frozen=True)
class Case:
    """A network with one stream, and its tuples."""

    network: Network
    stream: str
    batch: Callable[[int, int], pa.Table]


def lookups() -> Network:
    """Visits of a table of visitors: most of them are known."""
    net = NetworkBuilder("lookups")
    visitors = net.table("visitors", "visitor string not null, city string")
    visits = net.input("visits", "visitor string not null, page string not null, at long not null")
    known = visits.filter("page <> '/alive'", as_="pages").join(
        visitors, "left.visitor = right.visitor", table="right", as_="known"
    )
    known.map({"page": "upper(page)", "city": "city"}, as_="cities").output("cities")
    return net.build()


def visits(number: int, tuples: int) -> pa.Table:
    first = number * tuples
    names = [f"v{each * 7919 % VISITORS}" for each in range(first, first + tuples)]
    pages = [f"/page/{each % 100}" for each in range(tuples)]
    return pa.table({"visitor": names, "page": pages, "at": list(range(first, first + tuples))})


def cases() -> Mapping[str, Case]:
    lines = steady.Lines()
    return {
        "branches": Case(steady.network(), "lines", lambda n, size: lines.batch(n, size, n)),
        "lookups": Case(lookups(), "visits", visits),
    }


def compare(case: Case, rate: float, folder: Path) -> dict[str, Any]:
    """The cores that the analysis says, and those that a node used."""
    tables = {name: _table(given.schema.arrow) for name, given in case.network.inputs.items() if given.table}
    files = [f"{case.stream}={_file(folder, case.stream, case.batch(0, SAMPLE))}"]
    files += [f"{name}={_file(folder, name, rows)}" for name, rows in tables.items()]
    question = CapacityQuestion((f"{rate}/s",), None, 1.0, tuple(files), SAMPLE, None, None, None, True)
    report = analyse_load(case.network, question)
    used, late_s = needed(case, rate, tables)
    said, capacity = report.analysis.min_cap, report.analysis.machine.capacity
    return {
        "rate": round(rate),
        "said": round(said, 3),
        "used": round(used, 3),
        "apart": round(abs(said - used) / capacity, 3),
        "boxes_alone": round(said - report.analysis.node.cores, 3),
        "late_s": round(late_s, 2),
    }


def needed(case: Case, rate: float, tables: Mapping[str, pa.Table]) -> tuple[float, float]:
    """The cores that a node uses at a rate, and by how much the feed was late at most."""
    size = max(1, round(rate * PERIOD_S))
    batches = [case.batch(number, size) for number in range(20)]
    with Node(runner="light", shed=False) as node:
        node.deploy(case.network, tables=dict(tables))
        began, latest, before = time.monotonic(), 0.0, (0.0, 0.0)
        for number in range(round((WARM_S + MEASURED_S) / PERIOD_S)):
            due = began + number * PERIOD_S
            time.sleep(max(0.0, due - time.monotonic()))
            if number == round(WARM_S / PERIOD_S):
                before = (steady.cpu_s(), time.monotonic())
            node.push(case.stream, batches[number % len(batches)])
            latest = max(latest, time.monotonic() - due)
        used = steady.cpu_s() - before[0], time.monotonic() - before[1]
        node.stop(now=True)
    # By the tuples that came, not by the clock, which a busy machine stretches.
    return used[0] / MEASURED_S, latest


def _table(schema: pa.Schema) -> pa.Table:
    return pa.table([[f"v{n}" for n in range(VISITORS)], [f"city {n % 50}" for n in range(VISITORS)]], schema)


def _file(folder: Path, name: str, rows: pa.Table) -> Path:
    path = folder / f"{name}.parquet"
    pq.write_table(rows, path)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rates", type=float, nargs="*", default=[20_000, 80_000])
    parser.add_argument("--cases", nargs="*", default=list(cases()))
    given = parser.parse_args()
    found: dict[str, list[dict[str, Any]]] = {}
    for name in given.cases:
        for rate in given.rates:
            with tempfile.TemporaryDirectory(prefix="australis-agreement-") as folder:
                found.setdefault(name, []).append(compare(cases()[name], rate, Path(folder)))
            say(f"{name}: {found[name][-1]}")
    print(json.dumps(found))


if __name__ == "__main__":
    run(main)
