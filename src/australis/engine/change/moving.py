"""Boxes that leave a node with their states, and boxes that come with states from another one.

A move has a name, and each side does its part once: the node that gives commits its new network together
with a parcel, which it keeps until it is told that the other node has it. The node that takes commits its new
network, the states and the name of the move together. So whoever carries a parcel from one to the other may
be killed at any time, and do it again.

A parcel is a list of files, most of which the other node can fetch while the boxes still run here: only those
that trains have written since are fetched while they stand still.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import msgspec

from australis.algebra.network import Network
from australis.engine.change.difference import Difference
from australis.engine.change.loading import switch_to
from australis.engine.change.switch import Passage, Switch
from australis.engine.change.takeover import Takeover, kernel_of, keys_of
from australis.engine.deliver import next_cut
from australis.engine.ledger import Catalog, Record, StateFile, UnitOfWork
from australis.engine.running import Running
from australis.engine.store import (
    Root,
    adopt_state,
    check_state_file,
    encode_state,
    read_states,
)
from australis.errors import EngineError, Problem
from australis.kernels.repartition import repartition
from australis.plan.superboxes import Superbox

GIVEN, TAKEN = "given ", "taken "
"""What begins the keys of the catalogue for moves."""
Fetch = Callable[[str], bytes]
"""The contents of a file of a parcel, by its name at the node that gives."""
Drawn = Callable[[Network], Network]
"""What is run instead of a network."""
Keys = tuple[tuple[str, ...], ...]


class Divided(msgspec.Struct, frozen=True):
    """Into how many partitions the state of a box is divided, and by which attributes of its sources."""

    partitions: int
    keys: Keys


class Kept(msgspec.Struct, frozen=True):
    """A file of the state of a box in a partition; those of one partition are in the order of layers."""

    box: str
    partition: int
    name: str
    bytes: int


class Parcel(msgspec.Struct, frozen=True):
    """The states of boxes as of one number of a log."""

    move: str
    note: str
    """What whoever moves them wants to remember with it."""
    files: tuple[Kept, ...]
    divided: Mapping[str, Divided]
    deadline: int | None
    """When the first of their timeouts is due."""

    def packed(self) -> bytes:
        """The parcel as text, without the contents of its files."""
        return msgspec.json.encode(self)

    @classmethod
    def unpacked(cls, data: bytes | str) -> Parcel:
        """The parcel that some text is; raises if it is none."""
        try:
            return msgspec.json.decode(data, type=cls)
        except msgspec.MsgspecError as error:
            problem = Problem("parcel", f"is damaged: {error}", "the parcel as the other node gave it")
            raise EngineError(problem) from error


class Moves:
    """The moves of a node; a context for each call is the node's switch."""

    def __init__(self, running: Running, switch: Switch, redraw: Callable[[Record, Network], Record]) -> None:
        self._running, self._switch, self._redraw = running, switch, redraw
        self._ledger = running.ledger

    # --- giving

    def files(self, boxes: Collection[str]) -> tuple[Kept, ...]:
        """The files that the states of boxes are in now; trains add some, and merges replace some."""
        plan, catalog = self._ledger.plan, self._ledger.catalog
        return tuple(
            kept
            for name, superbox in plan.superboxes.items()
            if set(boxes) & set(superbox.boxes)
            for kept in _kept(superbox, boxes, catalog.states(name))
        )

    def fetch(self, name: str) -> bytes:
        """The contents of a file of a state."""
        return self._ledger.root.fetch(name)

    def give(
        self,
        move: str,
        drawn: Drawn,
        boxes: Collection[str],
        readers: Mapping[str, str],
        note: str = "",
    ) -> Parcel:
        """Run the network without some boxes from now on; returns their states. The same move gives the same.

        `readers` are consumers by output of the new network: they begin with the first tuple that the boxes
        have not had.
        """
        if (known := self.given(move)) is not None:
            return known
        record = self._switch.record
        present = {**record.network.boxes, **record.split.boxes}
        if unknown := sorted(set(boxes) - present.keys()):
            expected = f"one of {', '.join(present)}"
            problem = Problem(record.network.name, f"there is no box {unknown[0]!r} to give", expected)
            raise EngineError(problem)
        self._to(drawn, _Giving(move, frozenset(boxes), dict(readers), note))
        found = self.given(move)
        assert found is not None, "it was committed with the network"
        return found

    def given(self, move: str) -> Parcel | None:
        """What a move has given away, until it is settled; None if this node did not give, or is done."""
        note = self._ledger.catalog.meta(GIVEN + move)
        return None if note is None else Parcel.unpacked(note)

    def outstanding(self) -> list[Parcel]:
        """What was given away and is not settled."""
        rows = self._ledger.catalog.rows("select value from meta where key glob ?", f"{GIVEN}*")
        return [Parcel.unpacked(value) for (value,) in rows]

    def settle(self, move: str) -> None:
        """Keep a parcel no longer: the other node has it."""
        with self._ledger.change() as change:
            change.clear_states(_shelf(move))
            change.drop_meta(GIVEN + move)

    # --- taking

    def take(
        self,
        drawn: Drawn,
        parcel: Parcel,
        fetch: Fetch,
        readers: Mapping[str, str] | None = None,
    ) -> Difference | None:
        """Run the network with new boxes that begin with states; None if this move was taken already.

        `readers` are consumers by output of the new network that miss nothing of what the boxes will make.
        """
        if self.has_taken(parcel.move):
            return None
        return self._to(drawn, _Taking(parcel, fetch, dict(readers or {})))

    def has_taken(self, move: str) -> bool:
        """Whether the boxes of a move have come here."""
        return self._ledger.catalog.meta(TAKEN + move) is not None

    # --- links

    def redraw(
        self,
        drawn: Drawn,
        notes: Mapping[str, str | None],
        positions: Mapping[str, int] | None = None,
    ) -> Difference:
        """Run another network, and commit notes with it, and how far sources have come that it reads then.

        A note that is None is forgotten.
        """
        return self._to(drawn, _Noting(notes, positions or {}))

    def notes(self, kind: str) -> dict[str, str]:
        """The notes whose keys begin with a word, by what follows it."""
        rows = self._ledger.catalog.rows("select key, value from meta where key glob ?", f"{kind} *")
        return {key.removeprefix(f"{kind} "): value for key, value in rows}

    def note(self, key: str, text: str) -> None:
        """Commit a note of its own, which changes nothing that runs."""
        with self._ledger.change() as change:
            change.set_meta(key, text)

    def reserve(self, output: str, reader: str, like: str) -> tuple[str, str, int]:
        """Keep for a new consumer of an output what another one has not acknowledged.

        Returns the lives of both, and what the known one has acknowledged.
        """
        with self._ledger.change() as change:
            catalog = self._ledger.catalog
            known, own = catalog.consumer(like, output), catalog.consumer(reader, output)
            if known is None or known[1] is None:
                expected = "one that reads it"
                raise EngineError(Problem(output, f"{like} is no consumer of it", expected))
            made = own[1] if own is not None and own[1] is not None else life(max(change.queues.log_now, 0))
            if own is None:
                change.set_consumer(reader, output, known[0], made)
        return made, known[1], known[0]

    def is_drained(self, output: str, consumer: str, number: int) -> bool:
        """Whether a consumer has acknowledged all that an output has of what came before a number."""
        queues = self._ledger.queues
        arc = queues.plan.outputs[output]
        seq = queues.consumers.get((consumer, output), 0)
        return queues.arc_end(arc) >= number and next_cut(queues, arc, seq) == seq

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Let nobody else push or change the network meanwhile."""
        # A change takes both turns, in this order.
        with self._switch.turn, self._running.ingest.turn:
            yield

    def rests(self, limit_s: float) -> bool:
        """Wait until all tuples are processed; whether that came in time."""
        return self._ledger.guard.wait_until(self._running.state.is_idle, limit_s=limit_s)

    def _to(self, drawn: Drawn, passage: Passage) -> Difference:
        def redraw(record: Record) -> Record:
            # Copies of a split box are in the network itself from when one of them is moved.
            known = passage.leaving <= record.network.boxes.keys()
            return self._redraw(record, drawn(record.network if known else record.split))

        return switch_to(self._running, self._switch, redraw, {}, passage)


def _shelf(move: str) -> str:
    """Where the states of a parcel are in the catalogue: no superbox has such a name."""
    return f"{GIVEN}{move}"


def _kept(superbox: Superbox, boxes: Collection[str], files: Sequence[StateFile]) -> Iterator[Kept]:
    """The files of the boxes that leave a superbox.

    Of a box that looks up a stored table there are none: the other node reads the table itself, and nothing
    else is in the state.
    """
    for box in superbox.ordered:
        if box in boxes and not kernel_of(superbox, box).shared_tables:
            own = (file for file in files if file.box == box)
            yield from (Kept(box, each.partition, each.name, each.bytes) for each in own)


class _Giving(Passage):
    """Puts the states of boxes that leave aside."""

    def __init__(self, move: str, boxes: frozenset[str], readers: Mapping[str, str], note: str) -> None:
        self.leaving, self.relayed = boxes, frozenset(readers)
        self._move, self._readers, self._note = move, readers, note
        self._files: list[Kept] = []
        self._divided: dict[str, Divided] = {}
        self._superboxes: list[str] = []

    def prepare(self, takeover: Takeover, root: Root, catalog: Catalog) -> dict[str, list[StateFile]]:
        del root
        for name in takeover.held:
            superbox = takeover.old.plan.superboxes[name]
            if leaving := self.leaving & set(superbox.boxes):
                self._superboxes.append(name)
                self._files += _kept(superbox, leaving, catalog.states(name))
                count = takeover.old.parts(superbox)
                self._divided |= {box: Divided(count, keys_of(superbox, box)) for box in leaving}
        return {}

    def finish(self, change: UnitOfWork, meeting: int) -> None:
        now = max(change.queues.log_now, 0)
        for output, consumer in self._readers.items():
            change.set_consumer(consumer, output, meeting, life(now))

    def write(self, change: UnitOfWork, takeover: Takeover, meeting: int) -> None:
        del takeover, meeting
        known = change.queues.heads
        due = [known[name].deadline for name in self._superboxes]
        deadline = min((each for each in due if each is not None), default=None)
        parcel = Parcel(self._move, self._note, tuple(self._files), self._divided, deadline)
        shelved = [StateFile(each.box, each.partition, each.name, each.bytes) for each in self._files]
        change.add_states(_shelf(self._move), shelved)
        change.set_meta(GIVEN + self._move, parcel.packed().decode())


class _Taking(Passage):
    """Writes the states with which new boxes begin."""

    def __init__(self, parcel: Parcel, fetch: Fetch, readers: Mapping[str, str]) -> None:
        self._parcel, self._fetch, self._readers = parcel, fetch, readers
        self._superboxes: list[str] = []

    def prepare(self, takeover: Takeover, root: Root, catalog: Catalog) -> dict[str, list[StateFile]]:
        del catalog
        came = self._parcel.divided.keys()
        fresh = {box: superbox for superbox in takeover.fresh for box in superbox.ordered if box in came}
        stateful = {each.box for each in self._parcel.files}
        if missing := stateful - fresh.keys():
            expected = "a network that has the boxes that come, and did not have them before"
            raise EngineError(
                Problem("parcel", f"has a state of {min(missing)}, which is not new here", expected)
            )
        found: dict[str, list[StateFile]] = {}
        for box, superbox in fresh.items():
            made = found.setdefault(superbox.id, [])
            made += self._written(takeover, superbox, box, root)
        self._superboxes = [*found]
        return found

    def _written(self, takeover: Takeover, superbox: Superbox, box: str, root: Root) -> list[StateFile]:
        """Write the files of a box as they are, or for other partitions if there are others here."""
        files = self._adopted(box, root)
        wanted = Divided(takeover.new.parts(superbox), keys_of(superbox, box))
        had = self._parcel.divided[box]
        if not files or had == wanted or had.partitions == wanted.partitions == 1:
            return files
        # To bring parts together, any keys that they were divided by will do.
        keys = (wanted if wanted.partitions > 1 else had).keys
        kernel = kernel_of(superbox, box)
        names: dict[int, list[str]] = {}
        for file in files:
            names.setdefault(file.partition, []).append(file.name)
        states = [read_states(root, kernel, each) for each in names.values()]
        made = []
        for partition, state in enumerate(repartition(kernel, states, keys, wanted.partitions)):
            name, data = encode_state(root, box, partition, dict(state))
            root.write(name, data)
            made.append(StateFile(box, partition, name, len(data)))
        for file in files:
            root.delete(file.name)
        return made

    def _adopted(self, box: str, root: Root) -> list[StateFile]:
        """The files of a box, in this root."""
        found = []
        for file in self._parcel.files:
            if file.box == box:
                name = adopt_state(root, box, file.partition, file.name)
                root.write(name, self._fetch(file.name))
                check_state_file(root, name)
                found.append(StateFile(box, file.partition, name, file.bytes))
        return found

    def write(self, change: UnitOfWork, takeover: Takeover, meeting: int) -> None:
        del takeover, meeting
        change.set_meta(TAKEN + self._parcel.move, "")

    def finish(self, change: UnitOfWork, meeting: int) -> None:
        due = self._parcel.deadline
        for name in self._superboxes:
            change.set_head(name, replace(change.queues.heads[name], deadline=due))
        now = max(change.queues.log_now, 0)
        for output, consumer in self._readers.items():
            change.set_consumer(consumer, output, meeting, life(now))


class _Noting(Passage):
    """Writes notes, and how far sources have come."""

    def __init__(self, notes: Mapping[str, str | None], positions: Mapping[str, int]) -> None:
        self._notes, self._positions = notes, positions

    def write(self, change: UnitOfWork, takeover: Takeover, meeting: int) -> None:
        del takeover, meeting
        for key, value in self._notes.items():
            if value is None:
                change.drop_meta(key)
            else:
                change.set_meta(key, value)

    def finish(self, change: UnitOfWork, meeting: int) -> None:
        del meeting
        for source, number in self._positions.items():
            change.set_position(source, str(number))


def life(now: int) -> str:
    """A new life of a consumer: readers of another node take its numbers for those of another stream."""
    return f"{now:016x}-{secrets.token_hex(8)}"
