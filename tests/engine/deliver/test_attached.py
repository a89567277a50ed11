"""An ad hoc query on a node: the names of its outputs, what it delivers, and its end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.in_process import InProcess

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.errors import EngineError


def network() -> Network:
    net = NetworkBuilder("n")
    net.input("s", "k long").point("past", history="forever").filter("k >= 0", as_="some").output("out")
    return net.build()


def query(*outputs: str) -> Network:
    """A filter, under one name or several."""
    net = NetworkBuilder("ask")
    found = net.input("past", "k long").filter("k > 1", as_="asked")
    for output in outputs:
        found.output(output)
    return net.build()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A node through which two tuples went."""
    with Node(tmp_path, runner=InProcess()) as node:
        node.deploy(network())
        node.push("s", pa.table({"k": [1, 2]}))
        node.drain()
        yield node


def test_a_query_delivers_history_and_then_what_comes(node: Node) -> None:
    found = node.attach(query("found"), name="q")
    assert found.outputs == ("q",)
    node.push("s", pa.table({"k": [0, 3]}))
    tables = list(found.subscribe(follow=False))
    assert [k for table in tables for k in table["k"].to_pylist()] == [2, 3]


def test_of_several_outputs_one_has_to_be_named(node: Node) -> None:
    found = node.attach(query("one", "two"), name="q")
    assert found.outputs == ("q_one", "q_two")
    with pytest.raises(EngineError, match=r"^q: has several outputs; expected one of one, two$"):
        found.subscribe()
    with pytest.raises(EngineError, match=r"^q: has no output 'three'; expected one of one, two$"):
        found.subscribe("three")
    (table,) = found.subscribe("two", follow=False)
    assert table["k"].to_pylist() == [2]


def test_a_query_is_its_own_consumer(node: Node) -> None:
    found = node.attach(query("found"), name="q")
    assert len(list(found.subscribe(follow=False))) == 1
    assert list(found.subscribe(follow=False)) == [], "it has read all"
    assert node.consumer("q", "q")[0] > 0


def test_a_query_is_detached_at_the_end_of_its_context(node: Node) -> None:
    with node.attach(query("found"), name="q") as found:
        assert found.is_attached
        assert list(node.attached()) == ["q"]
    assert not found.is_attached
    assert node.attached() == {}
    with pytest.raises(EngineError, match="there is no output 'q'"):
        list(found.subscribe(follow=False))
