"""Inputs that are held back for room on disk: everybody sees it, and a run that waits can be ended."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.app.files import australis

from australis import NetworkBuilder, Node
from australis.app.demo.replay import TableSource
from australis.app.running.conductor import Conductor
from australis.engine.sources import Rate
from australis.errors import EngineError


def held(node: Node) -> None:
    """Wait until somebody waits for room."""
    node._ledger.guard.wait_until(lambda: node._deployed.back_pressure.waiting > 0)


def test_a_run_that_waits_for_room_is_seen_and_can_be_ended(spark: SparkSession, tmp_path: Path) -> None:
    net = NetworkBuilder("slow")
    net.input("s", "k long").filter("k >= 0", as_="all").output("out")
    table, ended = pa.table({"k": range(100_000)}), []
    with Node(tmp_path / "root", disk=1) as node:
        node.deploy(net.build())
        node.acknowledge("somebody who comes later", "out", 0)
        conductor = Conductor(node, [TableSource("s", table, Rate(1e6))], [], flush=False)
        run = threading.Thread(target=lambda: ended.append(conductor.run()))
        run.start()
        held(node)
        node.drain()
        assert node.statistics().held_back
        assert "inputs are held back: " in australis("stats", tmp_path / "root").stdout
        conductor.ask()
        run.join(60)
        assert ended == [False], "not whole, and no error"


def test_a_node_that_is_paused_makes_no_room(spark: SparkSession, tmp_path: Path) -> None:
    net = NetworkBuilder("slow")
    net.input("s", "k long").filter("k >= 0", as_="all").output("out")
    with Node(tmp_path / "root", disk=1) as node:
        node.deploy(net.build())
        node.pause()
        node.push("s", pa.table({"k": [1]}))
        with pytest.raises(EngineError, match=r"slow\.s: is paused before there is disk space: .*resume"):
            node.push("s", pa.table({"k": [2]}))
