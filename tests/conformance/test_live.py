"""Queries that attach and detach, and networks that change while they run: unchanged parts are not affected.

A random network is taken apart: some outputs run from the beginning, others are attached late as queries, or
added and removed by changes. Each output must be what the reference computes for the whole network.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.engine_runs import (
    MEMORY,
    Expectation,
    Setting,
    difference,
    fed,
    numbered,
    opened,
    random_setting,
    recut,
    several_tasks,
)
from tests.conformance.random_networks import Event, random_events, random_network

from australis import Node
from australis.algebra.network import ConnectionPoint, Network, Ref

RANDOM = st.integers(0, 1 << 32).map(Random)
"""Networks are drawn until one fits, so random choices use a seed: there is nothing to shrink."""
IS_DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
some = settings(max_examples=400 if IS_DEEP else 10)


# --- networks in parts


def streams_only(random: Random) -> Network:
    """A random network without stored tables, in which every end leads to an output."""
    while True:
        network = random_network(random)
        if not any(given.table for given in network.inputs.values()):
            return network


def part(network: Network, outputs: Collection[str]) -> Network:
    """What leads to some outputs; all inputs stay, each with a connection point that forgets nothing."""
    kept = {name: output for name, output in network.outputs.items() if name in outputs}
    ids = _upstream(network, {output.source.id for output in kept.values()})
    boxes = {box_id: node for box_id, node in network.boxes.items() if box_id in ids}
    points = {f"at_{name}": ConnectionPoint(Ref(name), history="forever") for name in network.inputs}
    return replace(network, boxes=boxes, outputs=kept, connection_points=points, groups={})


def query(network: Network, output: str) -> Network:
    """What leads to an output, as a query that reads connection points."""
    alone = part(network, [output])
    read = {s.id for node in alone.boxes.values() for s in node.sources} | {alone.outputs[output].source.id}
    inputs = {f"at_{name}": given for name, given in alone.inputs.items() if name in read}
    boxes = {
        box_id: replace(node, sources=tuple(_at(alone, source) for source in node.sources))
        for box_id, node in alone.boxes.items()
    }
    end = replace(alone.outputs[output], source=_at(alone, alone.outputs[output].source))
    return replace(alone, inputs=inputs, boxes=boxes, outputs={output: end}, connection_points={})


def _at(network: Network, source: Ref) -> Ref:
    return Ref(f"at_{source.id}") if source.id in network.inputs else source


def _upstream(network: Network, ids: set[str]) -> set[str]:
    found = set()
    waiting = [each for each in ids if each in network.boxes]
    while waiting:
        box_id = waiting.pop()
        if box_id not in found:
            found.add(box_id)
            waiting += [s.id for s in network.boxes[box_id].sources if s.id in network.boxes]
    return found


# --- running them


@contextmanager
def node_of(network: Network, setting: Setting) -> Iterator[tuple[Node, str]]:
    place = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="australis-test-", dir=place) as root:
        node = opened(root, setting, network, [])
        try:
            yield node, root
        finally:
            node.stop(now=True)


def expected_of(network: Network, events: list[Event]) -> Expectation:
    right = Expectation(network)
    for event in events:
        right.event(event)
    return right


def check(right: Expectation, node: Node, names: dict[str, str]) -> None:
    """The outputs of a node are right; `names` has what each is called there."""
    node.drain()
    found = right.comparable({name: numbered(node.read(there)) for name, there in names.items()})
    for name, tuples in found.items():
        wanted = right.seen.outputs[name]
        assert tuples == wanted, difference(name, tuples, wanted)


@given(RANDOM)
@some
def test_a_query_that_comes_late_gets_all(random: Random) -> None:
    network = streams_only(random)
    late = [name for name in network.outputs if random.random() < 0.6]
    base = part(network, [name for name in network.outputs if name not in late])
    events = recut(random, random_events(random, network))
    when = {name: random.randrange(len(events) + 1) for name in late}
    with several_tasks(random.choice([2, 60_000])), node_of(base, random_setting(random)) as (node, _):
        for number in range(len(events) + 1):
            for name in (name for name in late if when[name] == number):
                node.attach(query(network, name), name=f"late_{name}")
            if number < len(events):
                fed(node, network, events[number])
        names = {**{name: name for name in base.outputs}, **{name: f"late_{name}" for name in late}}
        check(expected_of(network, events), node, names)


@given(RANDOM)
@some
def test_what_a_change_leaves_alone_does_not_notice(random: Random) -> None:
    network = streams_only(random)
    left_alone = [name for name in network.outputs if random.random() < 0.5] or [next(iter(network.outputs))]
    others = [name for name in network.outputs if name not in left_alone]
    events = recut(random, random_events(random, network))

    def some_part() -> Network:
        return part(network, [*left_alone, *(name for name in others if random.random() < 0.5)])

    with several_tasks(random.choice([2, 60_000])), node_of(some_part(), random_setting(random)) as (node, _):
        for event in events:
            if random.random() < 0.4:
                node.change(some_part())
            fed(node, network, event)
        right = expected_of(network, events)
        check(right, node, {name: name for name in left_alone})


@given(RANDOM)
@some
def test_queries_that_come_and_go(random: Random) -> None:
    network = streams_only(random)
    base = part(network, [])
    events = recut(random, random_events(random, network))
    right = expected_of(network, events)
    setting = random_setting(random)
    with several_tasks(random.choice([2, 60_000])), node_of(base, setting) as (node, _):
        attached: dict[str, str] = {}
        for number, event in enumerate(events):
            name = random.choice(list(network.outputs))
            if name in attached:
                found = numbered(node.read(attached[name]))
                node.detach(attached.pop(name))
                assert sorted(found) == sorted(each for each in right.seen.outputs[name] if each in found)
            else:
                attached[name] = f"q{number}_{name}"
                node.attach(query(network, name), name=attached[name])
            fed(node, network, event)
        check(right, node, attached)
        assert set(node.attached()) == set(attached.values())
