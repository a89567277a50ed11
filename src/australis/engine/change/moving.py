"""Boxes that leave a node with their states, and boxes that come with states from another one.

A move has a name, and each side does its part once: the node that gives commits its new network together
with a parcel, which it keeps until it is told that the other node has it. The node that takes commits its new
network, the states and the name of the move together. So whoever carries a parcel from one to the other may
be killed at any time, and do it again.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from australis.algebra.network import Network
from australis.engine.change.difference import Difference
from australis.engine.change.loading import switch_to
from australis.engine.change.switch import Passage, Switch
from australis.engine.change.takeover import Takeover, keys_of
from australis.engine.ledger import Catalog, Record, StateFile, UnitOfWork
from australis.engine.running import Running
from australis.engine.store import Root, encode_state, read_state, read_states
from australis.errors import EngineError, KernelError, Problem
from australis.kernels.kernel import Kernel, State
from australis.kernels.make import kernel_for
from australis.kernels.repartition import repartition
from australis.kernels.state import pack, unpack
from australis.plan.superboxes import Superbox

GIVEN, TAKEN = "given ", "taken "
"""What begins the keys of the catalogue for moves."""


@dataclass(frozen=True)
class Parcel:
    """The states of boxes as of one number of a log, and when the first of their timeouts is due."""

    move: str
    states: Mapping[str, State] = field(repr=False)
    deadline: int | None

    def packed(self) -> bytes:
        """The parcel as bytes, with checksums."""
        head = pa.table({"move": [self.move], "deadline": pa.array([self.deadline], pa.int64())})
        boxes = list(self.states)
        states = pa.table(
            {
                "box": pa.array(boxes, pa.string()),
                "state": pa.array([pack(self.states[box]) for box in boxes], pa.large_binary()),
            }
        )
        return pack({"parcel": head, "states": states})

    @classmethod
    def unpacked(cls, data: bytes) -> Parcel:
        """The parcel that some bytes hold; raises if they are damaged."""
        try:
            tables = unpack(data)
            (head,) = tables["parcel"].to_pylist()
            states = {row["box"]: unpack(row["state"]) for row in tables["states"].to_pylist()}
            return cls(head["move"], states, head["deadline"])
        except (KernelError, KeyError, TypeError, ValueError) as error:
            problem = Problem("parcel", f"is damaged: {error}", "the parcel as the other node gave it")
            raise EngineError(problem) from error


class Moves:
    """The moves of a node; a context for each call is the node's switch."""

    def __init__(self, running: Running, switch: Switch, redraw: Callable[[Record, Network], Record]) -> None:
        self._running, self._switch, self._redraw = running, switch, redraw
        self._ledger = running.ledger

    def give(self, move: str, network: Network, boxes: Collection[str], readers: Mapping[str, str]) -> Parcel:
        """Run a network without some boxes from now on; returns their states. The same move gives the same.

        `readers` are consumers by output of the new network: they begin with the first tuple that the boxes
        have not had.
        """
        if (known := self.given(move)) is not None:
            return known
        present = self._switch.record.network.boxes
        if unknown := sorted(set(boxes) - present.keys()):
            expected = f"one of {', '.join(present)}"
            raise EngineError(Problem(network.name, f"there is no box {unknown[0]!r} to give", expected))
        self._to(network, _Giving(move, frozenset(boxes), dict(readers)))
        found = self.given(move)
        assert found is not None, "it was committed with the network"
        return found

    def given(self, move: str) -> Parcel | None:
        """What a move has given away, until it is settled; None if this node did not give, or is done."""
        catalog = self._ledger.catalog
        note = catalog.meta(GIVEN + move)
        if note is None:
            return None
        root = self._ledger.root
        states = {file.box: read_state(root, file.name) for file in catalog.states(_shelf(move))}
        return Parcel(move, states, json.loads(note)["deadline"])

    def take(self, network: Network, parcel: Parcel) -> Difference | None:
        """Run a network in which new boxes begin with states; None if this move was taken already."""
        if self._ledger.catalog.meta(TAKEN + parcel.move) is not None:
            return None
        return self._to(network, _Taking(parcel))

    def settle(self, move: str) -> None:
        """Keep a parcel no longer: the other node has it."""
        with self._ledger.change() as change:
            change.clear_states(_shelf(move))
            change.drop_meta(GIVEN + move)

    def _to(self, network: Network, passage: Passage) -> Difference:
        return switch_to(
            self._running, self._switch, lambda record: self._redraw(record, network), {}, passage
        )


