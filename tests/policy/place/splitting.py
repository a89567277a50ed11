"""Networks run by the reference, whole and split: how far their outputs are the same."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from tests.conformance.random_networks import Event, condition
from tests.conformance.test_networks import one_by_one, reference_event

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import QUARANTINE, Network, Ref
from australis.algebra.order import Order
from australis.algebra.schema import Schema
from australis.errors import PolicyError
from australis.policy.place.parting.split import Assumed, Parting, Same, part, stream_of
from australis.reference.network import ReferenceRun
from australis.rewrite.rewrite import kept

Story = tuple[list[dict[str, Any]], list[Event]]
Emitted = dict[str, list[str]]


def partings(random: Random, network: Network, assumed: Assumed) -> Iterator[Parting]:
    """Each box in two by a random predicate, unless that is refused."""
    for box_id, node in network.boxes.items():
        schema = stream_of(network, box_id)
        order = getattr(node.box.core, "order", None) or getattr(node.box, "left", None)
        groups = order.group_by if isinstance(order, Order) else ()
        whole = Schema(tuple(f for f in schema if f.name in groups)) if groups else None
        for scope in filter(None, (schema, whole)):
            try:
                yield part(network, box_id, condition(random, scope), assumed)
            except PolicyError:
                continue


def run(network: Network, story: Story) -> list[Emitted]:
    """What each event makes a network emit, one tuple at a time."""
    running, (stored, events) = ReferenceRun(network), story
    if "stored" in network.inputs:
        running.load("stored", stored)
    return [reference_event(running, network, event) for event in one_by_one(events)]


def run_on(before: Network, after: Network, box_id: str, story: Story) -> list[Emitted]:
    """A run that continues with another network from the middle on, in which the box keeps its state."""
    assert box_id in kept(before, after)
    _, events = story
    pieces = one_by_one(events)
    first, second = ReferenceRun(before), ReferenceRun(after)
    emitted = [reference_event(first, before, event) for event in pieces[: len(pieces) // 2]]
    second.machines |= {each: first.machines[each] for each in kept(before, after)}
    return emitted + [reference_event(second, after, event) for event in pieces[len(pieces) // 2 :]]


def check(network: Network, parting: Parting, story: Story) -> None:
    """A network with a box in two emits what it did, as far as the split promises."""
    after = parting.apply(network)
    assert {name: after.output_schema(name) for name in after.outputs} == {
        name: network.output_schema(name) for name in network.outputs
    }
    compare(network, parting, story, run(network, story), run(after, story))


def compare(
    network: Network, parting: Parting, story: Story, one: list[Emitted], other: list[Emitted]
) -> None:
    """What was emitted is the same; exactly so where the split has no part in it."""
    downstream = reached(network, parting)
    ends = [event.ending for event in one_by_one(story[1])]
    for name in (*network.outputs, QUARANTINE):
        same = parting.same if name in downstream else Same.ALL
        streams = [[emitted[name] for emitted in emissions] for emissions in (one, other)]
        assert seen(streams[0], ends, same) == seen(streams[1], ends, same), (name, parting)


def reached(network: Network, parting: Parting) -> set[str]:
    """The outputs downstream of a split."""
    refs = set(parting.moved)
    for box_id in network.order:
        node = network.boxes[box_id]
        if refs.intersection(node.sources):
            refs |= {Ref(box_id, port) for port in range(node.box.outputs)}
    return {name for name, output in network.outputs.items() if output.source in refs}


def seen(stream: list[list[str]], ends: list[bool], same: Same) -> list[list[str]]:
    """A stream, event by event, as far as it must be the same."""
    if same is Same.ALL:
        return stream
    if same is Same.MOMENTS:
        return [sorted(tuples) for tuples in stream]
    lives: list[list[str]] = [[]]
    for tuples, ending in zip(stream, ends, strict=True):
        lives[-1] += tuples
        if ending:
            lives.append([])
    return lives if same is Same.SEQUENCE else [sorted(life) for life in lives]


# --- windows that can be computed in parts

WINDOW_SCHEMA = "at int not null, k int not null, g string, v int, d decimal(9,2), b boolean"
FUNCTIONS = (
    *("count(*)", "count(v)", "count(g)", "sum(v)", "sum(v * 1000000000)", "min(v)", "max(v)", "min(g)"),
    *("max(g)", "avg(v)", "sum(d)", "min(d)", "max(d)", "sum(k + v)", "max(b)"),
)


def window_network(random: Random, *, sorted_by_network: bool) -> Network:
    """A window over a stream that arrives sorted, or that a WSort sorts."""
    net = NetworkBuilder("windows")
    stream = net.input("s", WINDOW_SCHEMA)
    chosen = random.sample(FUNCTIONS, random.randint(1, 4))
    functions = {f"f{number}": text for number, text in enumerate(chosen)}
    tumbles = random.random() < 0.5
    if sorted_by_network:
        stream = stream.wsort("k" if tumbles else "at", timeout=random.choice(["2 us", "9 us"]))
    if random.random() < 0.3:
        stream = stream.filter(condition(random, net_schema()))
    if tumbles:
        stream = stream.tumble(functions, ["k"], as_="window")
    else:
        order = Order("at", random.choice([0, 1, 3]), random.choice([(), ("k",), ("g",), ("g", "k")]))
        size = random.choice([1, 2, 5])
        advance = random.choice([None, 1, 2, 7])
        stream = stream.aggregate(functions, order, size, advance=advance, align=True, as_="window")
    if random.random() < 0.3:
        stream = stream.filter("f0 is not null")
    stream.output("out")
    return net.build()


def net_schema() -> Schema:
    net = NetworkBuilder("n")
    net.input("s", WINDOW_SCHEMA).output("o")
    return net.build().inputs["s"].schema


def sorted_story(random: Random, network: Network, rows: list[dict[str, Any]], by: str) -> Story:
    """Rows sorted by an attribute, in batches, with time that passes and some ends."""
    rows = [{**row, by: number} for row, number in zip(rows, _rising(random, len(rows)), strict=True)]
    events, now = [], 10
    while rows:
        now += random.choice([0, 1, 2])
        count = random.choice([1, 2, 5])
        events.append(Event(now, "s", tuple((row, now - random.randrange(3)) for row in rows[:count])))
        rows = rows[count:]
        if random.random() < 0.2:
            now += 5
            events.append(Event(now))
    return [], [*events, Event(now, ending=True)]


def _rising(random: Random, count: int) -> list[int]:
    return sorted(random.randrange(-4, 8) for _ in range(count))
