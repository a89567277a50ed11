"""A simulated run before anything has happened: a network, its events, its changes. A seed decides it all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from tests.conformance.engine_runs import Setting, random_setting, recut
from tests.conformance.random_networks import Event, random_events
from tests.conformance.test_live import part, query, streams_only

from australis.algebra.network import QUARANTINE, Network
from australis.kernels.layers import shape_of
from australis.kernels.make import kernel_for

CLOCK = "clock"
"""The source of events without tuples: time that passes, and ends of all streams."""


@dataclass(frozen=True)
class Story:
    """A run before anything has happened."""

    whole: Network
    """The network with all outputs: what is right is what the reference makes of it."""
    steady: tuple[str, ...]
    """The outputs that run from the beginning to the end."""
    consumed: tuple[str, ...]
    """The outputs that a consumer reads as they are written: the steady ones, perhaps the quarantine."""
    events: dict[str, tuple[Event, ...]]
    """What each source brings, in order: one for every input, and one for time."""
    keyed: frozenset[str]
    """The sources that push with keys, instead of a position."""
    setting: Setting
    failing: float
    """The chance that a task fails."""
    rows_per_task: int
    changes: int
    """How many times the network is changed, or a query attached or detached."""
    random: Random = field(repr=False, compare=False)

    def some_part(self, random: Random) -> Network:
        """The steady outputs, and some others."""
        others = [name for name in self.whole.outputs if name not in self.steady and random.random() < 0.5]
        return part(self.whole, [*self.steady, *others])

    def query(self, output: str) -> Network:
        """What leads to an output, as a query on history."""
        return query(self.whole, output)


def draw_story(seed: int) -> Story:
    """The story of a seed."""
    random = Random(f"story {seed}")
    whole = _draw_network(random, layered=seed % 3 == 0)
    names = list(whole.outputs)
    steady = tuple(name for name in names if random.random() < 0.5) or (names[0],)
    events = recut(random, random_events(random, whole))
    told = {name: tuple(_of(events, name)) for name in (*whole.inputs, CLOCK)}
    return Story(
        whole,
        steady,
        (*steady, QUARANTINE) if seed % 2 else steady,
        told,
        frozenset(name for name in whole.inputs if seed % 4 == 1 and _has_only_tuples(told[name])),
        replace(random_setting(random), in_flight=random.choice([1, 2, 3])),
        random.choice([0.0, 0.0, 0.02, 0.2]),
        random.choice([2, 60_000]),
        random.choice([0, 0, 1, 3]),
        random,
    )


def _draw_network(random: Random, *, layered: bool) -> Network:
    """A network; with `layered`, one of which a state falls into groups: there are layers to merge."""
    whole = streams_only(random)
    while layered and not any(_falls_into_groups(whole, name) for name in whole.boxes):
        whole = streams_only(random)
    return whole


def _falls_into_groups(network: Network, name: str) -> bool:
    box, schemas = network.boxes[name].box, network.input_schemas(name)
    return box.ordered and shape_of(kernel_for(box, schemas, network.timezone)) is not None


def _has_only_tuples(events: tuple[Event, ...]) -> bool:
    return all(event.promise is None for event in events)


def _of(events: list[Event], source: str) -> list[Event]:
    """The events of one source."""
    if source == CLOCK:
        return [each for each in events if each.input_name is None or each.ending]
    return [each for each in events if each.input_name == source and not each.ending]
