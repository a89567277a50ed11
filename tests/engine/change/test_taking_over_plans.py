"""A query is attached and detached: what ran before stays the same, down to its objects and files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.in_process import InProcess

from australis import NetworkBuilder, Node
from australis.algebra.boxes import Filter
from australis.algebra.network import Network
from australis.algebra.quality import Quality
from australis.algebra.schema import Schema
from australis.engine.worker.plan_files import PlanFile

SUPERBOXES = 12


def network() -> Network:
    net = NetworkBuilder("many")
    stream = net.input("s", "k long").point("past", history="1 hour")
    for number in range(SUPERBOXES):
        quality = Quality(delay=((0, 1), (2, 1), (10, 0)))
        stream.filter(f"k > {number}", as_=f"f{number}").output(f"o{number}", quality)
    return net.build()


def query() -> Network:
    net = NetworkBuilder("ask")
    net.input("past", "k long").filter("k > 3", as_="some").output("found")
    return net.build()


def test_superboxes_that_stay_are_the_same_objects(tmp_path: Path) -> None:
    with Node(tmp_path, runner=InProcess()) as node:
        node.deploy(network())
        first = dict(node._ledger.plan.superboxes)
        node.push("s", pa.table({"k": [1, 5]}))
        node.attach(query(), name="asked")
        second = dict(node._ledger.plan.superboxes)
        assert second.keys() - first.keys() == {"asked.some"}
        assert all(second[name] is superbox for name, superbox in first.items())
        node.drain()
        assert node.read("asked")["k"].to_pylist() == [5]
        node.detach("asked")
        assert all(node._ledger.plan.superboxes[name] is superbox for name, superbox in first.items())


def test_only_what_is_new_is_written_for_the_workers(tmp_path: Path) -> None:
    with Node(tmp_path, runner=InProcess()) as node:
        node.deploy(network())
        before = set(node.root.names("plans"))
        node.attach(query(), name="asked")
        (written,) = set(node.root.names("plans")) - before
        file = PlanFile(node.root, written)
        assert file.superbox("asked.some") == node._ledger.plan.superboxes["asked.some"]
        with pytest.raises(KeyError):
            file.superbox("f0")


def test_only_boxes_that_are_new_are_examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Node(tmp_path, runner=InProcess()) as node:
        node.deploy(network())
        asked, bound = query(), list[Filter]()
        plain = Filter.output_schemas

        def noting(box: Filter, *given: Schema) -> tuple[Schema, ...]:
            bound.append(box)
            return plain(box, *given)

        monkeypatch.setattr(Filter, "output_schemas", noting)
        node.attach(asked, name="asked")
        assert set(bound) == {asked.boxes["some"].box}
