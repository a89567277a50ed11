"""Boxes move between nodes that run, with their states, and everything comes out as if they had stayed."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from tests.cluster.nodes import Linked, numbers
from tests.cluster.pieces.test_pieces import drawn, results
from tests.engine.in_process import InProcess
from tests.waiting import until

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network, Ref
from australis.algebra.order import Order
from australis.algebra.progress import Progress
from australis.cluster.identity import NodeName
from australis.cluster.moves import MoveState, joined, without
from australis.engine import Node
from australis.errors import ClusterError, Problem

NODES = ("lab/a", "lab/b", "lab/c")


def idle(name: str) -> Network:
    """What a node runs that waits for boxes."""
    net = NetworkBuilder("idle")
    net.input(f"{name[-1]}_in", "x int").output(f"{name[-1]}_out")
    return net.build()


def start(
    stack: ExitStack, folder: Path, network: Network, nodes: tuple[str, ...] = NODES
) -> dict[str, Linked]:
    """Nodes that know each other; the first one runs the network."""
    found = {
        name: stack.enter_context(Linked(folder, name, idle(name) if index else network))
        for index, name in enumerate(nodes)
    }
    for one in found.values():
        for other in found.values():
            if one is not other:
                one.cluster.connect(other.name, other.place)
    for one in found.values():
        until(lambda one=one: all(each.is_connected for each in one.cluster.status().peers))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_boxes_move_while_tuples_come(tmp_path: Path, seed: int) -> None:
    """Random boxes go to random nodes, from wherever they are, and some of them back."""
    chance = Random(seed)
    network = drawn(chance, 8)
    table = numbers(*sorted(chance.randrange(200) for _ in range(300)))
    with Node(tmp_path / "whole", runner=InProcess()) as node:
        node.deploy(network)
        for batch in range(10):
            node.push("n", table.slice(30 * batch, 30), now=batch + 1)
        node.drain()
        wanted = results(node, network)
    with ExitStack() as stack:
        nodes = start(stack, tmp_path, network)
        first = nodes["lab/a"]
        places = dict.fromkeys(network.boxes, "lab/a")
        for batch in range(10):
            first.node.push("n", table.slice(30 * batch, 30), now=batch + 1)
            giver = chance.choice([*{*places.values()}])
            here = [box for box, place in places.items() if place == giver]
            boxes = chance.sample(here, chance.randint(1, min(3, len(here))))
            taker = chance.choice([name for name in NODES if name != giver])
            moved = nodes[giver].cluster.move(boxes, taker)
            assert moved.status.state is MoveState.TAKEN
            places |= dict.fromkeys(boxes, taker)

        def found() -> dict[str, list[Any]]:
            for each in nodes.values():
                each.node.drain()
            return results(first.node, network)

        until(lambda: found() == wanted)
        for name, each in nodes.items():
            assert {box for box, place in places.items() if place == name} == {*running(each).boxes}
        # Nodes that only pass a stream on go out of its way, and what comes then is right as well.
        until(lambda: not any(relays(running(each)) for each in nodes.values()), 60.0)
        with Node(tmp_path / "whole", runner=InProcess()) as node:
            node.deploy(network)
            node.push("n", table, now=11)
            node.drain()
            wanted = results(node, network)
        first.node.push("n", table, now=11)
        until(lambda: found() == wanted)


def running(node: Linked) -> Network:
    found = node.node.recorded()
    assert found is not None
    return found


def relays(network: Network) -> list[str]:
    """The links of moves that a node only passes on."""
    inputs = {name for name, each in network.inputs.items() if each.source is not None}
    names = (name for name, each in network.outputs.items() if each.source.id in inputs)
    return [name for name in names if name.startswith("link_")]


def test_a_move_that_cannot_be_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    net = NetworkBuilder("some")
    stream = net.input("n", "k long not null, v double")
    stream.filter("k > 0", as_="some").output("o")
    net.input("b_in", "x int").output("taken")
    network = net.build()
    with ExitStack() as stack:
        nodes = start(stack, tmp_path, network, NODES[:2])
        cluster = nodes["lab/a"].cluster
        for boxes, to, problem in (
            (["none"], "lab/b", "there is no box 'none' here; expected one of some"),
            ([], "lab/b", "no box was named"),
            (["some"], "lab/a", "lab/a: is this node"),
            (["some"], "shop/b", "is a node of shop"),
            (["some"], "lab/c", "has not answered"),
        ):
            with pytest.raises(ClusterError, match=problem):
                cluster.move(boxes, to, 0.5)
        clash = NetworkBuilder("idle")
        clash.input("x", "x int").filter("x > 0", as_="some").output("y")
        nodes["lab/b"].node.change(clash.build())
        with pytest.raises(ClusterError, match=r"lab/b: some: idle has some as well"):
            cluster.move(["some"], "lab/b")
        assert cluster.status().moves[-1].state is MoveState.FAILED
        assert nodes["lab/a"].node.recorded() == network
        until(lambda: not nodes["lab/b"].cluster.status().moves)


def test_states_that_were_given_come_when_the_other_node_is_back(tmp_path: Path) -> None:
    """The node that takes ends before it has taken; the one that gives is opened again as well."""
    net = NetworkBuilder("counting")
    stream = net.input("n", "k long not null, v double")
    stream.aggregate({"v": "sum(v)"}, Order("k"), 10, as_="sums").output("o")
    network = net.build()
    with ExitStack() as stack:
        nodes = start(stack, tmp_path, network, NODES[:2])
        first, second = nodes.values()
        first.node.push("n", numbers(*range(7)))
        first.node.drain()
        fetching = second.cluster._moving._fetching

        def interrupted(*_: Any) -> bytes:
            second.cluster._peers.close()
            raise ClusterError(Problem("", "the connection breaks"))

        whole = fetching.whole
        seen = list[str]()

        def fetched(giver: Any, move: str, name: str) -> bytes:
            seen.append(name)
            return interrupted() if seen.count("parcel") == 2 else whole(giver, move, name)

        fetching.whole = fetched  # type: ignore[method-assign]
        moved = first.cluster.move(["sums"], second.name, 1.0)
        assert moved.status.state is MoveState.GIVEN
        left = running(first)
    assert not left.boxes
    with ExitStack() as stack:
        nodes = start(stack, tmp_path, left, NODES[:2])
        first, second = nodes.values()
        first.cluster.rearrange()

        def has_come() -> bool:
            found = second.node.recorded()
            return found is not None and "sums" in found.boxes

        until(has_come)
        first.node.push("n", numbers(*range(7, 15)))
        until(lambda: second.node.drain() is None and first.seen("o") == [0])
        assert first.node.read("o")["v"].to_pylist() == [22.5]
        until(lambda: not first.cluster.status().moves)
        assert first.node.moves.outstanding() == []


def cars() -> Network:
    net = NetworkBuilder("cars")
    speeds = net.input("speeds", "car int not null, mph int")
    owners = net.table("owners", "car int, owner string", store="owners.parquet")
    names = net.table("names", "car int, name string")
    with net.group("detect"):
        fast = speeds.filter("mph > 80", as_="fast")
        slow = fast.port(1).filter("mph < 20", as_="slow")
    fast.output("fast")
    slow.output("slow")
    fast.join(owners, "left.car = right.car", table="right", as_="owned").output("owned")
    fast.join(names, "left.car = right.car", table="right", as_="named").output("named")
    at = net.input("at", "t long not null", progress=Progress("t"))
    at.filter("t > 1", as_="marked").filter("t > 2", as_="more").output("more")
    pointed = net.input("m", "k long").filter("k > 1", as_="pointed")
    pointed.point("kept", history="1 hour").output("k")
    return net.build()


def test_what_both_nodes_run_afterwards() -> None:
    a, b = NodeName("lab", "a"), NodeName("lab", "b")
    found = without(cars(), ["detect.fast", "owned"], a, b, "0a1b2c")
    assert found.sent == ("link_speeds_0a1b2c",)
    assert sorted(found.returned) == [
        "link_detect_fast_0a1b2c",
        "link_detect_fast_1_0a1b2c",
        "link_owned_0a1b2c",
    ]
    giver, piece = found.giver, found.piece
    assert [*piece.boxes] == ["detect.fast", "owned"]
    assert [*piece.inputs] == ["owners", "link_speeds_0a1b2c"]
    assert piece.inputs["link_speeds_0a1b2c"].source == "lab/a/link_speeds_0a1b2c"
    assert "owners" not in giver.inputs
    assert giver.inputs["link_detect_fast_0a1b2c"].source == "lab/b/link_detect_fast_0a1b2c"
    assert giver.boxes["detect.slow"].sources == (Ref("link_detect_fast_1_0a1b2c"),)
    assert giver.boxes["named"].sources == (Ref("link_detect_fast_0a1b2c"), Ref("names"))
    assert giver.outputs["fast"].source == Ref("link_detect_fast_0a1b2c")
    assert giver.outputs["link_speeds_0a1b2c"].source == Ref("speeds")
    both = joined(idle("lab/b"), piece)
    assert {*both.boxes} == {"detect.fast", "owned"}
    with pytest.raises(ClusterError, match=r"cars: .* has detect.fast, link_detect_fast_0a1b2c"):
        joined(both, piece)
    with pytest.raises(ClusterError, match="count days in UTC, those of idle in Europe/Berlin"):
        joined(replace(idle("lab/b"), timezone="Europe/Berlin", known=None), piece)


@pytest.mark.parametrize(
    ("boxes", "problem"),
    [
        (["named"], "the stored table names has no store from which another node could read it"),
        (["marked"], "at has marks of t, which do not cross a link yet"),
        (["marked", "more"], "at has marks of t"),
        (["pointed"], "the connection point kept keeps the history of pointed"),
    ],
)
def test_what_cannot_run_elsewhere(boxes: list[str], problem: str) -> None:
    with pytest.raises(ClusterError, match=problem):
        without(cars(), boxes, NodeName("lab", "a"), NodeName("lab", "b"), "0a1b2c")


@pytest.mark.parametrize("seed", range(2))
def test_a_box_is_split_over_two_nodes_and_made_whole_again(tmp_path: Path, seed: int) -> None:
    """Figure 6, live: the Filter and the merge stay, a copy goes to another node, and comes back."""
    chance = Random(seed)
    net = NetworkBuilder("sums")
    stream = net.input("n", "k long not null, v double")
    sums = stream.aggregate({"total": "sum(v)"}, Order("v", slack=9, group_by=("k",)), 4, as_="sums")
    sums.output("o")
    network = net.build()
    rows = [(chance.randrange(7), number / 2) for number in range(400)]
    table = pa.table({"k": [k for k, _ in rows], "v": [v for _, v in rows]})

    def results(node: Node) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = {}
        for row in node.read("o").drop_columns(["#seq"]).to_pylist():
            found.setdefault(row["k"], []).append(row)
        return found

    with Node(tmp_path / "whole", runner=InProcess()) as node:
        node.deploy(network)
        for batch in range(8):
            node.push("n", table.slice(50 * batch, 50), now=batch + 1)
        node.drain()
        wanted = results(node)
    with ExitStack() as stack:
        first, second = start(stack, tmp_path, network, NODES[:2]).values()
        for batch in range(8):
            first.node.push("n", table.slice(50 * batch, 50), now=batch + 1)
            match batch:
                case 1:
                    first.node.split("sums", 2)
                case 3:
                    assert first.cluster.move(["sums_2"], "lab/b").status.state is MoveState.TAKEN
                    assert "sums_2" in running(second).boxes
                case 5:
                    assert second.cluster.move(["sums_2"], "lab/a").status.state is MoveState.TAKEN
                    assert not running(second).boxes
                case 6:
                    # Once both ends of its streams are joined, the copy is here as if it had never left.
                    until(lambda: not [name for name in running(first).inputs if name != "n"])
                    first.node.unsplit("sums")
                    assert running(first) == network
        until(lambda: second.node.drain() is first.node.drain() is None and results(first.node) == wanted)


def test_the_weight_of_a_stream_goes_with_the_boxes_that_read_it() -> None:
    net = NetworkBuilder("flows")
    stream = net.input("n", "k long not null, copies double not null", weight="copies")
    some = stream.map({"k": "k", "times": "copies"}, as_="renamed").filter("k > 0", as_="some")
    some.filter("k > 1", as_="more").output("out")
    found = without(net.build(), ["some"], NodeName("lab", "a"), NodeName("lab", "b"), "0a")
    assert {name: each.weight for name, each in found.piece.inputs.items()} == {"link_renamed_0a": "times"}
    assert {name: each.weight for name, each in found.giver.inputs.items()} == {
        "n": "copies",
        "link_some_0a": "times",
    }
