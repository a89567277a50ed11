"""The laws of marks, on every stream of random networks: they rise, and no later tuple is below one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.random_networks import Event, random_events, random_network, random_rows, with_ends

from australis.algebra.boxes import BSort
from australis.algebra.network import Network, Ref
from australis.kernels.marks import NO_MARKS, Marks
from australis.kernels.progress import InputProgress, network_marks
from australis.reference.network import ReferenceRun, _Event
from australis.reference.order import to_units

RANDOM = st.randoms(use_true_random=False)


def promising(network: Network) -> set[Ref]:
    """The results of boxes that go by progress at all ports: they have dropped what was late."""
    found = set()
    for box_id, node in network.boxes.items():
        orders = list(node.box.orders.values())
        emits_late = isinstance(node.box.core, BSort) and node.box.emits_late
        if orders and all(each.by_progress for each in orders) and not emits_late:
            found.add(Ref(box_id))
    return found


class Watched(ReferenceRun):
    """Checks the laws after each event."""

    def __init__(self, network: Network) -> None:
        super().__init__(network)
        self._promising = promising(network)
        self.seen: Counter[str] = Counter()

    def _keep_marks(self, event: _Event) -> None:
        for ref, risen in event.marks.items():
            for name in {name for _, name, _ in risen}:
                self._check_rise(ref, name, [mark for _, each, mark in risen if each == name])
        for ref in self._promising:
            self._check_tuples(ref, event)
        super()._keep_marks(event)

    def _check_rise(self, ref: Ref, name: str, marks: list[Any]) -> None:
        before = self._marks[ref].get(name)
        whole = marks if before is None else [before, *marks]
        assert all(one < other for one, other in pairwise(whole)), (ref, name, whole)
        self.seen["marks"] += len(marks)

    def _check_tuples(self, ref: Ref, event: _Event) -> None:
        schema = self.network.schemas[ref]
        for name in self.network.marked[ref]:
            for cause, each in event.streams[ref]:
                earlier = [mark for at, on, mark in event.marks[ref] if on == name and at < cause]
                mark = earlier[-1] if earlier else self._marks[ref].get(name)
                value = to_units(each.values[name], schema[name].type)
                if mark is not None and value is not None:
                    assert value >= mark, f"{ref} emits {name} = {value} after the mark {mark}"
                    self.seen["tuples"] += 1


def fed(run: ReferenceRun, event: Event) -> None:
    if event.ending:
        run.flush(event.now)
    elif event.input_name is None:
        run.tick(event.now)
    elif event.promise is not None:
        run.promise(event.input_name, event.promise, event.now)
    else:
        run.push_batch(event.input_name, event.rows, event.now)


@given(RANDOM)
def test_marks_rise_and_nothing_comes_below_one(random: Random) -> None:
    network = random_network(random)
    run = Watched(network)
    if "stored" in network.inputs:
        run.load("stored", random_rows(random, network.inputs["stored"].schema, 5))
    for event in with_ends(random, random_events(random, network)):
        fed(run, event)


def test_the_laws_are_tried_on_many_marks_and_tuples() -> None:
    seen: Counter[str] = Counter()
    for seed in range(100):
        random = Random(seed)
        network = random_network(random)
        run = Watched(network)
        for event in random_events(random, network):
            fed(run, event)
        seen += run.seen
    assert seen["marks"] > 300
    assert seen["tuples"] > 50


def test_the_marks_of_an_arc_do_not_depend_on_where_its_events_are_cut() -> None:
    """The last mark of every stream is the same function of the inputs' last marks."""
    for seed in range(60):
        random = Random(seed)
        network = random_network(random)
        makers = InputProgress(network)
        if not makers.known:
            continue
        run = ReferenceRun(network)
        for event in random_events(random, network):
            fed(run, event)
            if event.ending:
                break
            own = {
                name: {given.progress.on: mark_alone(run, name, given.progress.on)}
                for name, given in network.inputs.items()
                if given.progress is not None and given.progress.on in run._marks[Ref(name)]
            }
            derived = network_marks(network, own)
            for ref, marks in derived.items():
                for name, found in marks.items():
                    assert found.before == run._marks[ref].get(name), (ref, name)


def mark_alone(run: ReferenceRun, name: str, on: str) -> Marks:
    """The mark that stands at an input, without any rise."""
    mark = run._marks[Ref(name)][on]
    dtype = float if isinstance(mark, float) else NO_MARKS.values.dtype
    return Marks(mark, NO_MARKS.causes, NO_MARKS.values.astype(dtype))
