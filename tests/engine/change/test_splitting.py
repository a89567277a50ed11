"""A box that runs as copies on one node, with its state, and as one box again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.engine.change.test_moving import SCHEMA, rows, tuples
from tests.engine.in_process import InProcess

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import Input, Network, Output, Ref
from australis.algebra.order import Order
from australis.engine import Node
from australis.engine.change import splitting
from australis.engine.observe import verify
from australis.errors import AustralisError, EngineError, PolicyError

BY_KEY = Order("t", slack=3, group_by=("k",))
STEP_US = 50_000


def aggregate(stream: Stream) -> Stream:
    return stream.aggregate({"total": "sum(v)", "n": "count(*)"}, BY_KEY, 40, advance=10, as_="box")


def timing_out(stream: Stream) -> Stream:
    order = Order("t", group_by=("k",))
    return stream.aggregate({"n": "count(*)"}, order, 30, timeout="1 s", as_="box")


def sorting(stream: Stream) -> Stream:
    return stream.bsort(Order("t", slack=4, group_by=("k",)), as_="box")


def joining(stream: Stream) -> Stream:
    other = stream.map({"t": "t", "key": "k", "w": "v"}, as_="narrow")
    right = Order("t", slack=2, group_by=("key",))
    return stream.join(other, "left.k = right.key", size=150, left=BY_KEY, right=right, as_="box")


def distinct(stream: Stream) -> Stream:
    return stream.distinct("k", "v", order=BY_KEY, within=20, as_="box")


def changes(stream: Stream) -> Stream:
    return stream.changes("v", group_by=["k"], as_="box")


def lag(stream: Stream) -> Stream:
    return stream.lag({"before": "v"}, group_by=["k"], back=3, as_="box")


def numbering(stream: Stream) -> Stream:
    return stream.number("n", group_by=["k"], as_="box")


def top(stream: Stream) -> Stream:
    return stream.top(2, ["v"], BY_KEY, 20, as_="box")


KEYED = (aggregate, timing_out, sorting, joining, distinct, changes, lag, numbering, top)
STATELESS: tuple[Callable[[Stream], Stream], ...] = (
    lambda stream: stream.filter("v > 3", as_="box"),
    lambda stream: stream.map({"k": "k", "twice": "2 * v"}, as_="box"),
)


def network_of(box: Callable[[Stream], Stream]) -> Network:
    net = NetworkBuilder("whole")
    box(net.input("s", SCHEMA).filter("v >= 0", as_="all")).output("out")
    return net.build()


def opened(root: Path, network: Network, **settings: Any) -> Node:
    node = Node(root, runner=InProcess(), clock=lambda: 0, **settings)
    node.deploy(network)
    return node


def story(alone: Node, node: Node, number: int) -> None:
    """Tuples that both get, of which some have not been processed when the next thing happens."""
    for each in (alone, node):
        each.push("s", tuples(100 * number, keys=11), now=1_000_000 + STEP_US * number)
    if number % 2:
        node.drain()


def ended(*nodes: Node) -> list[list[str]]:
    """The outputs of nodes after the end of their streams, without what depends on partitions."""
    for node in nodes:
        node.tick(now=10_000_000)
        node.flush(now=20_000_000)
        node.drain()
    return [sorted(map(repr, node.read("out").to_pylist())) for node in nodes]


@pytest.mark.parametrize("settings", [{}, {"discipline": "box", "partitions": 3}])
@pytest.mark.parametrize("box", [*KEYED, *STATELESS])
def test_a_box_runs_as_copies_and_as_one_again(tmp_path: Path, box: Any, settings: dict[str, Any]) -> None:
    network = network_of(box)
    with opened(tmp_path / "one", network, **settings) as alone:
        node = opened(tmp_path / "a", network, **settings)
        story(alone, node, 0)
        assert node.split("box", 3).copies == ("box_1", "box_2", "box_3")
        story(alone, node, 1)
        assert node.unsplit("box").added == ("box",)
        story(alone, node, 2)
        assert node.split("box", 2).removed == ("box",)
        story(alone, node, 3)
        node.stop()
        node = opened(tmp_path / "a", network, **{**settings, "partitions": 5})
        assert set(node.splits()) == {"box"}
        story(alone, node, 4)
        node.unsplit("box")
        story(alone, node, 5)
        assert node.network().boxes.keys() == network.boxes.keys()
        whole, parted = ended(alone, node)
        assert parted == whole
        assert len(whole) > 100
        counted = node.statistics().boxes
        node.stop()
    assert counted["box"].emitted > 0
    assert not verify(tmp_path / "a").findings


def test_each_copy_gets_its_share(tmp_path: Path) -> None:
    with opened(tmp_path, network_of(aggregate)) as node:
        node.split("box", 2)
        node.push("s", tuples(0, 1000, keys=97))
        node.drain()
        counted = node.statistics().boxes
        shares = [counted[each].received for each in ("box_1", "box_2")]
        assert sum(shares) == 1000
        assert min(shares) > 200
        assert node.split("box", 2).is_nothing, "it was said before"


@pytest.mark.parametrize("box", [aggregate, sorting, joining, lag, numbering])
def test_states_that_stay_undivided_are_noticed(
    tmp_path: Path, box: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison finds what happens if all groups stay with the first copy."""

    def all_first(*given: Any) -> Any:
        return 0 * copies_of(*given)

    copies_of = splitting.copies_of
    monkeypatch.setattr(splitting, "copies_of", all_first)
    with opened(tmp_path / "one", network_of(box)) as alone, opened(tmp_path / "a", network_of(box)) as node:
        story(alone, node, 1)
        node.split("box", 2)
        story(alone, node, 2)
        whole, parted = ended(alone, node)
        assert parted != whole


