"""What other settings change on a root: nothing that comes out."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.engine.in_process import InProcess

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.kernels.run import PipelineRun


def nested() -> Network:
    """Two counts that share a part of what they group by: both are spread by it."""
    net = NetworkBuilder("nested")
    stream = net.input("s", "g long, k long, t long").filter("t >= 0", as_="all")
    for name, by in (("fine", ("g", "k")), ("coarse", ("g",))):
        stream.aggregate({"n": "count(*)"}, Order("t", group_by=by), size=50, as_=name).output(name)
    return net.build()


def rows(times: range) -> pa.Table:
    return pa.table({"g": [t % 7 for t in times], "k": [t % 3 for t in times], "t": list(times)})


def texts(table: pa.Table) -> list[str]:
    return sorted(map(str, table.select([n for n in table.column_names if n[0] != "#"]).to_pylist()))


@pytest.mark.parametrize("discipline", ["box", "train", "superbox"])
@pytest.mark.parametrize("partitions", [(1, 3), (3, 2), (4, 1)])
def test_another_number_of_partitions(
    spark: SparkSession, tmp_path: Path, discipline: str, partitions: tuple[int, int]
) -> None:
    run = PipelineRun(nested())
    expected = [run.push("s", rows(range(200)), 0), run.flush(0)]
    for begin, count in zip((0, 100), partitions, strict=True):
        with Node(tmp_path, discipline=discipline, partitions=count) as node:
            node.deploy(nested())
            node.push("s", rows(range(begin, begin + 100)))
            if begin:
                node.flush()
            node.drain()
            found = {name: texts(node.read(name)) for name in ("fine", "coarse")}
    for name, tuples in found.items():
        assert tuples == texts(pa.concat_tables(each[name] for each in expected))


def renamed() -> Network:
    """Counts whose streams have their common key by two names, and of which one groups by more."""
    net = NetworkBuilder("renamed")
    stream = net.input("s", "g long, k long, t long").map({"g": "g", "who": "g", "k": "k", "t": "t"}, as_="m")
    for name, by in (("fine", ("who", "k")), ("coarse", ("g",))):
        passed = stream.filter("t >= 0", as_=f"for_{name}")
        passed.aggregate({"n": "count(*)"}, Order("t", group_by=by), size=50, as_=name).output(name)
    return net.build()


@pytest.mark.parametrize("discipline", ["train", "branch", "superbox"])
def test_keys_by_several_names(tmp_path: Path, discipline: str) -> None:
    """States are divided anew as their tuples are, by the key that all boxes have in common."""
    run = PipelineRun(renamed())
    expected = [run.push("s", rows(range(200)), 0), run.flush(0)]
    for begin, count in ((0, 2), (100, 5)):
        with Node(tmp_path, runner=InProcess(), discipline=discipline, partitions=count) as node:
            node.deploy(renamed())
            node.push("s", rows(range(begin, begin + 100)))
            if begin:
                node.flush()
            node.drain()
            found = {name: texts(node.read(name)) for name in ("fine", "coarse")}
    assert found == {name: texts(pa.concat_tables(each[name] for each in expected)) for name in found}


@pytest.mark.parametrize("discipline", ["box", "superbox"])
def test_a_stored_table_waits_for_all_who_read_it(
    spark: SparkSession, tmp_path: Path, discipline: str
) -> None:
    net = NetworkBuilder("tables")
    table = net.table("names", "k long, name string")
    for name in ("a", "b"):
        stream = net.input(name, "k long, t long")
        stream.join(table, "left.k = right.k", left=Order("t")).output(f"named_{name}")
    stored = {"names": pa.table({"k": [1], "name": ["one"]})}
    for name in ("a", "b"):
        with Node(tmp_path, discipline=discipline) as node:
            node.deploy(net.build(), tables=stored)
            node.push(name, pa.table({"k": [1, 2], "t": [1, 2]}))
            node.drain()
            assert node.read(f"named_{name}")["name"].to_pylist() == ["one"]
