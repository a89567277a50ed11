"""Real bursts: the opening of a stock market, if `AUSTRALIS_DATA` names a folder with `stocks` in it.

Trades and quotes of two symbols on one day, from 09:28 on, at a fixed speed. At the opening they arrive a
hundred times as fast as before it, but two symbols are little load for a node: so every tick is copied to as
many symbols as it takes to need a fixed multiple of the capacity after the opening. Nothing else depends on
the data.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.qos.feed import Feed
from benchmarks.qos.pictures import Line, Panel, chart
from benchmarks.qos.streams import PERIOD_S, Stream
from rich.table import Table

from australis import Network, NetworkBuilder, Node, Order, Quality
from australis.engine.observe import OutputQuality
from australis.qos.graphs import delta

DAY = "20131008"
FROM_S, OPEN_S = 9 * 3600 + 28 * 60, 9 * 3600 + 30 * 60
SPEED = 20
"""Seconds of the market per second."""
SECONDS, QUICK_SECONDS = 50, 25
OVERLOAD = 1.6
"""The load after the opening, in capacities."""
WARM_UP = 24
MIDNIGHT_US = 1_381_190_400_000_000
SCHEMA = (
    "time timestamp not null, symbol string not null, kind string not null, price double not null, "
    "size long not null, bid double, ask double, venue string not null"
)
QUALITIES = {
    "quotes": Quality(delay=((0, 1), (1, 1), (3, 0)), weight=4),
    "large": Quality(delay=((0, 1), (2, 1), (6, 0)), loss=((0, 0), (0.5, 0.7), (1, 1)), weight=2),
    "bars": Quality(delay=((0, 1), (4, 1), (9, 0)), loss=((0, 0), (0.3, 0.9), (1, 1)), weight=1.5),
    "tape": Quality(delay=((0, 1), (5, 1), (10, 0)), loss=((0, 0), (1, 1)), weight=1),
}


def network() -> Network:
    """Quotes of both sides at once; large trades soon; bars by symbol; and a tape of everything."""
    net = NetworkBuilder("market")
    ticks = net.input("ticks", SCHEMA).filter("price > 0 OR bid > 0 OR ask > 0", as_="sane")
    spread = {
        "time": "time",
        "symbol": "upper(symbol)",
        "middle": "(ask + bid) / 2",
        "spread": "round((ask - bid) / (ask + bid) * 2e4, 2)",
    }
    both = ticks.filter("kind = 'quote' AND bid > 0 AND ask > 0", as_="both")
    both.map(spread, as_="spread").output("quotes", QUALITIES["quotes"])
    value = {"time": "time", "symbol": "lpad(symbol, 12, '.')", "value": "round(price * size, 2)"}
    values = ticks.filter("kind = 'trade'", as_="trades").map(value, as_="value")
    values.filter("value > 100000", as_="big").output("large", QUALITIES["large"])
    seen = {
        "time": "time",
        "symbol": "split_part(symbol, '.', 1)",
        "price": "coalesce(price, (bid + ask) / 2)",
    }
    functions = {"low": "min(price)", "high": "max(price)", "mean": "avg(price)", "ticks": "count(*)"}
    bars = ticks.map(seen, as_="seen")
    by_symbol = Order("time", group_by=("symbol",))
    bars.aggregate(functions, by_symbol, "20 seconds", align=True, as_="bar").output(
        "bars", QUALITIES["bars"]
    )
    line = (
        "rpad(symbol, 12) || ' ' || lpad(CAST(CAST(price AS decimal(12,4)) AS string), 14) || ' ' || "
        "lpad(CAST(size AS string), 9) || ' ' || reverse(upper(reverse(venue || ':' || kind)))"
    )
    ticks.map({"time": "time", "line": line}, as_="print").output("tape", QUALITIES["tape"])
    return net.build()


# --- the data


def folder() -> Path | None:
    """The folder of the data; None if there is none."""
    named = os.environ.get("AUSTRALIS_DATA")
    found = Path(named) / "stocks" if named else None
    return found if found is not None and found.is_dir() else None


def _ticks(data: Path) -> pa.Table:
    """All ticks of the day, in order of time."""
    rows = [
        row for symbol in ("bac", "ibm") for kind in ("trade", "quote") for row in _read(data, symbol, kind)
    ]
    rows.sort(key=lambda row: row[0])
    columns = list(zip(*rows, strict=True))
    names = ("ms", "symbol", "kind", "price", "size", "bid", "ask", "venue")
    return pa.table(dict(zip(names, (pa.array(column) for column in columns), strict=True)))


def _read(data: Path, symbol: str, kind: str) -> Iterator[tuple[Any, ...]]:
    with zipfile.ZipFile(data / f"{symbol}_{DAY}_{kind}.zip") as archive:
        text = io.TextIOWrapper(archive.open(archive.namelist()[0]), "ascii")
        for row in csv.reader(text):
            ms = int(row[0])
            if kind == "trade":
                yield ms, symbol, kind, int(row[1]) / 1e4, int(row[2]), None, None, row[3]
            else:
                yield ms, symbol, kind, 0.0, 0, int(row[1]) / 1e4 or None, int(row[3]) / 1e4 or None, row[5]


def _write(ticks: pa.Table, folder: Path, copies: int, seconds: int) -> Stream:
    """A file for each tenth of a second; every tick for a number of symbols."""
    folder.mkdir(parents=True)
    times = ticks["ms"].to_numpy() / 1000
    edges = FROM_S + np.arange(round(seconds / PERIOD_S) + 1) * PERIOD_S * SPEED
    places = np.searchsorted(times, edges)
    files = []
    for number in range(len(edges) - 1):
        part = ticks.slice(places[number], places[number + 1] - places[number])
        files.append(folder / f"{number:05d}.parquet")
        pq.write_table(_copied(part, copies), files[-1])
    due = np.diff(places)[:, None] * copies
    return Stream(tuple(files), due)


def _copied(part: pa.Table, copies: int) -> pa.Table:
    """Each tick for a number of symbols that behave alike."""
    many = part.take(np.repeat(np.arange(part.num_rows), copies))
    numbers = np.tile(np.arange(copies), part.num_rows)
    symbols = [
        f"{each}.{number}" for each, number in zip(many["symbol"].to_pylist(), numbers.tolist(), strict=True)
    ]
    times = pa.array(MIDNIGHT_US + many["ms"].to_numpy() * 1000).view(pa.timestamp("us", "UTC"))
    given = {"time": times, "symbol": pa.array(symbols, pa.string())}
    rest = {name: many[name] for name in ("kind", "price", "size", "bid", "ask", "venue")}
    return pa.table({**given, **rest})


# --- the run


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Replay the opening on a node that may shed; returns its monitor's figures, second by second."""
    data, scratch = Path(job["data"]), Path(job["scratch"])
    ticks = _ticks(data)
    bounds = np.searchsorted(ticks["ms"].to_numpy() / 1000, [OPEN_S, FROM_S + job["seconds"] * SPEED])
    rate = float(bounds[1] - bounds[0]) / (job["seconds"] - (OPEN_S - FROM_S) / SPEED)
    capacity = _capacity(_write(ticks, scratch / "ticks", 20, job["seconds"]), scratch)
    shutil.rmtree(scratch / "ticks")
    copies = max(1, round(OVERLOAD * capacity / rate))
    stream = _write(ticks, scratch / "ticks", copies, job["seconds"])
    told = _replayed(stream, scratch)
    shutil.rmtree(scratch / "ticks")
    return {"capacity": capacity, "copies": copies, "tuples": stream.tuples, **told}


