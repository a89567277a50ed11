"""The takeover: the states that the new superboxes begin with, and what is left of the old ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.change.plans import OLD, cut, emit, network, stand, take_over, without_count
from tests.engine.ledger.held import MemoryHome, counting, opened, push
from tests.kernels.running import rows_of, table

from australis.algebra.builder import NetworkBuilder
from australis.engine.change.takeover import Cut, Takeover
from australis.engine.ledger import Head, Ledger, Record, StateFile, port_counts
from australis.engine.store import encode_state, read_state
from australis.kernels.make import kernel_for
from australis.kernels.repartition import repartition
from australis.plan.superboxes import Discipline, plan

(SCHEMA,) = network().input_schemas("count")
COUNT = kernel_for(network().boxes["count"].box, (SCHEMA,))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """The old plan runs; `some` has taken three of six tuples, the others none."""
    with opened(tmp_path, MemoryHome(), OLD.plan) as ledger:
        push(ledger, 3)
        push(ledger, 3)
        stand(ledger, some=Head(4, 2))
        emit(ledger, "some")
        yield ledger


def counted(ledger: Ledger, partitions: int) -> list[StateFile]:
    """The states of a count that has seen a tuple of each of eight keys, in their files."""
    seen = table(SCHEMA, tuple((key, 1) for key in range(8)), list(range(8)))
    whole = COUNT.step(COUNT.start(), 0, seen, 0).state
    files = []
    for partition, state in enumerate(repartition(COUNT, [whole], (("k",),), partitions)):
        name, data = encode_state(ledger.root, "count", partition, state)
        ledger.root.write(name, data)
        files.append(StateFile("count", partition, name, len(data)))
    with ledger.change() as change:
        change.add_states("count", files)
    return files


def flushed(ledger: Ledger, file: StateFile) -> list[tuple[object, ...]]:
    """The windows that a state still has."""
    return rows_of(COUNT.flush(read_state(ledger.root, file.name), 0).outputs[0].select(["k", "n"]))


def test_states_that_fit_are_taken_as_they_are(ledger: Ledger) -> None:
    files = counted(ledger, 2)
    merged = Takeover(OLD, Cut(plan(network(), Discipline.SUPERBOX), 2))
    (found,) = merged.write_states(ledger.root, ledger.catalog).values()
    assert found == files


@pytest.mark.parametrize(("before", "after"), [(2, 3), (2, 1), (1, 4)])
def test_states_are_rewritten_for_another_number_of_partitions(
    ledger: Ledger, before: int, after: int
) -> None:
    files = counted(ledger, before)
    found = Takeover(cut(network(), before), cut(network(), after)).write_states(ledger.root, ledger.catalog)
    assert [each.partition for each in found["count"]] == list(range(after))
    assert not {each.name for each in found["count"]} & {each.name for each in files}
    windows = [row for each in found["count"] for row in flushed(ledger, each)]
    assert sorted(windows) == [(key, 1) for key in range(8)]


def test_a_box_that_does_something_else_begins_without_a_state(ledger: Ledger) -> None:
    counted(ledger, 2)
    takeover = Takeover(OLD, cut(network(size=5)))
    assert takeover.write_states(ledger.root, ledger.catalog) == {"count": []}


# --- the transaction


def test_the_new_superboxes_have_the_place_of_the_old_ones(ledger: Ledger) -> None:
    files = counted(ledger, 2)
    stand(ledger, count=Head(4, 7, deadline=99))
    takeover = Takeover(OLD, cut(network(), 3))
    take_over(ledger, takeover, begin=4)
    assert ledger.plan is takeover.new.plan
    assert ledger.queues.heads["count"] == Head(4, 1), "a deadline is only kept for what has timeouts"
    assert ledger.queues.heads["some"] == Head(4, 2)
    assert len(ledger.catalog.states("count")) == 3
    assert not any(ledger.root.disk.exists(file.name) for file in files)


def test_what_is_over_leaves_nothing(ledger: Ledger) -> None:
    (file, _), made = counted(ledger, 2), emit(ledger, "count")
    stand(ledger, twice=Head(4, 1))
    take_over(ledger, Takeover(OLD, cut(without_count())))
    assert (list(ledger.queues.heads), ledger.catalog.head("twice")) == (["some"], Head())
    assert ledger.catalog.states("count") == []
    assert not any(ledger.root.disk.exists(name) for name in (file.name, made.name))


def test_a_new_superbox_has_not_run_so_far(tmp_path: Path) -> None:
    old = cut(without_count())
    with opened(tmp_path, MemoryHome(), old.plan) as ledger:
        take_over(ledger, Takeover(old, OLD), begin=0)
        assert ledger.queues.heads["count"] == Head(0, 0)


# --- ad hoc queries


def test_what_was_counted_of_a_query_goes_with_it(tmp_path: Path) -> None:
    net = NetworkBuilder("ask")
    net.input("past", "k long, t long").filter("k = 1", as_="asked").output("found")
    alone = Record(counting(), Discipline.TRAIN, 2)
    both = alone.attached("q", net.build())
    with opened(tmp_path, MemoryHome(), both.plan) as ledger:
        with ledger.change() as change:
            change.count_ports({"q.asked": 3, "some": 5})
        take_over(ledger, Takeover(Cut(both.plan, 2), Cut(alone.plan, 2)))
        assert port_counts(ledger.catalog) == {"some": 5}
