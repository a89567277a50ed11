"""Breakpoints: trains end before a tuple that satisfies a predicate, and then the node pauses."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.engine.assembled import World, assembled, push, read
from tests.engine.train.looping import BROKEN, SECONDS_MOST, ks, network, query, steps
from tests.waiting import until

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.quality import Quality
from australis.engine.running import Running
from australis.engine.settings import NodeSettings
from australis.errors import AlgebraError, EngineError


def paused(running: Running) -> None:
    """Wait until the node has paused, and nothing runs."""
    until(lambda: running.state.paused and not running.state.busy, SECONDS_MOST)


def stop_of(running: Running, name: str = "b") -> tuple[str, int, int] | None:
    """The superbox, number and value of k where a breakpoint has paused the node."""
    with running.loop.turn:
        stop = running.loop.breakpoints.listed()[name].stop
    return None if stop is None else (stop.superbox, stop.seq, stop.tuple["k"])


def test_all_before_the_tuple_runs_and_nothing_after_it(running: Running) -> None:
    running.loop.breakpoints.add("b", "s", "k = 7")
    running.loop.start()
    push(running, "s", ks(1, 2, 7, 3))
    paused(running)
    running.state.check()
    assert stop_of(running) == ("some", 3, 7)
    assert set(read(running, "out")) <= {1, 2}
    assert running.ledger.queues.heads["some"].seq == 3
    with pytest.raises(EngineError, match="is paused"):
        running.loop.drain()


def test_resume_goes_on_to_the_next_such_tuple(running: Running) -> None:
    running.loop.breakpoints.add("b", "s", "k >= 7")
    running.loop.start()
    push(running, "s", ks(1, 7, 2, 8, 3))
    for seq, value in ((2, 7), (4, 8)):
        paused(running)
        assert stop_of(running) == ("some", seq, value)
        running.loop.resume()
    running.loop.drain()
    assert read(running, "out") == [1, 7, 2, 8, 3]
    found = running.loop.breakpoints.listed()["b"]
    assert (found.stops, found.stop, found.problem) == (2, None, "")


def test_a_step_goes_on_from_where_the_node_waits(running: Running) -> None:
    running.loop.breakpoints.add("b", "s", "k >= 7")
    running.loop.start()
    push(running, "s", ks(1, 7, 2, 8))
    paused(running)
    while (train := running.loop.step()) is not None and train.superbox != "some":
        assert stop_of(running) == ("some", 2, 7)
    assert train is not None
    assert (train.lo, train.hi) == (2, 4)
    assert stop_of(running) is None
    running.loop.resume()
    paused(running)
    assert stop_of(running) == ("some", 4, 8)


def test_a_step_takes_the_tuple_alone_up_to_the_next_one(running: Running) -> None:
    running.loop.breakpoints.add("b", "s", "k >= 7")
    running.state.fail_query("q", BROKEN)
    running.loop.pause()
    push(running, "s", ks(1, 7, 2, 8, 3))
    cuts = []
    while (train := running.loop.step()) is not None:
        if train.superbox == "some":
            cuts.append((train.lo, train.hi))
    assert cuts == [(0, 2), (2, 4), (4, 6)]
    assert read(running, "out") == [1, 7, 2, 8, 3]


def test_a_query_does_not_heed_it(running: Running) -> None:
    push(running, "s", ks(7, 8))
    running.loop.breakpoints.add("b", "s", "true")
    running.loop.start()
    paused(running)
    assert stop_of(running) == ("some", 1, 7)
    running.loop.breakpoints.remove("b")
    running.loop.resume()
    running.loop.drain()
    assert read(running, "q") == [7, 8]


@pytest.mark.parametrize("watched", [False, True])
def test_superboxes_are_not_joined_across_it(tmp_path: Path, world: World, watched: bool) -> None:
    patient = Quality(delay=((3600, 1), (7200, 0)), loss=((0, 0), (1, 1)))
    net = NetworkBuilder("n")
    some = net.input("s", "k long").filter("k >= 0", as_="some").output("all", patient)
    for name in ("same", "other"):
        some.map({"k": "k"}, as_=name).output(name, patient)
    settings = NodeSettings().for_network(net.build())
    with assembled(tmp_path, net.build(), world, settings) as running:
        if watched:
            running.loop.breakpoints.add("b", "some", "k = 2")
        push(running, "s", ks(1, 2))
        running.loop.start()
        if watched:
            paused(running)
            assert running.ledger.queues.heads["some"].seq == 3
            assert stop_of(running) in (("same", 2, 2), ("other", 2, 2))
            running.loop.resume()
        running.loop.drain()
        assert read(running, "same") == read(running, "other") == [1, 2]
    joined = [each.members for each in world.waybills if each.members[0] == "some"]
    assert joined == ([("some",)] if watched else [("some", "same", "other")])


def test_what_a_predicate_cannot_be(running: Running) -> None:
    with pytest.raises(AlgebraError, match="unknown attribute 'j'"):
        running.loop.breakpoints.add("b", "s", "j > 1")
    with pytest.raises(AlgebraError, match="a boolean"):
        running.loop.breakpoints.add("b", "s", "k + 1")
    with pytest.raises(EngineError, match="one of s, some, b"):
        running.loop.breakpoints.add("b", "same", "true")
    assert running.loop.breakpoints.listed() == {}


def test_it_changes_nothing_but_when_tuples_come(tmp_path: Path) -> None:
    """Whatever is stopped at, the outputs are those of a node that nobody has stopped."""
    chance = random.Random(20)
    values = [chance.randrange(20) for _ in range(60)]
    found = []
    for stopped in (False, True):
        with assembled(tmp_path / str(stopped), network(5), World(), q=query()) as running:
            if stopped:
                running.loop.breakpoints.add("some", "s", "k % 7 = 3")
                running.loop.breakpoints.add("more", "some", "k > 15")
                running.loop.pause()
            for begin in range(0, len(values), 20):
                push(running, "s", ks(*values[begin : begin + 20]))
            steps(running)
            found.append((read(running, "out"), read(running, "q")))
    assert found[0] == found[1]


def test_it_waits_for_a_network_that_has_its_arc(tmp_path: Path) -> None:
    def renamed(name: str) -> Network:
        net = NetworkBuilder("n")
        net.input(name, "k long").filter("k > 0", as_="some").output("out")
        return net.build()

    with Node(tmp_path, runner="light[1]") as node:
        node.deploy(renamed("s"))
        node.set_breakpoint("b", "s", "k = 7")
        node.change(renamed("t"))
        assert "no train takes tuples from 's'" in node.breakpoints()["b"].problem
        node.push("t", ks(7))
        node.drain()
        node.change(renamed("s"))
        assert node.breakpoints()["b"].problem == ""
        node.push("s", ks(7))
        until(lambda: node.is_paused, SECONDS_MOST)
        assert node.remove_breakpoint("b")
        assert not node.remove_breakpoint("b")
        node.resume()
        node.drain()
        assert node.read("out")["k"].to_pylist() == [7, 7]