def _shelf(move: str) -> str:
    """Where the states of a parcel are in the catalogue: no superbox has such a name."""
    return f"{GIVEN}{move}"


class _Giving(Passage):
    """Writes the states of boxes that leave."""

    def __init__(self, move: str, boxes: frozenset[str], readers: Mapping[str, str]) -> None:
        self.leaving = boxes
        self._move, self._readers = move, readers
        self._files: list[StateFile] = []
        self._superboxes: list[str] = []

    def prepare(self, takeover: Takeover, root: Root, catalog: Catalog) -> dict[str, list[StateFile]]:
        for name in takeover.held:
            superbox = takeover.old.plan.superboxes[name]
            if self.leaving & set(superbox.boxes):
                self._superboxes.append(name)
                self._files += self._written(superbox, root, catalog.states(name))
        return {}

    def _written(self, superbox: Superbox, root: Root, files: Sequence[StateFile]) -> Iterator[StateFile]:
        for box in superbox.ordered:
            own = [file for file in files if file.box == box]
            if box not in self.leaving or not own:
                continue
            kernel = _kernel(superbox, box)
            if kernel.shared_tables:
                # The other node reads the stored table itself, and there is nothing else in the state.
                continue
            names: dict[int, list[str]] = {}
            for file in sorted(own, key=lambda file: file.partition):
                names.setdefault(file.partition, []).append(file.name)
            states = [read_states(root, kernel, each) for each in names.values()]
            (whole,) = repartition(kernel, states, keys_of(superbox, box), 1)
            name, data = encode_state(root, box, 0, dict(whole))
            root.write(name, data)
            yield StateFile(box, 0, name, len(data))

    def write(self, change: UnitOfWork, takeover: Takeover, meeting: int) -> None:
        known = change.queues.heads
        due = [known[name].deadline for name in self._superboxes]
        deadline = min((each for each in due if each is not None), default=None)
        change.add_states(_shelf(self._move), self._files)
        change.set_meta(GIVEN + self._move, json.dumps({"deadline": deadline, "number": meeting}))

    def finish(self, change: UnitOfWork, meeting: int) -> None:
        now = max(change.queues.log_now, 0)
        for output, consumer in self._readers.items():
            change.set_consumer(consumer, output, meeting, f"{now:016x}-{secrets.token_hex(8)}")


class _Taking(Passage):
    """Writes the states with which new boxes begin."""

    def __init__(self, parcel: Parcel) -> None:
        self._parcel = parcel
        self._superboxes: list[str] = []

    def prepare(self, takeover: Takeover, root: Root, catalog: Catalog) -> dict[str, list[StateFile]]:
        del catalog
        found = {}
        for superbox in takeover.fresh:
            boxes = [box for box in superbox.ordered if box in self._parcel.states]
            if boxes:
                self._superboxes.append(superbox.id)
                found[superbox.id] = [
                    file for box in boxes for file in self._written(takeover, superbox, box, root)
                ]
        if missing := self._parcel.states.keys() - {file.box for files in found.values() for file in files}:
            expected = "a network that has the boxes that come, and did not have them before"
            raise EngineError(
                Problem("parcel", f"has a state of {min(missing)}, which is not new here", expected)
            )
        return found

    def _written(self, takeover: Takeover, superbox: Superbox, box: str, root: Root) -> Iterator[StateFile]:
        kernel, count = _kernel(superbox, box), takeover.new.parts(superbox)
        parts = repartition(kernel, [self._parcel.states[box]], keys_of(superbox, box), count)
        for partition, state in enumerate(parts):
            name, data = encode_state(root, box, partition, dict(state))
            root.write(name, data)
            yield StateFile(box, partition, name, len(data))

    def write(self, change: UnitOfWork, takeover: Takeover, meeting: int) -> None:
        del takeover, meeting
        change.set_meta(TAKEN + self._parcel.move, "")

    def finish(self, change: UnitOfWork, meeting: int) -> None:
        del meeting
        due = self._parcel.deadline
        for name in self._superboxes:
            change.set_head(name, replace(change.queues.heads[name], deadline=due))


def _kernel(superbox: Superbox, box: str) -> Kernel:
    network = superbox.network
    return kernel_for(network.boxes[box].box, network.input_schemas(box), network.timezone)
