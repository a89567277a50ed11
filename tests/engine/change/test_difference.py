"""The difference between two networks: what continues, what comes and goes, what is lost, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.change.fleet import fleet
from tests.engine.change.plans import OLD, OUTPUTS, cut, emit, network, stand
from tests.engine.ledger.held import MemoryHome, opened, push, segment, state_file

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.change.difference import Difference, difference
from australis.engine.change.takeover import Takeover
from australis.engine.ledger import Head, Ledger, LogEvent, StateFile
from australis.errors import EngineError


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """The old network runs, and has come to the end of three tuples."""
    with opened(tmp_path, MemoryHome(), OLD.plan) as ledger:
        push(ledger, 3)
        stand(ledger, some=Head(4, 1), count=Head(4, 1), twice=Head(4, 1))
        yield ledger


def compare(ledger: Ledger, new: Network, now: int = 0) -> Difference:
    """What becomes of the network that runs."""
    old = ledger.plan.network
    return difference(old, new, Takeover(cut(old), cut(new)), ledger, now)


def other(schema: str) -> Network:
    net = NetworkBuilder("n")
    net.input("s", schema).output("kept")
    return net.build()


def test_the_same_network_changes_nothing(ledger: Ledger) -> None:
    found = compare(ledger, network())
    assert found.is_nothing
    assert list(found.lines()) == ["nothing changes"]
    more = compare(ledger, network({**OUTPUTS, "more": "some"}))
    assert (more.is_nothing, more.held) == (False, ()), "an output comes, though no superbox is held for it"


def test_boxes_and_outputs_are_told_apart_by_what_becomes_of_them(ledger: Ledger) -> None:
    found = compare(ledger, network({"kept": "some", "own": "count"}, least=5))
    assert (found.kept, found.stateful, found.altered) == (("count", "twice"), ("count",), ("some",))
    assert (found.outputs_added, found.outputs_removed, found.held) == (("own",), ("n",), ("some",))
    assert list(found.lines()) == [
        "  2 boxes continue, 1 keeps its state",
        "  ~ box some",
        "  + output own",
        "  - output n",
    ]


def test_boxes_and_inputs_that_come_and_go(ledger: Ledger) -> None:
    net = NetworkBuilder("n")
    net.input("fresh", "k long, t long").filter("k >= 0", as_="new").output("kept")
    found = compare(ledger, net.build())
    assert (found.added, found.removed) == (("new",), ("some", "count", "twice"))
    assert (found.inputs_added, found.inputs_removed, found.outputs_altered) == (
        ("fresh",),
        ("s",),
        ("kept",),
    )
    assert not found.is_nothing
    assert "  ~ output kept: from" in list(found.lines())


def test_it_says_how_many_boxes_keep_their_state(ledger: Ledger) -> None:
    nothing = compare(ledger, network())

    def first(kept: str, stateful: str) -> str:
        found = replace(nothing, kept=tuple(kept), stateful=tuple(stateful), held=("x",))
        return next(found.lines()).strip()

    assert first("", "") == "0 boxes continue"
    assert first("a", "") == "1 box continues"
    assert first("a", "a") == "1 box continues and keeps its state"
    assert first("abc", "ab") == "3 boxes continue, 2 keep their state"


# --- what is lost


def test_the_state_of_a_box_that_begins_anew_is_lost(ledger: Ledger) -> None:
    file = StateFile("count", 0, state_file(ledger), 5)
    with ledger.change() as change:
        change.add_states("count", [file])
    assert compare(ledger, network(size=5)).lost == ("the state of count",)
    moved = compare(ledger, network({**OUTPUTS, "n": "twice"}))
    assert (moved.held, moved.lost) == (("count", "twice"), ()), "its box stays as it is"


def test_tuples_that_a_consumer_has_not_read_are_lost_with_their_output(ledger: Ledger) -> None:
    emit(ledger, "some")
    without = network({"n": "count"})
    assert compare(ledger, without).lost == ("3 tuples of kept that were not read",)
    assert compare(ledger, network({**OUTPUTS, "kept": "twice"})).lost == ()
    with ledger.change() as change:
        change.set_consumer("reader", "kept", 3)
    assert compare(ledger, without).lost == ("1 tuples of kept that were not read",)
    with ledger.change() as change:
        change.set_consumer("reader", "kept", 4)
    assert compare(ledger, without).lost == ()


def test_tuples_that_wait_on_an_input_are_lost_with_it(ledger: Ledger) -> None:
    stand(ledger, some=Head(2, 1))
    net = NetworkBuilder("n")
    net.input("fresh", "k long").filter("k >= 0", as_="new").output("new")
    assert compare(ledger, net.build()).lost == ("2 tuples that wait on s",)


@pytest.mark.parametrize(
    ("history", "lost"),
    [("forever", 0), (6, 0), (3, 3), (0, 6), ("10 s", 3), ("1 h", 0)],
)
def test_history_that_is_kept_no_longer_is_lost(tmp_path: Path, history: str | int, lost: int) -> None:
    """Three tuples arrived at 0 s, and three at 100 s, which is now."""
    with opened(tmp_path, MemoryHome(), cut(fleet()).plan) as ledger:
        for base, seconds in ((0, 0), (4, 100)):
            made = replace(segment(ledger, "pos", base + 1), newest=seconds * 1_000_000)
            with ledger.change() as change:
                change.log(LogEvent(base, made.end, "push", "pos", 3, made.newest))
                change.add_segments([made])
        found = compare(ledger, fleet(history=history), 100_000_000)
        assert found.lost == ((f"the history of reports, {lost} tuples",) if lost else ())
        assert found.points_altered == (() if history == "forever" else ("reports", "quick"))


def test_history_of_another_schema_is_lost(tmp_path: Path) -> None:
    old, new = cast_to("long"), cast_to("string")
    with opened(tmp_path, MemoryHome(), cut(old).plan) as ledger:
        emit(ledger, "cast")
        assert compare(ledger, old).lost == ()
        assert compare(ledger, new).lost == (
            "3 tuples of out that were not read",
            "the history of past, 3 tuples",
        )


def cast_to(name: str) -> Network:
    """A map with history, to one of several types."""
    net = NetworkBuilder("n")
    made = net.input("s", "k long").map({"k": f"cast(k as {name})"}, as_="cast")
    made.point("past", history="forever").output("out")
    return net.build()


# --- what is refused


def test_an_input_of_another_schema_is_refused(ledger: Ledger) -> None:
    expected = (
        r"^n\.inputs\.s: is \(k string\), but tuples of \(k long, t long\) may wait; expected the input"
    )
    with pytest.raises(EngineError, match=expected):
        compare(ledger, other("k string"))


def test_another_time_zone_is_refused(ledger: Ledger) -> None:
    new = replace(network(), timezone="Europe/Berlin")
    with pytest.raises(EngineError, match=r"n\.timezone: is 'Europe/Berlin'; expected 'UTC', as before"):
        compare(ledger, new)
