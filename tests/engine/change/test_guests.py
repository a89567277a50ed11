"""Queries on outputs, queries that take the place of others, and guests that stand in nobody's way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.in_process import InProcess

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine import Node
from australis.errors import NetworkError

SCHEMA = "k long not null, v double"


def network(*outputs: str) -> Network:
    net = NetworkBuilder("served")
    stream = net.input("n", SCHEMA)
    stream.output("raw")
    for each in outputs:
        stream.filter("k % 2 = 0", as_=f"{each}_even").output(each)
    return net.build()


def query(output: str, predicate: str) -> Network:
    net = NetworkBuilder("ask")
    net.input(output, SCHEMA).filter(predicate, as_="some").output("found")
    return net.build()


def numbered(output: str, expression: str) -> Network:
    """The number of each tuple, and what is computed of it."""
    net = NetworkBuilder("ask")
    counted = net.input(output, SCHEMA).number("n", as_="counted")
    counted.map({"k": "k", "what": expression}, as_="what").output("found")
    return net.build()


def numbers(*found: int) -> pa.Table:
    return pa.table({"k": pa.array(found, pa.int64()), "v": pa.array([each / 2 for each in found])})


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with Node(tmp_path / "root", runner=InProcess()) as made:
        made.deploy(network("even"))
        yield made


def push(node: Node, *found: int) -> None:
    node.push("n", numbers(*found))
    node.drain()


def seen(node: Node, output: str = "asked") -> list[int]:
    found: list[int] = node.read(output)["k"].to_pylist()
    return found


@pytest.mark.parametrize(("output", "wanted"), [("even", [12, 14]), ("raw", [11, 12, 13, 14])])
def test_a_query_on_an_output_begins_with_the_next_tuple(node: Node, output: str, wanted: list[int]) -> None:
    push(node, 1, 2, 3, 4)
    node.attach(query(output, "k > 0"), name="asked")
    push(node, 11, 12, 13, 14)
    assert seen(node) == wanted
    assert seen(node, "even") == [2, 4, 12, 14]


def test_a_query_that_replaces_another_one_misses_no_tuple_and_sees_none_twice(node: Node) -> None:
    node.attach(query("raw", "k < 10"), name="asked")
    push(node, 1, 50)
    node.push("n", numbers(2, 60))
    node.attach(query("raw", "k >= 10"), name="asked", replaces=True)
    push(node, 3, 70)
    # What the earlier one has emitted stays to be read.
    assert seen(node) in ([1, 2, 70], [1, 60, 70])
    assert [*node.attached()] == ["asked"]


def test_boxes_that_are_the_same_in_its_place_keep_their_state(node: Node) -> None:
    node.attach(numbered("raw", "n"), name="asked")
    push(node, 1, 2)
    before = node.read("asked")["what"].to_pylist()
    node.attach(numbered("raw", "n + 100"), name="asked", replaces=True)
    push(node, 1, 2)
    assert node.read("asked")["what"].to_pylist() == [*before, *(each + 102 for each in before)]


def test_a_guest_goes_with_what_it_reads_and_others_refuse_that(node: Node) -> None:
    node.attach(query("even", "k > 0"), name="guest", is_guest=True)
    node.attach(query("raw", "k > 0"), name="stays", is_guest=True)
    node.attach(query("even", "k > 1"), name="asked")
    with pytest.raises(NetworkError, match="there is no connection point 'even'"):
        node.change(network("other"))
    assert [*node.attached()] == ["guest", "stays", "asked"]
    node.detach("asked")
    assert "guest.some" in node.difference(network("other")).removed
    node.change(network("other"))
    assert [*node.attached()] == ["stays"]
    push(node, 7)
    assert seen(node, "stays") == [7]


def test_guests_and_notes_are_there_when_the_root_is_opened_again(tmp_path: Path) -> None:
    with Node(tmp_path / "root", runner=InProcess()) as node:
        node.deploy(network("even"))
        assert node.note("pieces") is None
        node.keep("pieces", "one")
        node.keep("pieces", "two")
        node.attach(query("even", "k > 0"), name="guest", is_guest=True)
    with Node(tmp_path / "root", runner=InProcess()) as node:
        assert node.note("pieces") == "two"
        node.deploy(network("even"))
        assert [*node.attached()] == ["guest"]
        node.change(network("other"))
        assert node.attached() == {}
    with Node(tmp_path / "root", runner=InProcess()) as node:
        node.remove()
        assert node.note("pieces") == "two"


def test_outputs_of_queries_have_schemas(node: Node) -> None:
    node.attach(query("raw", "k > 0"), name="asked")
    assert [str(node.output_schema(each)) for each in ("even", "asked", "nothing")] == [
        "k long not null, v double",
        "k long not null, v double",
        "None",
    ]
