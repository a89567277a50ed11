"""Links between nodes: everything once and in order, through whatever happens to either side."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.cluster.nodes import Linked, numbers, passing
from tests.cluster.proxy import Proxy
from tests.waiting import until

import australis
from australis.cluster.links import LinkState
from australis.errors import ClusterError


@pytest.fixture
def a(tmp_path: Path) -> Iterator[Linked]:
    with Linked(tmp_path, "lab/a") as found:
        yield found


@pytest.fixture
def b(tmp_path: Path) -> Iterator[Linked]:
    with Linked(tmp_path, "lab/b") as found:
        yield found


def problem(linked: Linked) -> str:
    return linked.cluster.status().links_in[0].problem


def refused(linked: Linked, why: str) -> int:
    return linked.cluster.status().refused.get(why, 0)


def test_what_one_node_sees_another_does(a: Linked, b: Linked) -> None:
    a.node.push("n", numbers(1, 2, 3), now=1_000_000)
    b.reads(a)
    until(lambda: b.seen() == [1, 2, 3])
    a.node.push("n", numbers(4), now=2_000_000)
    until(lambda: b.seen() == [1, 2, 3, 4])
    # Tuples keep the time at which they arrived at the first node.
    assert b.node.read("seen")["#ts"].cast(pa.int64()).to_pylist() == [1_000_000] * 3 + [2_000_000]
    (status,) = b.cluster.status().links_in
    assert (status.state, status.tuples, status.problem) == (LinkState.RUNNING, 4, "")
    until(lambda: a.cluster.status().links_out[0].bytes_waiting == 0)
    (status_out,) = a.cluster.status().links_out
    assert (status_out.reader, status_out.stored) == ("lab/b/n", status.position)


def test_what_the_reader_has_is_not_kept_by_the_writer(a: Linked, b: Linked) -> None:
    b.reads(a)
    for number in range(5):
        a.node.push("n", numbers(number))
    until(lambda: b.seen() == [0, 1, 2, 3, 4])
    until(lambda: a.node.read("seen").num_rows == 0)


def test_links_go_both_ways_and_through_several_nodes(tmp_path: Path, a: Linked, b: Linked) -> None:
    with Linked(tmp_path, "lab/c", passing()) as c:
        b.reads(a)
        c.reads(b)
        a.node.push("n", numbers(*range(1000)))
        until(lambda: c.seen() == list(range(1000)))


def test_a_loop_of_nodes_is_no_loop_of_tuples(tmp_path: Path) -> None:
    """Two nodes read from each other over one connection."""

    def two() -> australis.NetworkBuilder:
        net = australis.NetworkBuilder("two")
        net.input("n", "k long not null, v double").output("seen")
        net.input("m", "k long not null, v double").output("heard")
        return net

    with (
        Linked(tmp_path, "lab/a", two().build()) as a,
        Linked(tmp_path, "lab/b", two().build()) as b,
    ):
        a.reads(b, "seen", "m")
        b.reads(a, "seen", "m")
        a.node.push("n", numbers(1, 2))
        b.node.push("n", numbers(7, 8))
        until(lambda: (a.seen("heard"), b.seen("heard")) == ([7, 8], [1, 2]))
        assert sum(each.is_connected for each in a.cluster.status().peers) == 1


def test_nothing_is_lost_or_twice_when_the_connection_is_cut(a: Linked, b: Linked) -> None:
    proxy = Proxy(a.place)
    try:
        b.cluster.connect(a.name, proxy.place)
        b.cluster.link("n", "lab/a/seen")
        for number in range(60):
            a.node.push("n", numbers(*range(number * 10, number * 10 + 10)))
            if number % 5 == 0:
                proxy.cut()
        until(lambda: b.seen() == list(range(600)))
    finally:
        proxy.close()


@pytest.mark.parametrize("restarted", ["writer", "reader", "both"])
def test_a_link_continues_when_nodes_start_again(tmp_path: Path, restarted: str) -> None:
    pushed = 0

    def push(node: Linked) -> None:
        nonlocal pushed
        node.node.push("n", numbers(*range(pushed, pushed + 10)))
        pushed += 10

    a, b = Linked(tmp_path, "lab/a"), Linked(tmp_path, "lab/b", listens=False)
    try:
        b.reads(a)
        for turn in range(4):
            push(a)
            if turn % 2:
                until(lambda b=b: b.seen() == list(range(pushed)))
            if restarted in ("reader", "both"):
                b.close()
            push(a)
            if restarted in ("writer", "both"):
                a.close()
                a = Linked(tmp_path, "lab/a")
            if restarted in ("reader", "both"):
                b = Linked(tmp_path, "lab/b", listens=False)
                b.reads(a)
            else:
                b.cluster.connect(a.name, a.place)
        push(a)
        until(lambda: b.seen() == list(range(pushed)))
    finally:
        a.close()
        b.close()


def test_a_writer_with_another_root_is_another_link(tmp_path: Path) -> None:
    """Its numbers begin again, and are not taken for those that have come."""
    b = Linked(tmp_path, "lab/b")
    try:
        with Linked(tmp_path, "lab/a") as a:
            b.reads(a)
            a.node.push("n", numbers(1, 2, 3))
            until(lambda: b.seen() == [1, 2, 3])
        with Linked(tmp_path, "lab/a", root="another") as a:
            b.cluster.connect(a.name, a.place)
            a.node.push("n", numbers(4))
            until(lambda: b.seen() == [1, 2, 3, 4])
    finally:
        b.close()


def test_a_reader_that_has_lost_what_it_had_is_refused(
    tmp_path: Path, a: Linked, caplog: pytest.LogCaptureFixture
) -> None:
    """It gets what comes next, and both sides' people are told; nothing is made up."""
    caplog.set_level(logging.WARNING, "australis.cluster")
    with Linked(tmp_path, "lab/b") as b:
        b.reads(a)
        a.node.push("n", numbers(1, 2, 3))
        until(lambda: b.seen() == [1, 2, 3])
        until(lambda: a.node.read("seen").num_rows == 0)
    with Linked(tmp_path, "lab/b", root="another") as b:
        b.reads(a)
        a.node.push("n", numbers(4))
        until(lambda: b.seen() == [4])
    assert "what was before it went elsewhere" in caplog.text


