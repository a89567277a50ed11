"""Real files through a node; left out where AUSTRALIS_DATA names no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
from tests.data import files, networks

from australis import Network, NetworkBuilder, Node, Order
from australis.app.demo import network as intrusion

Outputs = dict[str, list[dict[str, object]]]


def on_node(network: Network, tables: Mapping[str, pa.Table], batch: int) -> tuple[Outputs, dict[str, int]]:
    """Everything that a network emits on a node, its end included, and how many came late to each box."""
    with Node(train=3 * batch) as node:
        node.deploy(network)
        for name, table in tables.items():
            for at in range(0, len(table), batch):
                node.push(name, table.slice(at, batch))
        node.flush()
        node.drain()
        late = {box: counted.late for box, counted in node.statistics().boxes.items()}
        return {name: node.read(name).to_pylist() for name in network.outputs}, late


def test_the_intrusion_query_finds_the_port_scanners(data_dir: Path) -> None:
    network = intrusion.network(active=30, services=30)
    given = replace(network.inputs["connections"], format=files.INTRUSION)
    table = files.read(data_dir / "net_rita", given)
    found, _ = on_node(network, {"connections": table}, batch=20_000)
    first_day = [row for row in found["scans"] if row["time"].date() == date(2024, 4, 19)]  # type: ignore[attr-defined]
    assert {row["src"]: row["services"] for row in first_day} == {"47.89.128.90": 40, "47.252.52.245": 35}


def test_segment_statistics_of_linear_road(data_dir: Path) -> None:
    network = networks.segment_statistics()
    table = files.read(data_dir / "linear_road" / "positions.txt", network.inputs["positions"])
    found, _ = on_node(network, {"positions": table}, batch=5_000)
    lines = (data_dir / "linear_road" / "expected_first_300s.csv").read_text().splitlines()
    expected = {(car, time): lav for _, car, time, lav, _ in (map(int, line.split(",")) for line in lines)}
    assert {(row["car"], row["t"]) for row in found["entries"] if row["t"] <= 300} == set(expected)  # type: ignore[operator]
    averages = {(row["car"], row["t"]): row["lav"] for row in found["tolls"] if row["t"] <= 300}  # type: ignore[operator]
    assert averages == {entry: lav for entry, lav in expected.items() if lav}


def test_vessels_beyond_any_slack_are_counted(data_dir: Path) -> None:
    """At slack 0 a position is ignored unless no position of its vessel before it is later."""
    net = NetworkBuilder("vessels")
    positions = net.input("positions", "MMSI long, BaseDateTime timestamp, SOG double")
    order = Order("BaseDateTime", group_by=("MMSI",))
    positions.aggregate({"speed": "avg(SOG)", "n": "count(*)"}, order, "10 min", as_="speeds").output(
        "speeds"
    )
    network = net.build()
    table = files.vessels(data_dir, network.inputs["positions"])
    found, late = on_node(network, {"positions": table}, batch=20_000)
    ignored = _out_of_order(table)
    assert late == {"speeds": ignored}
    assert sum(row["n"] for row in found["speeds"]) == len(table) - ignored  # type: ignore[misc]


def _out_of_order(table: pa.Table) -> int:
    latest: dict[int, object] = {}
    ignored = 0
    for vessel, at in zip(table["MMSI"].to_pylist(), table["BaseDateTime"].to_pylist(), strict=True):
        if vessel in latest and at < latest[vessel]:
            ignored += 1
        else:
            latest[vessel] = at
    return ignored
