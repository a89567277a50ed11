"""The takeover: which superboxes continue, where the others begin, and where unread tuples go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.change.plans import OLD, OUTPUTS, cut, emit, network, stand, take_over, without_count
from tests.engine.ledger.held import MemoryHome, opened, push

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.change.takeover import Takeover, unread_of
from australis.engine.ledger import Head, Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """The old plan runs; `some` has taken three of six tuples, the others none."""
    with opened(tmp_path, MemoryHome(), OLD.plan) as ledger:
        push(ledger, 3)
        push(ledger, 3)
        stand(ledger, some=Head(4, 2))
        emit(ledger, "some")
        yield ledger


# --- who continues


def test_only_what_differs_is_held() -> None:
    takeover = Takeover(OLD, cut(network(least=5)))
    assert takeover.held == takeover.drained == ("some",)
    assert [each.id for each in takeover.fresh] == ["some"]
    assert takeover.same == {"count", "twice"}


def test_another_number_of_partitions_concerns_only_what_is_spread_by_keys() -> None:
    assert Takeover(OLD, cut(network(), 3)).held == ("count",)


def test_superboxes_that_exchange_their_outputs_are_held() -> None:
    old, new = network({"a": "some", "b": "twice"}), network({"a": "twice", "b": "some"})
    assert Takeover(cut(old), cut(new)).held == ("some", "twice")


def test_an_output_more_leaves_its_superbox_alone() -> None:
    takeover = Takeover(OLD, cut(network({**OUTPUTS, "more": "some"})))
    assert takeover.held == ()


def test_what_is_over_and_views_that_nobody_wants_are_not_drained() -> None:
    gone = Takeover(OLD, cut(without_count()))
    assert (gone.held, gone.drained) == (("count", "twice"), ())
    old, new = network(importance=0), network(importance=0, least=1)
    assert Takeover(cut(old), cut(new)).drained == ("some",)


# --- where it begins


def test_a_superbox_begins_where_those_ended_that_it_continues(ledger: Ledger) -> None:
    takeover = Takeover(OLD, cut(network(least=5)))
    assert takeover.begin(takeover.fresh[0], ledger.queues, 4) == 4


def test_a_new_superbox_begins_with_the_next_tuple(ledger: Ledger) -> None:
    takeover = Takeover(cut(without_count()), OLD)
    assert {takeover.begin(each, ledger.queues, 4) for each in takeover.fresh} == {ledger.queues.log_end}


def test_a_view_that_was_not_drained_continues_where_it_was(tmp_path: Path) -> None:
    old, new = (cut(network(twice=twice, importance=0)) for twice in ("2 * t", "t + t"))
    with opened(tmp_path, MemoryHome(), old.plan) as ledger:
        push(ledger, 6)
        emit(ledger, "some")
        stand(ledger, some=Head(6, 1), twice=Head(2, 1))
        takeover = Takeover(old, new)
        assert (takeover.held, takeover.drained) == (("twice",), ())
        assert takeover.begin(takeover.fresh[0], ledger.queues, 6) == 2


# --- outputs


def test_unread_tuples_follow_their_output_to_another_arc(ledger: Ledger) -> None:
    takeover = Takeover(OLD, cut(network({"kept": "twice", "n": "count"})))
    assert takeover.moved_outputs == {"kept": ("some", "twice")}
    assert takeover.stays("kept")
    (before,) = ledger.queues.segments["some"]
    take_over(ledger, takeover)
    (after,) = ledger.queues.segments["twice"]
    assert (after.name, after.base, after.rows) == (before.name, before.base, before.rows)
    assert ledger.root.disk.exists(after.name)


def test_tuples_of_another_schema_do_not_follow(ledger: Ledger) -> None:
    takeover = Takeover(OLD, cut(network({"kept": "count"})))
    assert takeover.moved_outputs == {}
    assert not takeover.stays("kept")
    assert not takeover.stays("n")


def test_outputs_that_are_exchanged_exchange_their_unread_tuples(tmp_path: Path) -> None:
    old, new = cut(pair("a", "b")), cut(pair("b", "a"))
    with opened(tmp_path, MemoryHome(), old.plan) as ledger:
        before = {arc: [emit(ledger, arc).name] for arc in ("low", "high")}
        take_over(ledger, Takeover(old, new), begin=0)
        after = {arc: [each.name for each in ledger.queues.segments[arc]] for arc in before}
        assert after == {"low": before["high"], "high": before["low"]}


def pair(low: str, high: str) -> Network:
    """Two filters, with the names of their outputs."""
    net = NetworkBuilder("pair")
    stream = net.input("s", "k long")
    stream.filter("k < 9", as_="low").output(low)
    stream.filter("k >= 9", as_="high").output(high)
    return net.build()


def test_tuples_do_not_follow_to_an_arc_that_has_its_own(ledger: Ledger) -> None:
    old, new = network({"kept": "some", "own": "twice"}), network({"kept": "twice", "own": "twice"})
    takeover = Takeover(cut(old), cut(new))
    assert (takeover.moved_outputs, takeover.stays("kept"), takeover.stays("own")) == ({}, False, True)


def test_an_arc_keeps_tuples_only_for_its_schema() -> None:
    old, new = (cut(network({"own": "twice"}, twice=twice)) for twice in ("t", "cast(t as string)"))
    takeover = Takeover(old, new)
    assert (takeover.keeps("some"), takeover.keeps("twice")) == (True, False)


def test_what_every_consumer_has_read_is_not_unread(ledger: Ledger) -> None:
    (made,) = ledger.queues.segments["some"]
    assert unread_of(ledger.queues, "some", "kept") == [made]
    for consumer, seq, unread in (("first", made.end, []), ("second", made.end - 1, [made])):
        with ledger.change() as change:
            change.set_consumer(consumer, "kept", seq)
        assert unread_of(ledger.queues, "some", "kept") == unread