def test_a_node_reads_only_what_is_offered(tmp_path: Path) -> None:
    with (
        Linked(tmp_path, "lab/a", offers={"seen": ["shop/till"]}, trusts=("shop",)) as a,
        Linked(tmp_path, "shop/till", trusts=("lab",)) as till,
        Linked(tmp_path, "shop/office", trusts=("lab",)) as office,
    ):
        a.node.push("n", numbers(1))
        till.reads(a)
        office.reads(a)
        until(lambda: till.seen() == [1])
        until(lambda: "offered to shop/office" in problem(office))
        assert office.seen() == []
        assert refused(a, "not_offered") > 0


def test_whether_there_is_an_output_is_not_told(tmp_path: Path) -> None:
    with (
        Linked(tmp_path, "lab/a", trusts=("shop",)) as a,
        Linked(tmp_path, "shop/till", trusts=("lab",)) as till,
    ):
        till.reads(a, "nothing")
        until(lambda: problem(till) != "")
        absent = problem(till).replace("nothing", "seen")
        till.cluster.unlink("n")
        till.reads(a, "seen")
        until(lambda: problem(till) != "")
        assert problem(till) == absent


def test_tuples_that_do_not_fit_are_not_asked_for(tmp_path: Path, a: Linked) -> None:
    net = australis.NetworkBuilder("other")
    net.input("n", "name string").output("seen")
    with Linked(tmp_path, "lab/b", net.build()) as b:
        b.reads(a)
        until(lambda: "has no column 'name'" in problem(b))
        assert b.node.log_end == 0


def test_an_input_that_is_not_there_yet_is_waited_for(tmp_path: Path, a: Linked) -> None:
    a.node.push("n", numbers(4))
    net = australis.NetworkBuilder("other")
    net.input("m", "v double").output("seen")
    with Linked(tmp_path, "lab/b", net.build()) as b:
        b.reads(a)
        until(lambda: "is no input of the network that runs here" in problem(b))
        net.input("n", "v double").output("halves")
        b.node.change(net.build())
        until(lambda: b.node.read("halves")["v"].to_pylist() == [2.0])
        until(lambda: problem(b) == "")


def test_an_output_that_is_not_there_yet_is_waited_for(tmp_path: Path, b: Linked) -> None:
    net = australis.NetworkBuilder("other")
    net.input("n", "k long not null, v double").output("early")
    with Linked(tmp_path, "lab/a", net.build()) as a:
        b.reads(a)
        until(lambda: "there is no output 'seen'" in problem(b))
        a.node.change(passing())
        a.node.push("n", numbers(1))
        until(lambda: b.seen() == [1])


