"""One network on many nodes: the pieces together do what the network does on one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.cluster.nodes import Linked, numbers
from tests.engine.in_process import InProcess
from tests.waiting import until

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.form.form import dumps, loads
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.progress import Progress
from australis.cluster.pieces import Placement, cut_into_pieces, load_placement
from australis.engine import Node
from australis.errors import ClusterError

NODES = ("lab/a", "lab/b", "lab/c")
STEPS: tuple[Callable[[Stream], Stream], ...] = (
    lambda stream: stream.filter("k % 3 <> 0"),
    lambda stream: stream.filter("k % 2 = 0").port(1),
    lambda stream: stream.map({"k": "k + 1", "v": "v * 2"}),
    lambda stream: stream.aggregate({"v": "sum(v)"}, Order("k"), 4).map({"k": "k", "v": "v"}),
    lambda stream: stream.tumble({"v": "count(*) + 0.5"}, ["k"]),
)
"""Boxes whose results depend on the order of their tuples alone; each has `k` and `v` again."""


def drawn(chance: Random, boxes: int) -> Network:
    """A tree of boxes with an output at each leaf, and at some others."""
    net = NetworkBuilder("tree")
    streams = [net.input("n", "k long not null, v double")]
    read = set[int]()
    for _ in range(boxes):
        at = chance.randrange(len(streams))
        read.add(at)
        streams.append(chance.choice(STEPS)(streams[at]))
    for index, stream in enumerate(streams):
        if index not in read or chance.random() < 0.3:
            stream.output(f"o{index}")
    return net.build()


def results(node: Node, network: Network) -> dict[str, list[Any]]:
    return {name: node.read(name).drop_columns(["#seq"]).to_pylist() for name in network.outputs}


@pytest.mark.parametrize("seed", range(6))
def test_a_network_in_pieces_does_what_it_does_whole(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    network = drawn(chance, 8)
    parts = [*network.inputs, *network.order]
    places = {part: chance.choice(NODES) for part in parts}
    table = numbers(
        *(chance.randrange(20 * batch, 20 * batch + 20) for batch in range(10) for _ in range(30))
    )
    table = table.sort_by("k")
    with Node(tmp_path / "whole", runner=InProcess()) as node:
        node.deploy(network)
        for batch in range(10):
            node.push("n", table.slice(30 * batch, 30), now=batch + 1)
        node.drain()
        wanted = results(node, network)
    with ExitStack() as stack:
        pieces = cut_into_pieces(network, places)
        nodes = {
            piece.node: stack.enter_context(Linked(tmp_path, piece.node, loads(dumps(piece.network))))
            for piece in pieces
        }
        for one in nodes.values():
            for other in nodes.values():
                if one is not other:
                    one.cluster.connect(other.name, other.place)
        for piece in pieces:
            nodes[piece.node].cluster.arrange({name: (at, 1.0) for name, at in piece.links.items()})
        for batch in range(10):
            nodes[places["n"]].node.push("n", table.slice(30 * batch, 30), now=batch + 1)

        def found() -> dict[str, list[Any]]:
            seen: dict[str, list[Any]] = {}
            for piece in pieces:
                own = nodes[piece.node]
                own.node.drain()
                for name in network.outputs.keys() & piece.network.outputs.keys():
                    seen[name] = own.node.read(name).drop_columns(["#seq"]).to_pylist()
            return seen

        until(lambda: found() == wanted)


def test_every_part_keeps_its_name_and_tables_are_where_they_are_looked_up() -> None:
    net = NetworkBuilder("cars")
    speeds = net.input("speeds", "car int not null, mph int")
    owners = net.table("owners", "car int, owner string", store="owners.parquet")
    with net.group("detect"):
        fast = speeds.filter("mph > 80", as_="fast")
    fast.output("fast")
    fast.join(owners, "left.car = right.car", table="right", as_="owned").output("owned")
    places = {"speeds": "lab/a", "detect.fast": "lab/a", "owned": "lab/b"}
    one, two = cut_into_pieces(net.build(), places)
    assert (one.node, [*one.network.inputs], [*one.network.boxes]) == ("lab/a", ["speeds"], ["detect.fast"])
    assert [*one.network.outputs] == ["fast", "link_detect_fast"]
    assert (two.node, [*two.network.boxes], [*two.network.outputs]) == ("lab/b", ["owned"], ["owned"])
    assert [*two.network.inputs] == ["owners", "link_detect_fast"]
    assert dict(two.links) == {"link_detect_fast": "lab/a/link_detect_fast"}
    assert two.network.inputs["link_detect_fast"].source == "lab/a/link_detect_fast"
    assert ([*one.network.groups], [*two.network.groups]) == (["detect"], [])


def test_a_stored_table_without_a_store_is_at_one_node() -> None:
    net = NetworkBuilder("cars")
    names = net.table("names", "k long, name string")
    stream = net.input("n", "k long not null, v double")
    other = net.input("m", "k long not null, v double")
    for each, name in ((stream, "one"), (other, "two")):
        each.join(names, "left.k = right.k", table="right", as_=name).output(name)
    network = net.build()
    with pytest.raises(ClusterError, match=r"names: is looked up at lab/a, lab/b, and has no store"):
        cut_into_pieces(network, {"n": "lab/a", "m": "lab/b", "one": "lab/a", "two": "lab/b"})


def test_an_arc_with_marks_is_not_cut() -> None:
    net = NetworkBuilder("marked")
    stream = net.input("n", "k long not null", progress=Progress("k"))
    stream.filter("k > 1", as_="some").output("out")
    with pytest.raises(ClusterError, match="reads n, which has marks of k, from another node"):
        cut_into_pieces(net.build(), {"n": "lab/a", "some": "lab/b"})


def test_where_parts_run() -> None:
    net = NetworkBuilder("cars")
    speeds = net.input("speeds", "car int not null, mph int")
    fast = speeds.filter("mph > 80", as_="fast")
    with net.group("detect"):
        fast.filter("mph > 100", as_="faster").output("faster")
    fast.output("fast")
    network = net.build()
    nodes = {"lab/a": "http://a:8400", "lab/b": "http://b:8400"}
    assert Placement(nodes, {}).of(network) == dict.fromkeys(["speeds", "fast", "detect.faster"], "lab/a")
    assert Placement(nodes, {"detect.*": "lab/b"}).of(network)["detect.faster"] == "lab/b"
    moved = Placement(nodes, {"fast": "lab/b"}).of(network)
    assert moved == {"speeds": "lab/a", "fast": "lab/b", "detect.faster": "lab/b"}
    with pytest.raises(ClusterError, match=r"place.slow: fits no input and no box"):
        Placement(nodes, {"slow": "lab/b"}).of(network)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is no placement"),
        ("nodes: {}", "names no node"),
        ("nodes: {lab: http://a}", "is no name of a node"),
        ("nodes: {lab/a: http://a}\nplace: {x: lab/b}", "'lab/b' is none of the nodes"),
        ("nodes: [lab/a]", "no mapping of texts"),
        ("nodes: {lab/a: 3}", "no mapping of texts"),
        ("nodes: {lab/a: http://a}\nmore: 1", "is no placement"),
        ("nodes: {", "is no YAML"),
    ],
)
def test_a_file_that_is_no_placement_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "place.yaml").write_text(text)
    with pytest.raises(ClusterError, match=told):
        load_placement(tmp_path / "place.yaml")
    with pytest.raises(ClusterError, match="cannot be read"):
        load_placement(tmp_path / "none.yaml")


def test_figure_6_on_two_machines(tmp_path: Path) -> None:
    """Aurora* (CIDR 2003), Figure 6: machine 1, machine 2, and merged as the box that was not split emits."""
    net = NetworkBuilder("split")
    first, second = net.input("s", "A int, B int, routed boolean").route("NOT routed OR B < 3", as_="p")
    one = first.tumble({"result": "count(*)"}, ["A"], as_="machine1").output("out1")
    two = second.tumble({"result": "count(*)"}, ["A"], as_="machine2").output("out2")
    union = one.union(two, as_="union")
    union.wsort("A", timeout="1 h").tumble({"result": "sum(result)"}, ["A"]).output("merged")
    network = net.build()
    parts = dict.fromkeys((*network.inputs, *network.order), "lab/a")
    here, there = cut_into_pieces(network, {**parts, "machine2": "lab/b"})
    figure_2 = [(1, 2), (1, 3), (2, 2), (2, 1), (2, 6), (4, 5), (4, 2)]
    with Linked(tmp_path, "lab/a", here.network) as a, Linked(tmp_path, "lab/b", there.network) as b:
        a.cluster.connect(b.name, b.place)
        a.cluster.arrange({name: (at, 1.0) for name, at in here.links.items()})
        b.cluster.arrange({name: (at, 1.0) for name, at in there.links.items()})
        for number, (x, y) in enumerate(figure_2, 1):
            a.node.push("s", [{"A": x, "B": y, "routed": number > 3}])
        counts = {"A": [1, 2], "result": [2, 2]}
        until(lambda: table(a, "out1") == counts)
        until(lambda: table(b, "out2") == {"A": [2], "result": [1]})
        # The streams end, from where they begin: what machine 2 has left comes back before machine 1 ends.
        b.node.flush()
        until(lambda: table(b, "out2") == {"A": [2, 4], "result": [1, 1]})
        until(lambda: a.cluster.status().links_in[0].tuples == 2)
        a.node.flush()
        a.node.drain()
        assert table(a, "out1") == {"A": [1, 2, 4], "result": [2, 2, 1]}
        assert table(a, "merged") == {"A": [1, 2, 4], "result": [2, 3, 2]}


def table(linked: Linked, output: str) -> dict[str, list[Any]]:
    linked.node.drain()
    found: dict[str, list[Any]] = linked.node.read(output).drop_columns(["#ts", "#seq"]).to_pydict()
    return found


def test_links_between_pieces_carry_the_weight() -> None:
    net = NetworkBuilder("flows")
    stream = net.input("n", "k long not null, v double, copies double not null", weight="copies")
    some = stream.map({"k": "k", "times": "copies"}, as_="renamed")
    some.filter("k >= 0", as_="some").output("out")
    pieces = cut_into_pieces(net.build(), {"n": "lab/a", "renamed": "lab/a", "some": "lab/b"})
    assert [{name: each.weight for name, each in piece.network.inputs.items()} for piece in pieces] == [
        {"n": "copies"},
        {"link_renamed": "times"},
    ]
    assert loads(dumps(pieces[1].network)) == pieces[1].network
