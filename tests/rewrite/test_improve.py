"""What improving never changes: outputs, their sequence and #ts, the quarantine, the state of what runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.random_networks import Event
from tests.conformance.test_networks import kernel_event, table_of
from tests.rewrite.equality import Emitted, differences, random_story, run
from tests.rewrite.networks import random_queries, random_statistics

from australis.algebra.boxes import Aggregate, BSort, Filter
from australis.algebra.network import Network, Output, Ref
from australis.kernels.run import PipelineRun
from australis.rewrite.improve import BEGINNING, RULES, Improved, improve, measure
from australis.rewrite.rewrite import Rewrite, kept
from australis.rewrite.statistics import Statistics

SEED = st.integers(0, 2**32)


@given(SEED)
def test_outputs_stay_as_they_are(seed: int) -> None:
    random = Random(seed)
    network = random_queries(random)
    found = improve(network, random_statistics(random, network))
    assert not differences(network, found.network, random_story(random, network)), _told(found)


@given(SEED)
def test_a_network_is_improved_while_it_runs(seed: int) -> None:
    """Between two trains: what runs keeps its state, and nothing downstream changes."""
    random = Random(seed)
    network = random_queries(random)
    stateful = [box_id for box_id, node in network.boxes.items() if node.box.ordered]
    found = improve(network, replace(random_statistics(random, network), running=stateful))
    assert kept(network, found.network) >= set(stateful)
    stored, events = random_story(random, network)
    assert _swapped(network, found.network, stored, events) == run(network, stored, events), _told(found)


@given(SEED)
def test_cycles_take_over_each_others_state(seed: int) -> None:
    """Measurements change, the network with them, and both start from the original one."""
    random = Random(seed)
    network = random_queries(random)
    begun = improve(network, rules=BEGINNING).network
    stateful = [box_id for box_id, node in begun.boxes.items() if node.box.ordered]
    one, other = (
        improve(begun, replace(random_statistics(random, begun), running=stateful)).network for _ in range(2)
    )
    assert kept(one, other) >= set(stateful)
    stored, events = random_story(random, network)
    assert _swapped(one, other, stored, events) == run(network, stored, events)


def _swapped(
    before: Network, after: Network, stored: list[dict[str, Any]], events: list[Event]
) -> list[Emitted]:
    """A run that begins with one network and ends with another, which takes over the state."""
    first, second = PipelineRun(before), PipelineRun(after)
    if "stored" in before.inputs:
        first.load("stored", table_of(before, "stored", [(row, 0) for row in stored]))
    middle = len(events) // 2
    emitted = [kernel_event(first, before, event) for event in events[:middle]]
    second.state = {**second.state, **{box_id: first.state[box_id] for box_id in kept(before, after)}}
    # The marks of the inputs are in the log, whatever runs.
    second._progress = first._progress
    return emitted + [kernel_event(second, after, event) for event in events[middle:]]


@given(SEED)
def test_every_rewrite_lowers_the_measure(seed: int) -> None:
    random = Random(seed)
    network = random_queries(random)
    found = Improved(network, random_statistics(random, network))
    for rewrite in improve(network, found.statistics).applied:
        before = measure(found.network, found.statistics)
        found = Improved(rewrite.apply(found.network), rewrite.learned(found.statistics))
        assert measure(found.network, found.statistics) < before, rewrite.says


@given(SEED)
def test_whatever_a_rule_finds_can_be_done(seed: int) -> None:
    """Not only the first of its rewrites, and whatever the other rules have not done yet."""
    random = Random(seed)
    network = random_queries(random)
    statistics, story = random_statistics(random, network), random_story(random, network)
    rewrites = [rewrite for rule in RULES for rewrite in rule(network, statistics)]
    for rewrite in random.sample(rewrites, min(len(rewrites), 3)):
        assert not differences(network, rewrite.apply(network), story), rewrite.says


@given(SEED)
def test_what_is_improved_needs_no_improving(seed: int) -> None:
    random = Random(seed)
    network = random_queries(random)
    statistics = random_statistics(random, network)
    found = improve(network, statistics)
    assert improve(found.network, found.statistics).applied == ()
    assert improve(network, statistics).applied == found.applied


@given(SEED)
def test_streams_of_connection_points_stay_where_they_are(seed: int) -> None:
    random = Random(seed)
    network = random_queries(random)
    found = improve(network, random_statistics(random, network))
    assert found.network.connection_points == network.connection_points
    for point in network.connection_points.values():
        assert found.network.marked[point.at] >= network.marked[point.at], "queries may go by them"
    ends = _with_points_as_outputs(network), _with_points_as_outputs(found.network)
    assert not differences(*ends, random_story(random, network))


def _with_points_as_outputs(network: Network) -> Network:
    """What connection points keep, made visible."""
    outputs = {name: Output(point.at) for name, point in network.connection_points.items()}
    return replace(network, outputs={**network.outputs, **outputs})


# --- rules that are wrong


def _tops(network: Network) -> Iterator[tuple[str, Ref]]:
    """Filters with the box before them, whatever that is."""
    for box_id in network.order:
        source = network.boxes[box_id].sources[0]
        if isinstance(network.boxes[box_id].box, Filter) and source.id in network.boxes:
            yield box_id, source


def reckless(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Moves a filter before a sort or a window, though its predicate is not one of groups."""
    for box_id, source in _tops(network):
        above, node = network.boxes[source.id], network.boxes[box_id]
        if above.box.kind in ("bsort", "wsort") and len(network.consumers[source]) == 1:
            put = {
                box_id: replace(node, sources=above.sources),
                source.id: replace(above, sources=(Ref(box_id),)),
            }
            yield Rewrite("reckless", "", put=put, moved={Ref(box_id): source})
            return


def forgetful(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Leaves a filter out."""
    for box_id, source in _tops(network):
        yield Rewrite("forgetful", "", removed=(box_id,), moved={Ref(box_id, p): source for p in range(4)})
        return


def deaf(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Lets a sort or a window wait for its own tuples instead of marks."""
    for box_id, node in network.boxes.items():
        if not isinstance(node.box, Aggregate | BSort) or _feeds_progress(network, box_id):
            continue
        if node.box.order.by_progress:
            order = replace(node.box.order, by="slack")
            yield Rewrite("deaf", "", put={box_id: replace(node, box=replace(node.box, order=order))})
            return


def _feeds_progress(network: Network, box_id: str) -> bool:
    """Whether a box downstream needs the marks that a box passes on."""
    streams = [ref for ref in network.schemas if ref.id == box_id]
    readers = {reader for ref in streams for reader, _ in network.consumers[ref]}
    orders = [order for reader in readers for order in network.boxes[reader].box.orders.values()]
    return any(o.by_progress for o in orders) or any(_feeds_progress(network, each) for each in readers)


@pytest.mark.parametrize("rule", [reckless, forgetful, deaf])
def test_a_rule_that_is_wrong_is_noticed(rule: Any) -> None:
    def notices(seed: int) -> bool:
        random = Random(seed)
        network = random_queries(random)
        found = next(rule(network, Statistics()), None)
        if found is None or (found.removed and found.removed[0] in _kept(network)):
            return False
        return bool(differences(network, found.apply(network), random_story(random, network)))

    assert any(notices(seed) for seed in range(200))


def _kept(network: Network) -> set[str]:
    """The boxes whose tuples a connection point keeps: such a box cannot be left out."""
    return {point.at.id for point in network.connection_points.values()}


def _told(found: Improved) -> str:
    return "\n".join(f"{rewrite.rule}: {rewrite.says}" for rewrite in found.applied)