def test_an_output_that_is_removed_and_comes_back_is_another_one(a: Linked, b: Linked) -> None:
    b.reads(a)
    a.node.push("n", numbers(1))
    until(lambda: b.seen() == [1])
    net = australis.NetworkBuilder("passing")
    net.input("n", "k long not null, v double").output("other")
    a.node.change(net.build())
    until(lambda: "removed" in problem(b) or "no output" in problem(b))
    a.node.change(passing())
    a.node.push("n", numbers(2))
    until(lambda: b.seen() == [1, 2])


def test_a_reader_without_room_holds_up_only_its_link(tmp_path: Path, a: Linked) -> None:
    """Its disk is full: the writer keeps what waits, and serves others."""
    with Linked(tmp_path, "lab/full", disk=1) as full, Linked(tmp_path, "lab/b") as b:
        full.node.pause()
        full.node.push("n", numbers(0))
        full.reads(a)
        b.reads(a)
        for number in range(1, 40):
            a.node.push("n", pa.table({"k": [number] * 5000, "v": [0.5] * 5000}))
        until(lambda: len(b.seen()) == 39 * 5000)
        (writer,) = (w for w in a.cluster.status().links_out if w.reader.startswith("lab/full"))
        assert writer.bytes_waiting < 3 << 20, "its window, and a message"
        assert full.node.log_end < 1000
        full.node.resume()
        full.node.discard("seen")
        until(lambda: full.cluster.status().links_in[0].tuples == 39 * 5000)


def test_links_are_named_once_and_known(a: Linked, b: Linked) -> None:
    b.reads(a)
    with pytest.raises(ClusterError, match="n: reads lab/a/seen already"):
        b.cluster.link("n", "lab/c/seen")
    b.cluster.unlink("n")
    with pytest.raises(ClusterError, match="reads no output of another node"):
        b.cluster.unlink("n")
    a.node.push("n", numbers(1))
    until(lambda: a.cluster.status().links_out == [])
    assert b.seen() == []


@pytest.mark.parametrize("source", ["seen", "lab/", "lab/a/", "Lab/a/seen"])
def test_what_names_no_output_is_refused(b: Linked, source: str) -> None:
    with pytest.raises(ClusterError):
        b.cluster.link("n", source)


@pytest.mark.parametrize("weight", [0, -1, 1001, float("nan")])
def test_weights_have_bounds(b: Linked, weight: float) -> None:
    with pytest.raises(ClusterError, match="its weight is"):
        b.cluster.link("n", "lab/a/seen", weight=weight)


def test_letters_go_to_who_hears_their_topic(a: Linked, b: Linked) -> None:
    heard: list[tuple[str, bytes]] = []
    joined: list[str] = []
    a.cluster.hear("names", lambda node, data: heard.append((str(node), data)))
    a.cluster.watch(lambda node: joined.append(f"+{node}"), lambda node: joined.append(f"-{node}"))
    assert not b.cluster.post(a.cluster.name, "names", b"nobody hears it")
    b.cluster.connect(a.name, a.place)
    until(lambda: b.cluster.post(a.cluster.name, "names", b"one"))
    b.cluster.post(a.cluster.name, "others", b"two")
    until(lambda: refused(a, "unknown_topic") == 1)
    assert heard == [("lab/b", b"one")]
    with pytest.raises(ClusterError, match="a letter of 50,000 bytes"):
        b.cluster.post(a.cluster.name, "names", bytes(50_000))
    assert b.cluster.post(a.cluster.name, "names", bytes(44 << 10))
    until(lambda: len(heard) == 2)
    b.cluster.close()
    until(lambda: joined == ["+lab/b", "-lab/b"])


@pytest.mark.parametrize("given", [True, False])
def test_a_weight_that_the_other_node_gives_is_kept_and_else_is_1(tmp_path: Path, *, given: bool) -> None:
    theirs, ours = (australis.NetworkBuilder(name) for name in ("theirs", "ours"))
    weighted = "k long not null, copies double not null"
    theirs.input("n", weighted if given else "k long not null").output("seen")
    ours.input("n", weighted, weight="copies").output("seen")
    with Linked(tmp_path, "lab/a", theirs.build()) as a, Linked(tmp_path, "lab/b", ours.build()) as b:
        b.reads(a)
        a.node.push("n", {"k": 1, "copies": 100.0} if given else {"k": 1})
        until(lambda: b.seen() == [1])
        assert b.node.read("seen")["copies"].to_pylist() == [100.0 if given else 1.0]
