"""Boxes slide from a node that has too much to do to its neighbours, by the policy's own decisions."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.cluster.moves.test_moves import running, start
from tests.cluster.nodes import Linked, numbers
from tests.engine.in_process import InProcess
from tests.waiting import until

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.progress import Progress
from australis.cluster.identity import NodeName
from australis.cluster.moves import MoveState
from australis.cluster.sliding import TOPIC, Slider, runs_of
from australis.engine import Node
from australis.policy.machines import Journal
from australis.policy.place import Daemon, End, Limits, Link, Manners, Measured, Site
from australis.policy.replay import replayed

SECOND = 1_000_000
BUSY, IDLE = Site(1e-7), Site(1e6)
"""So little that whatever a box takes is too much, and more than any box can take."""
MANNERS = Manners(Limits(splits=False), persists_s=10.0, settle_s=10.0, rest_s=60.0)


def counting() -> Network:
    net = NetworkBuilder("counting")
    stream = net.input("n", "k long not null, v double").filter("v >= 0", as_="some")
    stream.aggregate({"v": "sum(v)"}, Order("k"), 10, as_="sums").output("o")
    return net.build()


class Clocked:
    """Nodes that place boxes when a test says so, by a clock of the test."""

    def __init__(self, folder: Path, nodes: dict[str, Linked], **sites: Site) -> None:
        self.nodes, self.now, self._folder = nodes, 1_000 * SECOND, folder
        self.places = {name: self.place(name, sites[name[-1]]) for name in nodes if name[-1] in sites}
        self._key = 0

    def place(self, name: str, site: Site) -> Slider:
        linked, journal = self.nodes[name], self._folder / f"{name[-1]}.jsonl"
        return Slider(linked.node, linked.cluster, site, MANNERS, width=1e9, journal=journal)

    def second(self, seconds: int = 5) -> None:
        """Some tuples for the first node, and a look at each."""
        self.now += seconds * SECOND
        self.nodes["lab/a"].node.push("n", numbers(*range(self._key, self._key + 7)))
        self._key += 7
        for each in self.nodes.values():
            each.node.drain()
        for each in self.places.values():
            each.turn(self.now)

    def until(self, happened: Any) -> None:
        def looked() -> bool:
            self.second()
            return bool(happened())

        until(looked)

    def settle(self) -> None:
        """Hear of what is over, without anything new."""
        for each in self.places.values():
            each.turn(self.now, measures=False)

    def close(self) -> None:
        for each in self.places.values():
            each.close()


def moves(node: Linked, state: MoveState = MoveState.TAKEN) -> list[tuple[str, ...]]:
    return [each.boxes for each in node.cluster.status().moves if each.state is state]


def test_boxes_slide_from_a_busy_node_to_an_idle_one(tmp_path: Path) -> None:
    with ExitStack() as stack:
        nodes = start(stack, tmp_path, counting())
        clocked = Clocked(tmp_path, nodes, a=BUSY, b=IDLE, c=BUSY)
        stack.callback(clocked.close)
        first, second, third = nodes.values()
        clocked.until(lambda: {*running(second).boxes} == {"some", "sums"})
        assert not running(first).boxes
        assert not running(third).boxes
        assert {each.to for each in first.cluster.status().moves} == {"lab/b"}
        # They stay there: nothing is too much for that node.
        before = first.cluster.status().moves
        for _ in range(30):
            clocked.second()
        assert len(first.cluster.status().moves) == len(before)
        assert {*running(second).boxes} == {"some", "sums"}
        with Node(tmp_path / "whole", runner=InProcess()) as whole:
            whole.deploy(counting())
            whole.push("n", numbers(*range(clocked._key)))
            whole.drain()
            wanted = whole.read("o").select(["k", "v"]).to_pylist()
        assert len(wanted) > 5

        def found() -> list[dict[str, Any]]:
            for each in nodes.values():
                each.node.drain()
            return first.node.read("o").select(["k", "v"]).to_pylist()

        until(lambda: len(found()) >= len(wanted))
        assert found() == wanted
    for name in "abc":
        with (tmp_path / f"{name}.jsonl").open("rb") as lines:
            again = replayed(lines)
        assert again.events > 30
        assert not again.differences


def test_a_short_overload_moves_nothing(tmp_path: Path) -> None:
    with ExitStack() as stack:
        nodes = start(stack, tmp_path, counting(), ("lab/a", "lab/b"))
        clocked = Clocked(tmp_path, nodes, a=BUSY, b=IDLE)
        stack.callback(clocked.close)
        for _ in range(12):
            clocked.second(1)
            clocked.second(1)
            # Two seconds with tuples, and then some without any.
            clocked.now += 4 * SECOND
            clocked.places["lab/a"].turn(clocked.now)
            clocked.places["lab/b"].turn(clocked.now)
        assert not nodes["lab/a"].cluster.status().moves


def test_a_restart_goes_on_with_what_the_root_remembers(tmp_path: Path) -> None:
    """A life ends after its offer was accepted: the next one carries it out."""
    with ExitStack() as stack:
        nodes = start(stack, tmp_path, counting(), ("lab/a", "lab/b"))
        first = nodes["lab/a"]
        clocked = Clocked(tmp_path, nodes, a=BUSY, b=IDLE)
        stack.callback(clocked.close)
        begun = list[Any]()
        busy = clocked.places["lab/a"]
        busy._begin = begun.append  # type: ignore[method-assign]
        clocked.until(lambda: begun)
        assert not first.cluster.status().moves
        busy.close()
        clocked.places["lab/a"] = again = clocked.place("lab/a", BUSY)
        assert again._machine.incarnation == 2
        again.turn(clocked.now, measures=False)
        until(lambda: bool(moves(first)))
        assert moves(first)[0] == begun[0].boxes
        until(lambda: clocked.settle() is None and again._machine.giver.gave == begun[0].serial)  # type: ignore[attr-defined]
        # A third life is commanded nothing: what has left has left.
        again.close()
        clocked.places["lab/a"] = third = clocked.place("lab/a", BUSY)
        third.turn(clocked.now, measures=False)
        assert not third._moving
        assert third._machine.giver.gave == begun[0].serial  # type: ignore[attr-defined]
    with (tmp_path / "a.jsonl").open("rb") as lines:
        found = replayed(lines)
    assert found.machines == 3
    assert not found.differences


def test_letters_of_strangers_are_refused(tmp_path: Path) -> None:
    """A node of another participant with a true certificate offers boxes, and so does one that is nobody."""
    lines = list[bytes]()
    eve = Daemon("shop/e", Site(1.0))
    Journal(lines.append).began(eve)
    (said,) = eve.handle(Measured({}, {}, {"lab/a": Link(1e6)}), 1)
    with ExitStack() as stack:
        first = stack.enter_context(Linked(tmp_path, "lab/a", counting(), trusts=("shop",)))
        other = stack.enter_context(Linked(tmp_path, "shop/e", trusts=("lab",)))
        clocked = Clocked(tmp_path, {"lab/a": first}, a=BUSY)
        stack.callback(clocked.close)
        clocked.second()
        before = clocked.places["lab/a"]._machine.snapshot()
        other.cluster.connect("lab/a", first.place)
        until(lambda: other.cluster.post(NodeName.parse("lab/a"), TOPIC, said.letter))
        until(lambda: first.cluster.status().refused.get(TOPIC) == 1)
        for sender in ("lab/z", "lab/a"):
            clocked.places["lab/a"].heard(NodeName.parse(sender), said.letter)
            clocked.places["lab/a"].heard(NodeName.parse(sender), b"{}")
        clocked.settle()
        assert first.cluster.status().refused[TOPIC] == 5
        assert clocked.places["lab/a"]._machine.snapshot() == before


def test_boxes_that_cannot_leave_are_said_to_stay(tmp_path: Path) -> None:
    """Marks and histories do not cross links; streams have one name at both of their ends."""
    net = NetworkBuilder("marked")
    stream = net.input("n", "k long not null, v double", progress=Progress("k", 5))
    stream.filter("v >= 0", as_="some").output("o")
    free = net.input("m", "k long not null, v double").filter("v > 1", as_="free")
    kept = free.filter("v > 2", as_="kept")
    kept.point("past", history="1 h")
    kept.output("p")
    network = net.build()
    name = NodeName.parse("lab/a")
    found = runs_of(
        name,
        network,
        "",
        {},
        {"o": ["web", "link:lab/b/x"], "p": ["link:shop/e/y"]},
        ("free", "gone"),
    )
    assert found.fixed == ("free", "kept", "some")
    assert found.goes == {"o": End("lab/a/o", "lab/b"), "p": End("p", "lab/a")}
    assert found.comes == {"n": End("n", "lab/a"), "m": End("m", "lab/a")}
