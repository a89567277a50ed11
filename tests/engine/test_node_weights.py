"""Weights on a node: what gates shed, the tuples that they let through stand for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.engine.assembled import World, assembled, push
from tests.engine.in_process import InProcess
from tests.engine.in_process import run as run_here

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.running import Running
from australis.engine.settings import NodeSettings
from australis.engine.worker import Manifest, TrainFailed, Waybill
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Discipline
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.shedder import Insert

ROWS = 40_000
PACKETS = "n long not null, host long, bytes double, copies double not null"
SUMS = {"used": "count(*)", "came": "sum(copies)", "bytes": "sum(bytes * copies)"}


def packets(count: int = ROWS, first: int = 0) -> pa.Table:
    numbers = range(first, first + count)
    values = [[n % 10 for n in numbers], [float(n % 100) for n in numbers]]
    return pa.table({"n": list(numbers), "host": values[0], "bytes": values[1]})


TRUE_BYTES = sum(packets()["bytes"].to_pylist())


def network(size: int = 1_000_000) -> Network:
    """A filter, and the sums of all that it lets through."""
    net = NetworkBuilder("net")
    known = net.input("packets", PACKETS, weight="copies").filter("host >= 0", as_="known")
    known.output("known")
    known.aggregate(SUMS, Order("n"), size, as_="sums").output("sums")
    return net.build()


@contextmanager
def deployed(folder: Path, network: Network, **settings: Any) -> Iterator[Node]:
    given = {"runner": "light", "discipline": "box", **settings}
    with Node(folder / "root", shed=False, **given) as node:
        node.deploy(network)
        yield node


def order(node: Node, *commands: Insert) -> None:
    """Have drop boxes put up, as the shedder does."""
    node._deployed.steering.dropboxes.obey(commands, node._clock())


def results(node: Node, output: str = "sums", table: pa.Table | None = None) -> dict[str, list[Any]]:
    """What comes of tuples, up to the end of the streams."""
    node.push("packets", packets() if table is None else table)
    node.flush()
    node.drain()
    found: dict[str, list[Any]] = node.read(output).to_pydict()
    return found


def test_without_shedding_all_counts_are_exact(tmp_path: Path) -> None:
    with deployed(tmp_path, network()) as node:
        found = results(node)
        assert (found["used"], found["came"], found["bytes"]) == ([ROWS], [float(ROWS)], [TRUE_BYTES])
        assert set(node.read("known")["copies"].to_pylist()) == {1.0}


@pytest.mark.parametrize("way", ["light", "fused", "spark"])
def test_counts_and_sums_are_scaled(spark: SparkSession, tmp_path: Path, way: str) -> None:
    settings = {} if way == "light" else {"runner": "spark", "way": way}
    with deployed(tmp_path, network(), **settings) as node:
        order(node, Insert("known", DropBox.random(0.75)))
        found = results(node)
        assert found["used"][0] == pytest.approx(ROWS / 4, rel=0.05)
        assert found["came"] == [4.0 * found["used"][0]]
        assert found["came"][0] == pytest.approx(ROWS, rel=0.05)
        assert found["bytes"][0] == pytest.approx(TRUE_BYTES, rel=0.05)
        assert set(node.read("known")["copies"].to_pylist()) == {4.0}
        told = node.network().boxes["drop_1"].description
        assert told.startswith("sheds 75.0% of all, and multiplies copies by 4")


def test_weights_that_a_source_gives_are_kept(tmp_path: Path) -> None:
    sampled = packets(1_000).append_column("copies", pa.array([100.0] * 999 + [None]))
    with deployed(tmp_path, network()) as node:
        order(node, Insert("known", DropBox.random(0.5)))
        results(node, table=sampled)
        assert {w for w in node.read("known")["copies"].to_pylist() if w != 2.0} == {200.0}


def test_gates_on_one_path_multiply(tmp_path: Path) -> None:
    with deployed(tmp_path, network()) as node:
        order(node, Insert("known", DropBox.random(0.5)), Insert("sums", DropBox.random(0.6)))
        found = results(node)
        assert found["came"][0] == pytest.approx(5 * found["used"][0])
        assert found["came"][0] == pytest.approx(ROWS, rel=0.05)
        assert set(node.read("known")["copies"].to_pylist()) == {2.0}, "before the second gate"


def test_a_predicate_counts_what_it_sheds_but_leans_to_what_it_keeps(tmp_path: Path) -> None:
    with deployed(tmp_path, network()) as node:
        order(node, Insert("known", DropBox(0.5, {"packets": "bytes < 50"})))
        found = results(node)
        assert (found["used"], found["came"]) == ([ROWS // 2], [float(ROWS)])
        assert found["bytes"][0] / TRUE_BYTES == pytest.approx(74.5 / 49.5)


def test_a_predicate_on_one_of_two_streams_counts_both(tmp_path: Path) -> None:
    net = NetworkBuilder("net")
    mine, yours = (net.input(name, PACKETS, weight="copies") for name in ("packets", "others"))
    both = mine.union(yours, as_="both")
    both.output("both")
    with deployed(tmp_path, net.build()) as node:
        order(node, Insert("both", DropBox(0.25, {"packets": "bytes < 50"})))
        node.push("others", packets())
        found = results(node, "both")
        assert len(found["copies"]) == 1.5 * ROWS
        assert sum(found["copies"]) == pytest.approx(2 * ROWS)


def test_what_sheds_all_leaves_nothing(tmp_path: Path) -> None:
    with deployed(tmp_path, network()) as node:
        order(node, Insert("known", DropBox.random(1.0)))
        assert results(node)["used"] == []


def test_a_gate_that_does_not_know_the_weight_changes_nothing(tmp_path: Path) -> None:
    net = NetworkBuilder("net")
    computed = net.input("packets", PACKETS, weight="copies").map({"copies": "copies + 1"}, as_="computed")
    computed.filter("copies > 0", as_="some").output("out")
    with deployed(tmp_path, net.build()) as node:
        order(node, Insert("some", DropBox.random(0.5)))
        assert set(results(node, "out")["copies"]) == {2.0}
        assert "multiplies" not in node.network().boxes["drop_1"].description


def test_under_another_name(tmp_path: Path) -> None:
    net = NetworkBuilder("net")
    renamed = net.input("packets", PACKETS, weight="copies").map({"n": "n", "times": "copies"}, as_="renamed")
    renamed.filter("n >= 0", as_="some").output("out")
    with deployed(tmp_path, net.build()) as node:
        order(node, Insert("some", DropBox.random(0.5)))
        assert set(results(node, "out")["times"]) == {2.0}


def test_groups_by_the_weight_itself_are_whole(tmp_path: Path) -> None:
    """What is scaled decides the partition, also of tuples that came before with that weight."""
    net = NetworkBuilder("net")
    stream = net.input("packets", PACKETS, weight="copies")
    stream.aggregate(
        {"used": "count(*)"}, Order("n", group_by=("copies",), slack=ROWS), 1_000_000, as_="w"
    ).output("out")
    with deployed(tmp_path, net.build(), partitions=8) as node:
        given = [float(1 << (n % 8)) for n in range(1_000)]
        node.push("packets", packets(1_000).append_column("copies", pa.array(given)))
        node.drain()
        order(node, Insert("w", DropBox.random(0.5)))
        found = results(node, "out", packets(1_000, 1_000).append_column("copies", pa.array(given)))
        assert sorted(found["copies"]) == [float(1 << n) for n in range(9)]


# --- trains


def sums(running: Running) -> list[dict[str, Any]]:
    """Everything that the sums and their tuples are."""
    read = running.subscriptions.read
    return [*read("sums").to_pylist(), *read("known").to_pylist()]


def all_at_once(folder: Path, world: World, train: int) -> list[dict[str, Any]]:
    """What comes of packets in trains of a length."""
    settings = NodeSettings(Discipline.BOX, train=train)
    with assembled(folder, network(), world, settings) as running:
        running.steering.dropboxes.obey([Insert("known", DropBox.random(0.75))], 0)
        push(running, "packets", packets(2_000))
        running.ingest.flush(world.now)
        while running.loop.step() is not None:
            pass
        return sums(running)


def test_trains_that_are_repeated_or_cut_elsewhere_give_the_same(tmp_path: Path) -> None:
    failed = []

    def fails_first(waybill: Waybill) -> list[Manifest]:
        made = run_here(waybill)
        if waybill.train not in failed:
            failed.append(waybill.train)
            raise TrainFailed(Problem("net", "its worker was lost"))
        return made

    once = all_at_once(tmp_path / "once", World(), 100_000)
    assert once == all_at_once(tmp_path / "again", World(run=fails_first), 100_000)
    assert failed
    assert once == all_at_once(tmp_path / "cut", World(), 77)


def test_a_train_that_a_node_lost_before_its_commit(tmp_path: Path) -> None:
    """The next life of the root runs it again, behind the same drop box, and gets the same."""

    def lost(waybill: Waybill) -> list[Manifest]:
        run_here(waybill)
        raise EngineError(Problem("net", "the power went"))

    world = World(run=lost)
    expected = all_at_once(tmp_path / "once", World(), 100_000)
    with pytest.raises(EngineError, match="the power went"):
        all_at_once(tmp_path / "root", world, 100_000)
    with assembled(tmp_path / "root", network(), World(), NodeSettings(Discipline.BOX)) as running:
        running.steering.dropboxes.obey([Insert("known", DropBox.random(0.75))], 0)
        while running.loop.step() is not None:
            pass
        assert sums(running) == expected


# --- changes


def test_an_input_gets_a_weight_while_it_runs(tmp_path: Path) -> None:
    before = NetworkBuilder("net")
    known = before.input("packets", PACKETS).filter("host >= 0", as_="known")
    known.output("known")
    known.aggregate(SUMS, Order("n"), 1_000_000, as_="sums").output("sums")
    with deployed(tmp_path, before.build()) as node:
        whole = packets(100).append_column("copies", pa.array([1.0] * 100))
        node.push("packets", whole)
        node.drain()
        with pytest.raises(EngineError, match="has no attribute 'copies', which may not be NULL"):
            node.push("packets", {"n": 0, "host": 1})
        order(node, Insert("sums", DropBox.random(0.5)))
        change = node.change(network())
        assert (change.altered, change.parts) == ((), {"inputs.packets": ("weight",)})
        found = results(node, table=packets(1_000, 100))
        assert found["came"][0] == 100 + 2 * (found["used"][0] - 100)
        assert 400 < found["used"][0] < 800


# --- how tuples come


FORMS: dict[str, Any] = {
    "a dictionary": {"n": 1, "host": 2, "bytes": 3.0},
    "a list": [{"n": 1, "host": 2, "bytes": 3.0, "copies": None}],
    "a table": packets(1),
    "a batch": packets(1).to_batches()[0],
    "a data frame": packets(1).to_pandas(),
    "NULLs": packets(1).append_column("copies", pa.nulls(1)),
}


@pytest.mark.parametrize("form", FORMS)
def test_pushes_without_it(tmp_path: Path, form: str) -> None:
    with deployed(tmp_path, network(), runner=InProcess()) as node:
        node.push("packets", FORMS[form])
        node.drain()
        assert node.read("known")["copies"].to_pylist() == [1.0]
        assert node.read("quarantine").num_rows == 0


def test_a_parquet_file_is_adopted_only_with_its_weights(tmp_path: Path) -> None:
    plain, gaps, whole = (tmp_path / f"{name}.parquet" for name in ("plain", "gaps", "whole"))
    pq.write_table(packets(3), plain)
    pq.write_table(packets(3).append_column("copies", pa.array([1.0, None, 2.0])), gaps)
    pq.write_table(packets(3).append_column("copies", pa.array([1.0, 3.0, 2.0])), whole)
    with deployed(tmp_path, network(), runner=InProcess()) as node:
        with pytest.raises(EngineError, match="has no column 'copies'"):
            node.adopt("packets", str(plain))
        with pytest.raises(EngineError, match="its column 'copies' has NULLs; expected"):
            node.adopt("packets", str(gaps))
        node.adopt("packets", str(whole))
        node.drain()
        assert node.read("known")["copies"].to_pylist() == [1.0, 3.0, 2.0]
