"""Boxes that are split and made whole again while they run: outputs stay those of the whole network.

Boxes with and without state, their copies, and copies of copies; between any two events, with restarts under
other settings in between, and on trains that are still waiting.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.engine_runs import fed, opened, random_setting, recut, several_tasks
from tests.conformance.random_networks import (
    make_aggregate,
    make_bsort,
    make_changes,
    make_composed,
    make_distinct,
    make_filter,
    make_join,
    make_lag,
    make_map,
    make_number,
    make_top,
    make_union,
    random_events,
    random_network,
)
from tests.conformance.test_live import check, expected_of, node_of

from australis import Node
from australis.algebra.network import Network, Ref
from australis.errors import PolicyError
from australis.policy.place import BoxSplit, split_up, tracks

RANDOM = st.integers(0, 1 << 32).map(Random)
IS_DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
some = settings(max_examples=2000 if IS_DEEP else 25)
KEYED = (make_aggregate, make_bsort, make_changes, make_distinct, make_join, make_lag, make_number, make_top)
STATELESS = (make_filter, make_map, make_union, make_composed)


def drawn(random: Random) -> tuple[Network, set[str]]:
    """A network, and those of its boxes that can be split."""
    while True:
        network = random_network(random, makers=(*KEYED, *KEYED, *STATELESS))
        found = {box for box in network.boxes if can_split(network, box)}
        has_tables = any(given.table for given in network.inputs.values())
        if not has_tables and any(network.boxes[box].box.ordered for box in found):
            return network, found


def can_split(network: Network, box: str) -> bool:
    try:
        split_up(network, BoxSplit(box, 2))
    except PolicyError:
        return False
    return True


def split_somewhere(random: Random, node: Node, boxes: set[str]) -> int:
    """Split a box, or a copy of one, or make one whole."""
    known = node.splits()
    copies = [copy for each in known.values() for copy in each.copies]
    box = random.choice([*sorted(boxes), *copies])
    if box in known:
        if not any(copy in known for copy in known[box].copies):
            assert not node.unsplit(box).is_nothing
            return 1
        return 0
    try:
        return 0 if node.split(box, random.choice([2, 2, 3, 5])).is_nothing else 1
    except PolicyError:
        return 0


@given(RANDOM)
@some
def test_splits_change_nothing(random: Random) -> None:
    network, boxes = drawn(random)
    events = recut(random, random_events(random, network, 40))
    setting = random_setting(random)
    with several_tasks(random.choice([2, 60_000])), node_of(network, setting) as (node, root):
        for event in events:
            if random.random() < 0.5:
                split_somewhere(random, node, boxes)
            fed(node, network, event)
            if random.random() < 0.15:
                other, known = random_setting(random), node.splits()
                if random.random() < 0.5:
                    node.drain()
                    setting = other
                else:
                    setting = replace(other, discipline=setting.discipline)
                node.stop()
                node = opened(root, setting, network, [])
                assert node.splits() == known
        try:
            right = expected_of(network, events)
            right.forgive_sequence(outputs_after(network, boxes))
            check(right, node, {name: name for name in network.outputs})
        finally:
            node.stop(now=True)


def outputs_after(network: Network, boxes: set[str]) -> set[str]:
    """The outputs after boxes that may take several tuples of one moment: these come copy by copy."""
    reached = {
        Ref(box, port)
        for box in boxes
        for port in range(network.boxes[box].box.outputs)
        if any(tracks(network, source) is None for source in network.boxes[box].sources)
    }
    for box in network.order:
        node = network.boxes[box]
        if reached.intersection(node.sources):
            reached |= {Ref(box, port) for port in range(node.box.outputs)}
    return {name for name, output in network.outputs.items() if output.source in reached}