def _capacity(stream: Stream, scratch: Path) -> float:
    """Tuples per second from a backlog, in turns."""
    with Node(scratch / "market", schedule="round-robin", shed=False) as node:
        node.deploy(network())
        files = [path for path, size in zip(stream.files, stream.due[:, 0], strict=True) if size]
        for path in files[:WARM_UP]:
            node.adopt("ticks", path)
            node.drain()
        began = time.perf_counter()
        for path in files[WARM_UP:]:
            node.adopt("ticks", path)
        node.drain()
        seconds = time.perf_counter() - began
    shutil.rmtree(scratch / "market", ignore_errors=True)
    return float(stream.due[:, 0].sum()) * (len(files) - WARM_UP) / len(files) / seconds


def _replayed(stream: Stream, scratch: Path) -> dict[str, Any]:
    seen: list[dict[str, Any]] = []
    node = Node(scratch / "market")
    try:
        node.deploy(network())
        feed = Feed.soon(stream)
        batches = round(1 / PERIOD_S)

        def arrive(path: Path, due: float) -> None:
            node.adopt("ticks", path, now=int(due * 1e6))
            if round((due - feed.begin) / PERIOD_S) % batches == batches - 1:
                seen.append({"second": round(due - feed.begin), **_looked(node)})

        late = feed.run(arrive)
        node.check()
        entries = len(node.shed())
    finally:
        node.stop(now=True)
        shutil.rmtree(scratch / "market", ignore_errors=True)
    return {"seen": seen, "late": late, "entries": entries}


def _looked(node: Node) -> dict[str, Any]:
    """The monitor's figures for the last second."""
    report = node.quality(1)
    outputs = {
        name: {"p95": _late(each), "fraction": each.fraction, "utility": each.utility}
        for name, each in report.outputs.items()
    }
    return {"outputs": outputs, "utility": report.utility, "most": report.most}


def _late(output: OutputQuality) -> float:
    """How late an output was; if nothing arrived, how long what is in transit has waited."""
    return output.waiting_s or 0.0 if output.delay_ms_p95 is None else output.delay_ms_p95 / 1000


# --- printing


def table(told: dict[str, Any]) -> Table:
    made = Table("output", "seconds outside of its good zone", "highest p95, s", "delivered, on average")
    made.title = (
        f"{told['tuples']:,} ticks, {told['copies']} symbols for each, capacity {told['capacity']:,.0f}/s"
    )
    for name, quality in QUALITIES.items():
        late = [each["outputs"][name]["p95"] for each in told["seen"]]
        outside = sum(each > delta(quality.delay) for each in late)
        fractions = [each["outputs"][name]["fraction"] for each in told["seen"]]
        made.add_row(name, f"{outside} of {len(late)}", f"{max(late):.2f}", f"{np.mean(fractions):.0%}")
    return made


def picture(told: dict[str, Any]) -> str:
    """Delays and fractions by the second; the time after the opening is shaded."""
    begin = (OPEN_S - FROM_S) / SPEED
    marks = ((begin, float(told["seen"][-1]["second"])),)
    return chart(
        [
            Panel("95th percentile of the delay, s", tuple(_lines(told, "p95")), marks=marks),
            Panel("fraction delivered", tuple(_lines(told, "fraction")), most=1.0, marks=marks),
        ],
        "s",
    )


def _lines(told: dict[str, Any], what: str) -> Iterator[Line]:
    for name in QUALITIES:
        yield Line(name, tuple((each["second"], each["outputs"][name][what]) for each in told["seen"]))