def test_outputs_points_and_queries_stay_with_the_stream(tmp_path: Path) -> None:
    """A reader that lags behind, history, and a query on it do not notice."""
    net = NetworkBuilder("whole")
    stream = aggregate(net.input("s", SCHEMA))
    stream.point("kept", history="forever").filter("n > 1", as_="busy").output("busy")
    stream.output("out")
    network = net.build()
    asked = NetworkBuilder("asked")
    asked.input("kept", network.schemas[Ref("box")]).filter("n > 0", as_="few").output("few")
    with opened(tmp_path / "one", network) as alone, opened(tmp_path / "a", network) as node:
        for each in (alone, node):
            each.attach(asked.build(), name="asked")
            each.acknowledge("reader", "out", 0)
        story(alone, node, 1)
        node.split("box", 4, any_order=True)
        story(alone, node, 2)
        node.unsplit("box")
        story(alone, node, 3)
        whole, parted = ended(alone, node)
        assert parted == whole
        for output in ("busy", "asked"):
            found = [sorted(map(repr, each.read(output).to_pylist())) for each in (alone, node)]
            assert found[0] == found[1]
            assert found[0]
        kept = [pa.concat_tables(each.history("kept")).num_rows for each in (alone, node)]
        assert kept[0] == kept[1] > 100


def test_a_change_leaves_copies_alone_and_the_same_network_can_be_deployed_again(tmp_path: Path) -> None:
    network = network_of(numbering)
    more = NetworkBuilder("whole")
    stream = more.input("s", SCHEMA).filter("v >= 0", as_="all")
    numbering(stream).output("out")
    stream.filter("v > 9", as_="some").output("some")
    with opened(tmp_path / "one", network) as alone, opened(tmp_path / "a", network) as node:
        node.split("box", 2)
        story(alone, node, 1)
        assert node.difference(network).is_nothing
        assert not node.change(more.build()).lost
        story(alone, node, 2)
        whole, parted = ended(alone, node)
        assert parted == whole
        assert set(node.splits()) == {"box"}
        assert node.recorded() == more.build()


def test_an_optimiser_leaves_copies_alone(tmp_path: Path) -> None:
    network = network_of(numbering)
    with opened(tmp_path / "one", network) as alone, opened(tmp_path / "a", network, optimise=True) as node:
        node.split("all", 2)
        node.split("box", 2, any_order=True)
        for number in range(4):
            story(alone, node, number)
            node.optimise()
        assert set(node.splits()) == {"all", "box"}
        assert {"all_1", "box_2"} <= node.network().boxes.keys()
        whole, parted = ended(alone, node)
        assert parted == whole


def test_a_copy_can_be_given_to_another_node(tmp_path: Path) -> None:
    """A copy that has gone is no box of this network; the rest of the split stays, and it may come back."""
    network = network_of(numbering)
    with opened(tmp_path / "one", network) as alone, opened(tmp_path / "a", network) as node:
        node.split("box", 2)
        story(alone, node, 1)
        drawn = node.split("box", 2, dry_run=True)
        assert drawn.is_nothing
        here = node.split_network()
        there = {name: each for name, each in here.boxes.items() if name not in ("box_2", "box")}
        given = Network(
            "whole", here.inputs, there, {"out": Output(Ref("box_1")), "link": Output(Ref("box_route", 1))}
        )
        parcel = node.moves.give("m", lambda drawn: given, ["box_2"], {"link": "link:b"})
        assert set(parcel.divided) == {"box_2"}
        with pytest.raises(AustralisError, match="box, box_2 cannot be found on this node"):
            node.unsplit("box")
        with Node(tmp_path / "b", runner=InProcess(), clock=lambda: 0) as other:
            away = NetworkBuilder("away")
            away.input("other", "x int").output("nothing")
            other.deploy(away.build())
            taken = Network(
                "away",
                {"link": Input(here.input_schemas("box_2")[0])},
                {"box_2": here.boxes["box_2"].__class__(here.boxes["box_2"].box, (Ref("link"),))},
                {"out": Output(Ref("box_2"))},
            )
            other.moves.take(lambda drawn: taken, parcel, node.moves.fetch)
            node.moves.settle("m")
            story(alone, node, 3)
            table = node.read("link", node.consumer("link:b", "link")[0])
            other.push("link", table.drop_columns(["#seq"]))
            alone.drain()
            other.drain()
            found = sorted(map(repr, rows(node) + rows(other)))
            assert found == sorted(map(repr, rows(alone)))
            assert other.read("out").num_rows > 20
            back = other.moves.give("n", lambda drawn: away.build(), ["box_2"], {})
            node.moves.take(lambda drawn: here, back, other.moves.fetch)
        assert node.unsplit("box").removed
        assert node.network() == network


