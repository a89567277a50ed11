"""Producers that push again after an error: what the log has already is not stored again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engine.in_process import InProcess

from australis import NetworkBuilder, Node
from australis.algebra.network import Network
from australis.engine.ingest.log import Arrival
from australis.engine.store.root import SEGMENTS
from australis.errors import EngineError


def network() -> Network:
    net = NetworkBuilder("n")
    net.input("x", "k long").filter("k >= 0", as_="some").output("out")
    return net.build()


def opened(root: Path) -> Node:
    node = Node(root, runner=InProcess())
    node.deploy(network())
    return node


def keys(node: Node) -> list[int]:
    node.drain()
    found: list[int] = node.read("out")["k"].to_pylist()
    return found


def test_a_push_that_is_repeated_stores_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        assert node.push("x", [{"k": 1}], position=("sensor", 1)) == 2
        assert node.push("x", [{"k": 1}], position=("sensor", 1)) is None
        assert node.push("x", [{"k": 2}], position=("sensor", 2)) == 4
        assert node.push("x", [{"k": 1}], position=("sensor", 1)) is None
        assert node.push("x", [{"k": 3}], position=("another", 1)) == 6
        assert keys(node) == [1, 2, 3]
        assert node.position("sensor") == "2"


def test_a_push_that_is_repeated_after_a_restart_stores_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        node.push("x", [{"k": 1}], position=("sensor", 10))
    with opened(tmp_path) as node:
        assert node.push("x", [{"k": 1}], position=("sensor", 10)) is None
        assert node.push("x", [{"k": 2}], position=("sensor", 11)) is not None
        assert keys(node) == [1, 2]


def test_one_that_is_repeated_while_the_first_is_under_way_leaves_no_file(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        node.pause()
        node.push("x", [{"k": 1}], position=("sensor", 1))
        there = set(node.root.names(SEGMENTS))
        ingest = node._deployed.ingest
        # What a second thread does that has asked before the first one has committed.
        late = ingest.store("x", [{"k": 1}], 0)
        assert ingest.append(Arrival("x", late, 0, position=("sensor", 1))) is None
        assert set(node.root.names(SEGMENTS)) == there


def test_files_ends_and_time_are_repeated_likewise(tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"k": [1, 2]}), file)
    with opened(tmp_path / "root") as node:
        assert [node.adopt("x", file, position=("files", 1)) for _ in range(2)] == [3, None]
        assert [node.tick(position=("time", 1)) for _ in range(2)] == [4, None]
        assert [node.flush(position=("end", 1)) for _ in range(2)] == [6, None]
        assert keys(node) == [1, 2]
    assert file.exists()


def test_texts_are_never_compared(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        for _ in range(2):
            assert node.push("x", [{"k": 1}], position=("file", "line 7")) is not None
        assert keys(node) == [1, 1]
        refused = r"the position 8 of the source 'file' cannot be compared with 'line 7', its last"
        with pytest.raises(EngineError, match=refused):
            node.push("x", [{"k": 1}], position=("file", 8))


@pytest.mark.parametrize(
    "position", [("sensor", 1.5), ("sensor", True), ("sensor", None), ("sensor",), (None, 2), "s2", 7]
)
def test_what_is_no_position_is_refused_and_stores_nothing(tmp_path: Path, position: Any) -> None:
    with opened(tmp_path) as node:
        node.push("x", [{"k": 1}], position=("sensor", 1))
        with pytest.raises(
            EngineError, match=r"^n: its position is .*; expected a source with a number or a text"
        ):
            node.push("x", [{"k": 2}], position=position)
        assert keys(node) == [1]
        assert node.position("sensor") == "1"


def test_a_number_of_numpy_is_a_number(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        for _ in range(2):
            node.push("x", [{"k": 1}], position=("sensor", np.int64(7)))  # type: ignore[arg-type]
        assert keys(node) == [1]


@pytest.mark.parametrize("now", [1.5, "noon", 1 << 62, (1 << 63) - 1, 1 << 63, -(1 << 62)])
def test_a_time_that_no_train_can_compute_with_is_refused(tmp_path: Path, now: Any) -> None:
    with opened(tmp_path) as node:
        for call in (
            lambda: node.push("x", [{"k": 1}], now=now),
            lambda: node.tick(now),
            lambda: node.flush(now),
        ):
            with pytest.raises(
                EngineError, match=r"^n: its local time is .*; expected whole microseconds since 1970"
            ):
                call()
        node.push("x", [{"k": 2}])
        assert keys(node) == [2]
