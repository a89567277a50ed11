"""Subscriptions: each tuple once, from where a consumer left off, until node or output are gone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.engine.history.bench import Bench, network, opened, tuples
from tests.waiting import until

from australis.algebra.builder import NetworkBuilder
from australis.algebra.types import TIMESTAMP
from australis.engine.deliver.subscriptions import Subscriptions
from australis.engine.ledger.log import Head
from australis.engine.run_state import RunState
from australis.engine.store.segments import SEQ
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Discipline, plan

NETWORK = network(history=None)


def _without_outputs() -> NetworkBuilder:
    net = NetworkBuilder("n")
    stream = net.input("s", "k int, v double, note string")
    stream.filter("k > 2", as_="some").output("other")
    return net


OTHER = plan(_without_outputs().build(), Discipline.TRAIN)
"""A plan without the output `out`."""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with opened(tmp_path, NETWORK) as bench:
        yield bench


@pytest.fixture
def state(bench: Bench) -> RunState:
    return RunState(bench.ledger)


@pytest.fixture
def subscriptions(bench: Bench, state: RunState) -> Subscriptions:
    return Subscriptions(bench.ledger, state, lambda: bench.now)


def emit(bench: Bench, first: int, count: int = 5) -> None:
    """Tuples come in, and a train lets all of them out."""
    base = bench.ledger.queues.log_end
    bench.push(tuples(first, count))
    numbers = pa.array(range(base + 1, base + 1 + count), pa.int64())
    stamps = pa.array([0] * count, pa.int64()).cast(TIMESTAMP.arrow)
    bench.emit("some", tuples(first, count).append_column("#ts", stamps).append_column(SEQ, numbers))
    bench.stand({"some": Head(bench.ledger.queues.log_end, 1)})


def values(tables: Iterator[pa.Table] | list[pa.Table]) -> list[float]:
    return [value for table in tables for value in table["v"].to_pylist()]


def right(first: int, end: int) -> list[float]:
    return [number / 2 for number in range(first, end)]


def test_an_output_is_read_as_far_as_its_writer_has_come(bench: Bench, subscriptions: Subscriptions) -> None:
    emit(bench, 0)
    emit(bench, 5)
    assert values([subscriptions.read("out")]) == right(0, 10)
    bench.stand({"some": Head(6, 2)})
    assert values([subscriptions.read("out")]) == right(0, 5)


def test_a_table_is_acknowledged_when_the_next_one_is_asked_for(
    bench: Bench, subscriptions: Subscriptions
) -> None:
    emit(bench, 0)
    emit(bench, 5)
    tables = subscriptions.subscribe("out", "me", follow=False, rows=1)
    assert values([next(tables)]) == right(0, 5)
    assert subscriptions.consumer("me", "out") == (0, None)
    assert len(bench.segments("some")) == 2
    assert values([next(tables)]) == right(5, 10)
    assert subscriptions.consumer("me", "out") == (6, None)
    assert len(bench.segments("some")) == 1, "what all have read is gone"
    tables.close()
    again = subscriptions.subscribe("out", "me", follow=False, rows=100)
    assert values(again) == right(5, 10), "what was not acknowledged comes again"
    assert bench.segments("some") == []


def test_a_second_reader_under_a_name_is_refused(bench: Bench, subscriptions: Subscriptions) -> None:
    emit(bench, 0)
    tables = subscriptions.subscribe("out", "me", follow=False, rows=1)
    refused = r"^n\.out: is being read by another subscriber under the name 'me'; expected a name of its own"
    with pytest.raises(EngineError, match=refused):
        subscriptions.subscribe("out", "me", follow=False, rows=1)
    others = [
        subscriptions.subscribe(*other, follow=False, rows=1)
        for other in (("out", "you"), ("quarantine", "me"))
    ]
    assert values(tables) == right(0, 5)
    assert [values(each) for each in others[:1]] == [right(0, 5)]
    assert values(subscriptions.subscribe("out", "me", follow=False, rows=1)) == [], "it has ended"


def test_a_name_is_free_when_its_reader_is_closed_or_gone(bench: Bench, subscriptions: Subscriptions) -> None:
    emit(bench, 0)
    subscriptions.subscribe("out", "me", follow=True, rows=1).close()
    with subscriptions.subscribe("out", "me", follow=True, rows=1) as tables:
        next(tables)
    next(subscriptions.subscribe("out", "me", follow=True, rows=1))
    assert values(subscriptions.subscribe("out", "me", follow=False, rows=1)) == right(0, 5)


def test_a_name_is_free_when_its_reader_has_met_an_error(
    bench: Bench, subscriptions: Subscriptions, state: RunState
) -> None:
    tables = subscriptions.subscribe("out", "me", follow=True, rows=100)
    state.error = EngineError(Problem("some", "is broken"))
    with pytest.raises(EngineError, match="is broken"):
        next(tables)
    state.error = None
    assert values(subscriptions.subscribe("out", "me", follow=False, rows=1)) == []


def test_a_reader_that_waits_is_ended_by_another_thread(bench: Bench, subscriptions: Subscriptions) -> None:
    emit(bench, 0)
    tables = subscriptions.subscribe("out", "me", follow=True, rows=100)
    next(tables)
    waiting = threading.Thread(target=lambda: found.extend(tables), daemon=True)
    found: list[pa.Table] = []
    waiting.start()
    until(lambda: subscriptions.consumer("me", "out")[0] > 0)
    tables.close()
    waiting.join(60)
    assert not waiting.is_alive()
    assert found == []
    assert values(subscriptions.subscribe("out", "me", follow=False, rows=1)) == [], "the name is free"


def test_the_last_table_of_a_subscription_that_ends_is_acknowledged(
    bench: Bench, subscriptions: Subscriptions
) -> None:
    emit(bench, 0)
    tables = subscriptions.subscribe("out", "me", follow=True, rows=100)
    next(tables)
    tables.end()
    assert list(tables) == []
    assert subscriptions.consumer("me", "out") == (6, None)


@pytest.mark.parametrize("seq", [-1, 7, 1 << 62])
def test_a_number_that_the_log_has_not_is_not_acknowledged(
    bench: Bench, subscriptions: Subscriptions, seq: int
) -> None:
    emit(bench, 0)
    subscriptions.consumer("me", "out")
    refused = rf"^n\.out: a consumer cannot have read up to {seq:,}; expected a number from 0 to 6, the end"
    with pytest.raises(EngineError, match=refused):
        subscriptions.acknowledge("me", "out", seq)
    assert subscriptions.consumer("me", "out") == (0, None)
    assert values([subscriptions.read("out")]) == right(0, 5)


@pytest.mark.parametrize("seq", [1.5, "3", None, True])
def test_what_is_no_number_is_not_acknowledged(bench: Bench, subscriptions: Subscriptions, seq: Any) -> None:
    emit(bench, 0)
    with pytest.raises(
        EngineError, match=rf"^n\.out: a consumer cannot have read up to {seq!r}; expected a number"
    ):
        subscriptions.acknowledge("me", "out", seq)


def test_an_output_that_is_discarded_keeps_nothing(bench: Bench, subscriptions: Subscriptions) -> None:
    emit(bench, 0)
    subscriptions.discard("out")
    assert bench.segments("some") == []


def test_an_output_that_is_not_there_is_refused_at_once(subscriptions: Subscriptions) -> None:
    with pytest.raises(EngineError, match=r"there is no output 'nothere'; expected one of out, quarantine"):
        subscriptions.subscribe("nothere", "me", follow=True, rows=1)


def test_without_following_it_ends_with_what_was_pushed_by_then(
    bench: Bench, subscriptions: Subscriptions
) -> None:
    emit(bench, 0)
    tables = subscriptions.subscribe("out", "me", follow=False, rows=1)
    first = next(tables)
    emit(bench, 5)
    assert values([first, *tables]) == right(0, 5)
    assert values(subscriptions.subscribe("out", "me", follow=False, rows=1)) == right(5, 10)


def test_it_does_not_wait_for_a_node_that_rests(
    bench: Bench, subscriptions: Subscriptions, state: RunState
) -> None:
    emit(bench, 0)
    bench.push(tuples(5, 5))
    state.paused = True
    assert values(subscriptions.subscribe("out", "me", follow=False, rows=100)) == right(0, 5)


def test_an_error_is_told_to_who_waits(bench: Bench, subscriptions: Subscriptions, state: RunState) -> None:
    emit(bench, 0)
    state.error = EngineError(Problem("some", "is broken"))
    tables = subscriptions.subscribe("out", "me", follow=True, rows=100)
    assert values([next(tables)]) == right(0, 5), "what is there is delivered first"
    with pytest.raises(EngineError, match="is broken"):
        next(tables)


def test_a_subscription_ends_with_the_node_and_notes_nothing_more(
    bench: Bench, subscriptions: Subscriptions
) -> None:
    emit(bench, 0)
    tables = subscriptions.subscribe("out", "me", follow=True, rows=100)
    assert values([next(tables)]) == right(0, 5)
    subscriptions.close()
    assert list(tables) == []
    subscriptions.acknowledge("me", "out", 6)
    assert bench.ledger.catalog.consumer("me", "out") == (0, None)
    assert len(bench.segments("some")) == 1


def test_who_comes_after_the_catalogue_was_closed_hears_no_error(
    bench: Bench, subscriptions: Subscriptions
) -> None:
    emit(bench, 0)
    tables = subscriptions.subscribe("out", "me", follow=True, rows=100)
    next(tables)
    subscriptions.close()
    bench.ledger.catalog.close()
    subscriptions.acknowledge("me", "out", 6)
    assert list(tables) == []
    assert list(subscriptions.subscribe("out", "me", follow=True, rows=100)) == []


def test_a_catalogue_that_fails_before_the_end_is_an_error(
    bench: Bench, subscriptions: Subscriptions
) -> None:
    subscriptions.consumer("me", "out")
    bench.ledger.catalog.close()
    with pytest.raises(EngineError, match="closed database"):
        subscriptions.acknowledge("me", "out", 0)


def test_a_subscription_ends_with_its_output_though_one_of_the_name_comes_again(
    bench: Bench, subscriptions: Subscriptions
) -> None:
    emit(bench, 0)
    made = bench.ledger.plan
    tables = subscriptions.subscribe("out", "me", follow=True, rows=100)
    assert values([next(tables)]) == right(0, 5)
    for each in (OTHER, made):
        with bench.ledger.change() as change:
            change.run_plan(each)
    assert list(tables) == []
    assert subscriptions.consumer("me", "out") == (0, None), "it is none of this one's"
    with pytest.raises(EngineError, match=r"there is no output 'other'; expected one of out, quarantine"):
        subscriptions.read("other")


def test_an_output_that_nobody_else_reads_keeps_everything_again_when_one_is_forgotten(
    bench: Bench, subscriptions: Subscriptions
) -> None:
    subscriptions.consumer("me", "out")
    subscriptions.consumer("you", "out")
    emit(bench, 0)
    subscriptions.acknowledge("me", "out", 6)
    assert len(bench.segments("some")) == 1
    subscriptions.forget("you", "out")
    assert bench.segments("some") == []
    subscriptions.forget("me", "out")
    emit(bench, 5)
    assert values([subscriptions.read("out")]) == right(5, 10)