def test_what_cannot_be_split_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    net = NetworkBuilder("whole")
    stream = net.input("s", SCHEMA)
    stream.tumble({"n": "count(*)"}, ["k"], as_="runs").output("runs")
    stream.bsort(Order("t", slack=4), as_="sorted").output("sorted")
    stream.aggregate({"n": "count(*)"}, Order("t", group_by=("v",)), 5, as_="doubles").output("doubles")
    stream.wsort("t", timeout="1 s", as_="waits").output("waits")
    stream.filter("v > 1", as_="taken").output("taken")
    stream.filter("v > 2", as_="taken_1").output("taken_1")
    summed = aggregate(stream)
    summed.aggregate({"n": "max(n)"}, Order("t", slack=9), 5, as_="after").output("after")
    said = {
        "nobody": "there is no such box",
        "runs": "a tumble takes the runs of its whole stream",
        "sorted": "bsort: it has no groups that copies could share out",
        "doubles": "aggregate: it has no groups",
        "waits": "wsort: it has no groups",
        "box": "after downstream depends on the order of tuples",
    }
    with opened(tmp_path, net.build()) as node:
        for box, what in said.items():
            with pytest.raises(PolicyError, match=what):
                node.split(box)
        with pytest.raises(PolicyError, match="the network has 'taken_1' already"):
            node.split("taken")
        with pytest.raises(PolicyError, match="cannot be split into 1"):
            node.split("box", 1)
        with pytest.raises(PolicyError, match="cannot be divided by v"):
            node.split("box", by=["v"], any_order=True)
        with pytest.raises(EngineError, match="there is no such box"):
            node.unsplit("nobody")
        assert node.unsplit("runs").is_nothing
        assert node.network() == net.build()
        assert not node.split("box", any_order=True, dry_run=True).is_nothing
        assert node.network() == net.build()
        node.split("box", any_order=True)
        with pytest.raises(EngineError, match="is split already, into 2"):
            node.split("box", 3, any_order=True)
        node.split("box_1", any_order=True)
        with pytest.raises(EngineError, match="its copy box_1 is split too"):
            node.unsplit("box")


CHILD = """
import os, sys
from pathlib import Path
from australis.engine.crash_points import VARIABLE
from tests.engine.change.test_moving import tuples
from tests.engine.change.test_splitting import STEP_US, aggregate, network_of, opened

node = opened(Path(sys.argv[1]), network_of(aggregate), partitions=3)
os.environ[VARIABLE] = sys.argv[2]
for number in range(6):
    batch, now = tuples(100 * number, keys=11), 1_000_000 + STEP_US * number
    node.push("s", batch, now=now, position=("all", number + 1))
    node.unsplit("box") if node.splits() else node.split("box", 3)
node.stop()
"""


@pytest.mark.parametrize(
    "point", ["change.prepared", "change.switching", "ledger.committed", "change.switched"]
)
def test_a_node_that_is_killed_has_the_box_or_its_copies(tmp_path: Path, point: str) -> None:
    """It is killed at the first moment of a kind, then, when it goes on, at the second."""
    network = network_of(aggregate)
    for time in (2, 1):
        command = [sys.executable, "-c", CHILD, str(tmp_path / "a"), f"{point}:{time}"]
        killed = subprocess.run(command, check=False, capture_output=True)
        assert killed.returncode == -9, killed.stderr.decode()
    with opened(tmp_path / "one", network) as alone, opened(tmp_path / "a", network) as node:
        has_come = int(node.position("all") or 0)
        for number in range(6):
            batch, now = tuples(100 * number, keys=11), 1_000_000 + STEP_US * number
            alone.push("s", batch, now=now)
            if number >= has_come:
                node.push("s", batch, now=now)
            node.split("box", 3)
        whole, parted = ended(alone, node)
        without_numbers = [[each.partition(", '#seq'")[0] for each in found] for found in (whole, parted)]
        assert without_numbers[0] == without_numbers[1]
        node.unsplit("box")
    assert not verify(tmp_path / "a").findings
