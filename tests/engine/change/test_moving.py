"""Boxes that leave a node with their states and continue on another one, as if nothing had happened."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace
from tests.engine.in_process import InProcess

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine import Node
from australis.engine.change import Parcel
from australis.engine.observe import verify
from australis.errors import EngineError

SCHEMA = "k long not null, t long not null, v double"


def tuples(first: int, count: int = 100, keys: int = 7) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "k": pa.array([number * number % keys for number in numbers], pa.int64()),
            "t": pa.array(numbers, pa.int64()),
            "v": [number / 4 for number in numbers],
        }
    )


def summed(stream: Stream) -> Stream:
    order = Order("t", slack=3, group_by=("k",))
    return stream.aggregate({"total": "sum(v)", "n": "count(*)"}, order, 40, advance=10, as_="moved")


def sorted_(stream: Stream) -> Stream:
    return stream.bsort(Order("t", slack=20), as_="moved")


def distinct(stream: Stream) -> Stream:
    return stream.tumble({"n": "count(*)", "last": "max(v)"}, ["k"], as_="moved")


def top(stream: Stream) -> Stream:
    return stream.aggregate({"n": "count(*)"}, Order("t", group_by=("k",)), 30, timeout="1 s", as_="moved")


BOXES = (summed, sorted_, distinct, top)


def whole(box: Any) -> Network:
    """A filter, a box with a state, and a sum of its results."""
    net = NetworkBuilder("whole")
    box(net.input("s", SCHEMA).filter("v >= 0", as_="all")).output("out")
    return net.build()


def before(box: Any) -> Network:
    """What the node that gives runs afterwards: what the box would read is an output."""
    net = NetworkBuilder("whole")
    net.input("s", SCHEMA).filter("v >= 0", as_="all").output("link")
    return net.build()


def after(box: Any) -> Network:
    """What the node that takes runs."""
    net = NetworkBuilder("piece")
    box(net.input("link", SCHEMA)).output("out")
    return net.build()


def carry(giver: Node, taker: Node, now: int | None = None) -> None:
    """Carry over what the link has, as a link does."""
    seq, _ = giver.consumer("link:b", "link")
    table = giver.read("link", seq)
    if table.num_rows:
        taker.push("link", table.drop_columns(["#seq"]), position=("a", giver.log_end), now=now)
        giver.acknowledge("link:b", "link", giver.log_end)


def rows(node: Node) -> list[Any]:
    return node.read("out").drop_columns(["#seq"]).to_pylist()


@pytest.mark.parametrize("partitions", [(1, 1), (3, 2), (2, 5)])
@pytest.mark.parametrize("box", BOXES)
def test_a_box_continues_where_it_comes_to(tmp_path: Path, box: Any, partitions: tuple[int, int]) -> None:
    gives, takes = partitions
    now = iter(range(1_000_000, 10**9, 50_000))
    with (
        Node(tmp_path / "one", runner=InProcess(), partitions=gives, clock=lambda: 0) as alone,
        Node(tmp_path / "a", runner=InProcess(), partitions=gives, clock=lambda: 0) as giver,
        Node(tmp_path / "b", runner=InProcess(), partitions=takes, clock=lambda: 0) as taker,
    ):
        alone.deploy(whole(box))
        giver.deploy(whole(box))
        taker.deploy(unlinked())
        for first in (0, 100):
            at = next(now)
            for node in (alone, giver):
                node.push("s", tuples(first), now=at)
        giver.drain()
        early = rows(giver)
        parcel = giver.moves.give("m1", lambda _: before(box), ["moved"], {"link": "link:b"})
        assert set(parcel.divided) == {"moved"}
        at = next(now)
        for node in (alone, giver):
            node.push("s", tuples(200), now=at)
        taker.moves.take(lambda _: after(box), Parcel.unpacked(parcel.packed()), giver.moves.fetch)
        giver.moves.settle("m1")
        giver.drain()
        carry(giver, taker, at)
        at = next(now) + 5_000_000
        for node in (alone, giver):
            node.push("s", tuples(300), now=at)
        giver.drain()
        carry(giver, taker, at)
        for node in (alone, taker):
            node.flush(now=at + 10_000_000)
            node.drain()
        wanted, found = rows(alone), early + rows(taker)
        # Groups that close at once come in the order of their first arrival in a partition.
        assert sorted(map(repr, found)) == sorted(map(repr, wanted))
        assert len(found) > 10


def unlinked() -> Network:
    """What it runs before."""
    net = NetworkBuilder("piece")
    net.input("other", "x int").output("nothing")
    return net.build()


def test_each_side_does_its_part_once(tmp_path: Path) -> None:
    """Whoever carries the parcel may be killed, and say everything again, also after a restart of a node."""

    def give(node: Node) -> Parcel:
        return node.moves.give("m1", lambda _: before(summed), ["moved"], {"link": "link:b"})

    with Node(tmp_path / "b", runner=InProcess()) as taker:
        taker.deploy(unlinked())
        with Node(tmp_path / "a", runner=InProcess()) as giver:
            giver.deploy(whole(summed))
            giver.push("s", tuples(0))
            giver.drain()
            parcel = give(giver)
            giver.push("s", tuples(100))
            giver.drain()
            assert give(giver).packed() == parcel.packed()
            assert giver.consumer("link:b", "link")[0] == 101
        with Node(tmp_path / "a", runner=InProcess()) as giver:
            giver.deploy(before(summed))
            kept = giver.moves
            assert give(giver).packed() == parcel.packed()
            assert giver.moves.given("m2") is None
            assert taker.moves.take(lambda _: after(summed), parcel, kept.fetch) is not None
            assert taker.moves.take(lambda _: after(summed), parcel, kept.fetch) is None
            carry(giver, taker)
            assert taker.moves.take(lambda _: after(summed), parcel, kept.fetch) is None
            giver.moves.settle("m1")
            giver.moves.settle("m1")
            assert giver.moves.given("m1") is None
            taker.drain()
            assert taker.read("out").num_rows > 0
    for name in ("a", "b"):
        assert not verify(tmp_path / name).findings


def test_what_cannot_be_moved_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    with Node(tmp_path, runner=InProcess()) as node:
        node.deploy(whole(summed))
        node.push("s", tuples(0))
        node.drain()
        with pytest.raises(EngineError, match="there is no box 'other' to give"):
            node.moves.give("m", lambda _: before(summed), ["other"], {})
        parcel = node.moves.give("m", lambda _: before(summed), ["moved"], {"link": "link:b"})
        with pytest.raises(EngineError, match="has a state of moved, which is not new here"):
            node.moves.take(lambda _: before(summed), replace(parcel, move="n"), node.moves.fetch)
        for damaged in (parcel.packed()[:-1], b"{}", b'{"move": 1}'):
            with pytest.raises(EngineError, match="parcel: is damaged"):
                Parcel.unpacked(damaged)

        def damage(name: str) -> bytes:
            data = bytearray(node.moves.fetch(name))
            data[len(data) // 2] ^= 1
            return bytes(data)

        with pytest.raises(EngineError, match="is damaged"):
            node.moves.take(lambda _: whole(summed), replace(parcel, move="n"), damage)
        node.push("s", tuples(100))
        node.drain()
        assert node.read("link").num_rows == 100


def test_no_other_change_begins_while_nobody_else_may_push(tmp_path: Path) -> None:
    """It would wait for pushes, and who holds these back for the change: neither would ever end."""
    began = threading.Event()

    def drawn(present: Network) -> Network:
        began.set()
        return present

    with Node(tmp_path / "a", runner=InProcess()) as node:
        node.deploy(before(summed))
        other = threading.Thread(target=lambda: node.moves.redraw(drawn, {"other": "done"}))
        with node.moves.quiet():
            other.start()
            assert not began.wait(0.3), "a change is under way that waits for pushes"
            node.moves.redraw(lambda present: present, {"own": "done"})
        other.join(60)
        assert began.is_set()
