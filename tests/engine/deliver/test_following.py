"""Readers without a name: from any number that is kept, told what they missed, woken by what is new."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.in_process import InProcess

from australis import NetworkBuilder, Node
from australis.algebra.network import Network
from australis.engine.deliver import Follower, Over, Part
from australis.errors import EngineError


def network(*outputs: str) -> Network:
    net = NetworkBuilder("n")
    given = net.input("x", "k long")
    for output in outputs:
        given.filter("k >= 0", as_=f"some_{output}").output(output)
    return net.build()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with Node(tmp_path, runner=InProcess(), clock=lambda: 0) as node:
        node.deploy(network("out", "other"))
        yield node


def push(node: Node, *values: int) -> None:
    node.push("x", [{"k": value} for value in values])
    node.drain()


def values(part: Part | None) -> list[int]:
    assert part is not None
    assert not part.is_missed
    found: list[int] = part.table["k"].to_pylist()
    return found


def test_many_read_the_same_from_where_they_want(node: Node) -> None:
    push(node, 1, 2)
    push(node, 3)
    first, last = node.follow("out", 0), node.follow("out", 2)
    assert values(first.next(rows=10)) == [1, 2, 3]
    assert values(last.next(rows=10)) == [2, 3]
    assert first.seq == last.seq == node.statistics().log_end
    assert node.follow("out").next(wait_s=0) is None, "without a number it begins with what comes"


def test_a_large_segment_is_read_in_parts(node: Node) -> None:
    push(node, *range(1000))
    follower, parts = node.follow("out", 0), []
    while (part := follower.next(rows=100, wait_s=0)) is not None:
        parts.append(values(part))
    assert [value for part in parts for value in part] == list(range(1000))
    assert max(map(len, parts)) <= 200


def test_nothing_is_kept_for_them_and_they_are_told(node: Node) -> None:
    push(node, 1)
    slow, end = node.follow("out", 0), node.statistics().log_end
    node.consumer("window", "out")
    node.acknowledge("window", "out", end)
    push(node, 2)
    part = slow.next()
    assert part is not None
    assert (part.begin, part.end, part.is_missed, part.table.num_rows) == (0, end, True, 0)
    assert values(slow.next()) == [2]


def test_what_was_missed_is_known_after_a_restart_and_without_the_consumer(tmp_path: Path) -> None:
    with Node(tmp_path, runner=InProcess(), clock=lambda: 0) as node:
        node.deploy(network("out"))
        push(node, 1)
        end = node.statistics().log_end
        node.consumer("window", "out")
        node.acknowledge("window", "out", end)
        node.forget("window", "out")
        push(node, 2)
    with Node(tmp_path, runner=InProcess(), clock=lambda: 0) as node:
        node.deploy(network("out"))
        part = node.follow("out", 0).next()
        assert part is not None
        assert (part.is_missed, part.end) == (True, end)


def test_numbers_without_tuples_are_not_missed(node: Node) -> None:
    push(node, -1, -2, -3)
    push(node, 4)
    assert values(node.follow("out", 0).next()) == [4]


def woken(follower: Follower) -> tuple[threading.Thread, list[Part | None]]:
    found: list[Part | None] = []
    thread = threading.Thread(target=lambda: found.append(follower.next()), daemon=True)
    thread.start()
    return thread, found


def test_who_waits_is_woken_by_tuples(node: Node) -> None:
    thread, found = woken(node.follow("out"))
    push(node, 7)
    thread.join(60)
    assert values(found[0]) == [7]


@pytest.mark.parametrize("end", ["stop", "remove", "close"])
def test_who_waits_is_woken_by_the_end(node: Node, end: str) -> None:
    follower = node.follow("other")
    thread, found = woken(follower)
    {"stop": node.stop, "remove": lambda: node.change(network("out")), "close": follower.close}[end]()
    thread.join(60)
    assert found == [None]
    assert follower.over == (Over.REMOVED if end == "remove" else Over.STOPPED)


def test_an_output_of_the_same_name_that_comes_later_is_another_one(node: Node) -> None:
    follower = node.follow("other", 0)
    node.change(network("out"))
    node.change(network("out", "other"))
    assert follower.next() is None
    assert follower.over == Over.REMOVED


def test_a_number_that_is_not_there_yet_is_refused(node: Node) -> None:
    with pytest.raises(
        EngineError, match=r"^n\.out: there is no tuple with the number 1,000 so far; expected 0 to"
    ):
        node.follow("out", 1000)


def test_a_window_keeps_the_last_tuples(node: Node) -> None:
    for number in range(10):
        push(node, number)
    end = node.statistics().log_end
    assert node.window("out", 10, 1 << 30) == 0, "all fit"
    begin = node.window("out", 3, 1 << 30)
    assert node.read("out", begin)["k"].to_pylist() == [7, 8, 9]
    assert node.read("out", node.window("out", 100, 1))["k"].to_pylist() == [9], "the last ones stay"
    assert node.window("out", 100, 1 << 30, since=1) == end, "but not when they are old"


# --- looking at arcs


def test_what_waits_can_be_looked_at_and_stays(node: Node) -> None:
    node.pause()
    node.push("x", [{"k": value} for value in range(1000)])
    assert node.peek("x", 3)["k"].to_pylist() == [0, 1, 2]
    assert node.peek("x", 10_000)["k"].to_pylist() == list(range(1000))
    waiting = node.statistics().queues["x"]
    assert (waiting.waiting, waiting.oldest_us) == (1000, 0)
    assert (waiting.due, waiting.due_oldest_us) == (1000, 0)
    assert waiting.waiting_bytes > 0
    node.resume()
    node.drain()
    assert node.peek("x").num_rows == 0
    assert node.statistics().queues["x"].waiting == 0
    kept = [each for name, each in node.statistics().queues.items() if name != "x" and each.waiting]
    assert kept, "an output that nobody reads keeps everything"
    assert [(each.due, each.due_oldest_us) for each in kept] == [(0, None)] * len(kept)


def test_a_tap_sees_some_of_what_passes(node: Node) -> None:
    tap = node.tap("x", 2)
    assert tap.take(0) is None
    node.pause()
    node.push("x", [{"k": value} for value in range(100)])
    seen = tap.take(60)
    assert seen is not None
    assert seen["k"].to_pylist() == [0, 1]
    assert tap.take(0) is None, "each is seen once"
    node.stop()
    assert tap.take(60) is None
    assert tap.is_over


def test_arcs_inside_a_train_say_so(node: Node) -> None:
    with pytest.raises(EngineError, match="no arc 'nowhere'; expected one of"):
        node.peek("nowhere")
