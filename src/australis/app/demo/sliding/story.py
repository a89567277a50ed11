"""Tells what happens on three nodes: where boxes are, what they have to do, what slides, what comes out."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from australis.app.demo.sliding.alone import Alone, attributes, run_alone
from australis.app.demo.sliding.network import INPUT, idle, network, stream
from australis.app.demo.sliding.services import Service
from australis.engine.ledger import quantile_us
from australis.engine.observe import Statistics

Say = Callable[[str], None]
NODES = ("a", "b", "c")
_ASKED = 1.6
"""How many times as much as a node may take the boxes need at first."""
_BATCH_S = 0.25
_QUIET_S = 60.0
"""How long the outputs may stay as they are before what is missing counts as lost."""


@dataclass(frozen=True)
class Slid:
    """How the demonstration ended."""

    is_right: bool
    """Whether boxes slid, and the outputs are those of one undisturbed node."""
    tuples: int
    cores: float
    """The processor time per second that boxes could take at each node."""
    moves: list[dict[str, Any]]
    """What slid: boxes, from where, where to, and for how long they stood still."""
    places: dict[str, list[str]]
    """The boxes at each node at the end."""
    outputs: dict[str, int]
    """The tuples of each output."""
    differences: list[str]
    """The outputs that differ."""


def tell_of_nodes(say: Say, seconds: float, tuples_per_s: float, seed: int) -> Slid:
    """Run the demonstration, and say what happens line by line."""
    table = stream(int(seconds * tuples_per_s), seed)
    size = max(1, int(table.num_rows / seconds * _BATCH_S))
    batches = [table.slice(begin, size) for begin in range(0, table.num_rows, size)]
    with tempfile.TemporaryDirectory(prefix="australis-demo-") as name, ExitStack() as stack:
        folder = Path(name)
        say(f"Running {table.num_rows:,} connections on one undisturbed node ...")
        alone = run_alone(network(), batches, folder / "alone")
        needed = alone.tuple_us / 1e6 * table.num_rows / seconds
        cores = max(1e-6, needed / _ASKED)
        say(
            f"Its {len(network().boxes)} boxes take {alone.tuple_us:.2f} us a connection: "
            f"{needed:.3f} of a core at {table.num_rows / seconds:,.0f} a second."
        )
        say(f"Starting three nodes, whose boxes may take {cores:.3f} of a core each ...")
        services = _start(stack, folder, cores)
        say(f"All boxes begin at {services[0].name}, which has too much to do.")
        watched = _Watched(services, cores, say)
        watched.push(batches, seconds)
        return watched.compared(alone, table.num_rows)


def _start(stack: ExitStack, folder: Path, cores: float) -> list[Service]:
    """The nodes, each of which knows those before it; the first one has the network."""
    found: list[Service] = []
    for name in NODES:
        placing = {"place": True, "place_after_s": 3.0, "place_rest_s": 15.0, "place_cores": cores}
        nodes = {each.name: each.place for each in found}
        service = stack.enter_context(Service(folder, name, {"nodes": nodes, **placing}))
        service.client.deploy(network() if not found else idle(name))
        found.append(service)
    return found


@dataclass
class _Seen:
    """What a node had counted at a moment."""

    at: float = 0.0
    nanoseconds: Mapping[str, int] = field(default_factory=dict)
    tuples: int = 0
    delays: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


class _Watched:
    """The nodes while the stream comes."""

    def __init__(self, services: Sequence[Service], cores: float, say: Say) -> None:
        self._services, self._cores, self._say = services, cores, say
        self._seen = {each.name: _Seen() for each in services}
        self._told: set[str] = set()
        self.moves: list[dict[str, Any]] = []
        self.places: dict[str, list[str]] = {}

    def push(self, batches: Sequence[pa.Table], seconds: float) -> None:
        """Push all batches at an even pace, and look around every second."""
        began = time.monotonic()
        looked = began
        client = self._services[0].client
        for number, batch in enumerate(batches):
            wait_s = began + seconds * number / len(batches) - time.monotonic()
            if wait_s > 0:
                time.sleep(wait_s)
            client.push(INPUT, batch)
            if time.monotonic() - looked >= 1.0:
                looked = time.monotonic()
                self._look(looked - began)
        self._look(time.monotonic() - began)

    def compared(self, alone: Alone, tuples: int) -> Slid:
        """Wait for what is under way, and compare the outputs with those of one node."""
        wanted = {name: table.num_rows for name, table in alone.outputs.items()}
        self._wait(wanted)
        client = self._services[0].client
        found = {name: attributes(client.read(name)) for name in wanted}
        differ = [name for name in wanted if found[name].to_pylist() != alone.outputs[name].to_pylist()]
        self._look(None)
        counts = {name: table.num_rows for name, table in found.items()}
        said = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        if differ:
            self._say(
                f"The outputs differ from those of one undisturbed node in {', '.join(differ)}: {said}."
            )
        else:
            self._say(f"The outputs are those of one undisturbed node, in the same order: {said}.")
        is_right = not differ and bool(self.moves)
        return Slid(is_right, tuples, self._cores, self.moves, self.places, counts, differ)

    def _wait(self, wanted: Mapping[str, int]) -> None:
        """Wait until the outputs have as much as they should, or nothing comes any more."""
        had, since = -1, time.monotonic()
        while time.monotonic() - since < _QUIET_S:
            counts = self._counts()
            if all(counts.get(name, 0) >= count for name, count in wanted.items()):
                return
            if (now := sum(counts.values())) != had:
                had, since = now, time.monotonic()
            time.sleep(0.2)

    def _counts(self) -> dict[str, int]:
        outputs = self._services[0].client.statistics()["outputs"]
        return {name: each["tuples"] for name, each in outputs.items()}

    # --- what is shown

    def _look(self, at_s: float | None) -> None:
        parts, delay = [], ""
        for each in self._services:
            found = Statistics.from_dict(each.client.statistics())
            self.places[each.name] = list(found.boxes)
            self._tell_moves(each)
            parts.append(self._shown(each.name, found))
            if each is self._services[0]:
                delay = self._delay(found)
            self._note(each.name, found)
        if at_s is not None:
            self._say(f"{at_s:4.0f} s  {delay}  " + "  ".join(parts))

    def _tell_moves(self, service: Service) -> None:
        for move in service.client.cluster()["moves"]:
            if move["state"] == "taken" and move["move"] not in self._told:
                self._told.add(move["move"])
                known = {
                    "boxes": move["boxes"],
                    "from": service.name,
                    "to": move["to"],
                    "stood_still_ms": move["stood_still_ms"],
                }
                self.moves.append(known)
                pause = move["stood_still_ms"]
                said = "" if pause is None else f", after a pause of {pause:,.0f} ms"
                boxes = ", ".join(move["boxes"])
                self._say(f"        {boxes} slid from {service.name} to {move['to']}{said}")

    def _shown(self, name: str, found: Statistics) -> str:
        """The load of a node by its boxes, and which they are."""
        seen = self._seen[name]
        passed = time.monotonic() - seen.at
        taken = sum(
            max(0, box.nanoseconds - seen.nanoseconds.get(box_id, 0)) for box_id, box in found.boxes.items()
        )
        load = f"{taken / 1e9 / passed / self._cores:4.0%}" if seen.at else "   -"
        boxes = " ".join(found.boxes) if name != self._services[0].name else f"{len(found.boxes)} boxes"
        return f"{name} {load} {boxes or '-'}"

    def _delay(self, found: Statistics) -> str:
        """How many tuples came in since the last look, and how late those were that went out."""
        seen = self._seen[self._services[0].name]
        passed = time.monotonic() - seen.at
        rate = (found.inputs[INPUT].received - seen.tuples) / passed if seen.at else 0.0
        fresh: dict[int, int] = {}
        for name, each in found.outputs.items():
            before = seen.delays.get(name, {})
            for bucket, count in each.delay_buckets.items():
                fresh[bucket] = fresh.get(bucket, 0) + count - before.get(bucket, 0)
        late = quantile_us({bucket: count for bucket, count in fresh.items() if count > 0}, 0.5)
        return f"{rate:7,.0f}/s in, {'      -' if late is None else f'{late / 1000:4,.0f} ms'} late"

    def _note(self, name: str, found: Statistics) -> None:
        came = found.inputs[INPUT].received if INPUT in found.inputs else 0
        self._seen[name] = _Seen(
            time.monotonic(),
            {box_id: box.nanoseconds for box_id, box in found.boxes.items()},
            came,
            {output: each.delay_buckets for output, each in found.outputs.items()},
        )
