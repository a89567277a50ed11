"""Moves boxes between this node and others of its participant, while everything runs.

The node that gives leads. It offers the boxes, and the other one fetches their states while they still run
here, in rounds until little is left. Then one commit ends them here and puts the newest states aside, and one
commit begins them there. Before the first commit, whatever fails undoes the move. After it the states are in
the root of the giver, which says so whenever it is connected with the other node, until that has taken them.
"""

from __future__ import annotations

import json
import logging
import secrets
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from australis.algebra.form import dumps, loads
from australis.algebra.network import Network
from australis.cluster.identity import NodeName
from australis.cluster.moves.fetching import CHUNK_BYTES, Fetching, Gone
from australis.cluster.moves.messages import (
    PARCEL,
    PIECE,
    TOPIC,
    Declined,
    Dropped,
    Given,
    Letter,
    Offer,
    Ready,
    Release,
    Reroute,
    Rerouted,
    Reserve,
    Reserved,
    Taken,
)
from australis.cluster.moves.node import Carrier, MovingNode
from australis.cluster.moves.redrawing import Redrawn, joined, without
from australis.cluster.moves.rerouting import Rerouting
from australis.cluster.wire import Chunk, Fetch
from australis.engine.change import Parcel
from australis.engine.threads import Threads
from australis.errors import AustralisError, ClusterError, Problem
from australis.policy.machines import ENCODE, decoded

_log = logging.getLogger(__name__)
LIMIT_S = 60.0
"""How long a node waits for another one that does not get any further."""
AGAIN_S = 2.0
"""How often it is said again that boxes were given."""
_ROUNDS_MOST, _FEW_BYTES = 5, 1 << 20
"""States are fetched in rounds, until so little is left that the boxes may stand still for it."""


_COMING_MOST = 64
"""How many moves may be on their way here."""


class Outdated(ClusterError):
    """The network has changed since a move was offered."""


class MoveState(StrEnum):
    """How far a move has come."""

    OFFERED = "offered"
    """The other node fetches states, while the boxes run here."""
    GIVEN = "given"
    """The boxes run here no more, and not yet there."""
    TAKEN = "taken"
    FAILED = "failed"
    """Nothing has changed."""


@dataclass
class MoveStatus:
    """A move of boxes from this node to another one."""

    move: str
    boxes: tuple[str, ...]
    to: str
    state: MoveState
    names: tuple[str, ...] = ()
    """The boxes, and groups of boxes, that were named."""
    problem: str = ""
    bytes_ahead: int = 0
    """Bytes of states that were there before the boxes stopped here."""
    bytes_after: int = 0
    """Bytes that were fetched while they stood still."""
    rounds: int = 0
    stood_still_ms: float | None = None
    """From the last tuple here to the first that can be processed there; None if that was not seen."""


@dataclass(frozen=True)
class Moved:
    """A move that is done, or whose boxes are on their way."""

    status: MoveStatus
    stood_still_ms: float | None
    """As in the status; None also if the move was asked for again."""


@dataclass
class _Leaving:
    """A move from here that somebody waits for."""

    status: MoveStatus
    redrawn: Redrawn
    taker: NodeName
    ready: int = 0
    declined: str = ""
    is_taken: bool = False
    served: int = 0
    """How many parts were fetched: a sign that it goes on."""


@dataclass
class _Coming:
    """A move to here: what was fetched of it."""

    giver: NodeName
    folder: Path
    files: set[str] = field(default_factory=set)
    is_wanted: list[Letter] = field(default_factory=list)
    """What is still to be done; a thread does one after the other."""
    is_dropped: bool = False
    """Whether its giver has given it up."""


class Moving:
    """The moves of a node; all methods may be called from any thread, `hear` and `joined` do not wait."""

    def __init__(
        self,
        name: NodeName,
        node: MovingNode,
        carrier: Carrier,
        numbers: Callable[[], int],
        redrawn: Callable[[], None],
        refuse: Callable[[str], None],
        threads: Threads,
    ) -> None:
        """`redrawn` is called when the network of the node has changed, `refuse` is told what was refused."""
        self._name, self._node, self._carrier, self._redrawn = name, node, carrier, redrawn
        self._threads, self._refuse = threads, refuse
        self._fetching = Fetching(carrier.ask, numbers, threads)
        self._changed: Any = threads.condition()
        self._one = threads.lock()
        """Held by whoever gives boxes: one move after the other."""
        self._leaving: dict[str, _Leaving] = {}
        self._coming: dict[str, _Coming] = {}
        self._last: list[MoveStatus] = []
        self._is_ended = False
        self._rerouting = Rerouting(name, node, carrier, self._say, redrawn, refuse, self._one, threads)

    # --- giving

    def move(self, boxes: Collection[str], to: NodeName, limit_s: float = LIMIT_S) -> Moved:
        """Let boxes run at another node from now on; returns when they do.

        If the other node is lost after this one has given them, they begin there when it is back.
        """
        if to.participant != self._name.participant:
            what = f"is a node of {to.participant}"
            raise ClusterError(Problem(str(to), what, f"a node of {self._name.participant}"))
        if to == self._name:
            raise ClusterError(Problem(str(to), "is this node", "another one"))
        with self._one:
            if (known := self._moved_before(boxes, to)) is not None:
                return Moved(known, None)
            for is_last in (False, False, True):
                leaving = self._offer(boxes, to)
                try:
                    return self._give(leaving, limit_s)
                except AustralisError as error:
                    if leaving.status.state is not MoveState.OFFERED:
                        raise
                    self._say(to, Dropped(leaving.status.move))
                    self._end(leaving, MoveState.FAILED, str(error))
                    if is_last or not isinstance(error, Outdated):
                        raise
        raise AssertionError("the last attempt has returned or raised")

    def statuses(self) -> list[MoveStatus]:
        """The moves that are under way, and the last ones that are over."""
        with self._changed:
            known = {each.status.move: each.status for each in self._leaving.values()}
            last = [*self._last]
        told = {each.move for each in last} | known.keys()
        waiting = [each for each in self._outstanding() if each.move not in told]
        return [*last, *known.values(), *waiting]

    def _outstanding(self) -> list[MoveStatus]:
        """What was given before this node was started, and not taken yet."""
        try:
            parcels = self._node.moves.outstanding()
        except AustralisError as error:
            _log.debug("the node runs nothing: %s", error)
            return []
        return [
            MoveStatus(each.move, tuple(each.divided), _note(each)["to"], MoveState.GIVEN) for each in parcels
        ]

    def _moved_before(self, names: Collection[str], to: NodeName) -> MoveStatus | None:
        """The move that was asked for again: its boxes have left for the same node."""
        network = self._node.recorded()
        present = set() if network is None else {*network.boxes, *network.groups}
        if present & set(names):
            return None
        for status in reversed(self.statuses()):
            has_left = status.state in (MoveState.GIVEN, MoveState.TAKEN) and status.to == str(to)
            if has_left and set(names) in (set(status.boxes), set(status.names)):
                return status
        return None

    def _offer(self, names: Collection[str], to: NodeName) -> _Leaving:
        network = self._node.recorded()
        if network is None:
            raise ClusterError(Problem(str(self._name), "runs no network", "one that has the boxes"))
        boxes = tuple(box for name in names for box in _boxes(network, name))
        if set(boxes) - network.boxes.keys():
            # They may be copies of a box that is split: what was drawn has only the box.
            network = self._node.split_network()
            boxes = tuple(box for name in names for box in _boxes(network, name))
        move = secrets.token_hex(8)
        redrawn = without(network, boxes, self._name, to, move[:6])
        leaving = _Leaving(MoveStatus(move, boxes, str(to), MoveState.OFFERED, tuple(names)), redrawn, to)
        with self._changed:
            self._leaving[move] = leaving
        return leaving

    def _give(self, leaving: _Leaving, limit_s: float) -> Moved:
        status, move, to = leaving.status, leaving.status.move, leaving.taker
        known = dict[str, int]()
        while status.rounds < _ROUNDS_MOST:
            status.rounds += 1
            found = {each.name: each.bytes for each in self._node.moves.files(status.boxes)}
            fresh = sum(size for name, size in found.items() if name not in known)
            if status.rounds > 1 and fresh <= _FEW_BYTES:
                break
            known |= found
            status.bytes_ahead += fresh
            self._say(to, Offer(move, status.rounds))
            self._wait(leaving, lambda: leaving.ready >= status.rounds, limit_s)
        began = self._threads.ticks_ns()
        parcel = self._parcel(leaving)
        status.state = MoveState.GIVEN
        status.bytes_after = sum(each.bytes for each in parcel.files if each.name not in known)
        _log.info("%s left for %s, with %d bytes to fetch", ", ".join(status.boxes), to, status.bytes_after)
        self._say(to, Given(move))
        try:
            self._wait(leaving, lambda: leaving.is_taken, limit_s)
        except AustralisError as error:
            # The parcel is in the root: it is offered again when the other node is heard of.
            self._end(leaving, MoveState.GIVEN, str(error))
            self._redrawn()
            return Moved(status, None)
        stood_still_ms = status.stood_still_ms = (self._threads.ticks_ns() - began) / 1e6
        self._redrawn()
        self._settle(move)
        self._end(leaving, MoveState.TAKEN)
        self._rerouting.poke()
        return Moved(status, stood_still_ms)

    def _parcel(self, leaving: _Leaving) -> Parcel:
        """End the boxes here, and put their states aside: the commit of this side."""
        status, redrawn, to = leaving.status, leaving.redrawn, leaving.taker
        note = json.dumps(
            {"to": str(to), "piece": dumps(redrawn.piece), "returned": list(redrawn.returned)},
            ensure_ascii=False,
        )
        readers = {name: _consumer(to, name) for name in redrawn.sent}

        def drawn(network: Network) -> Network:
            now = without(network, status.boxes, self._name, to, status.move[:6])
            if now.piece != redrawn.piece:
                what = "the boxes, or what is around them, have changed meanwhile"
                raise Outdated(Problem(network.name, what, "the move again"))
            return now.giver

        return self._node.moves.give(status.move, drawn, status.boxes, readers, note)

    def _wait(self, leaving: _Leaving, happened: Callable[[], bool], limit_s: float) -> None:
        """Wait until something has happened, as long as the other node gets any further."""
        with self._changed:
            seen, until_ns = leaving.served, self._threads.ticks_ns() + int(limit_s * 1e9)
            while not happened():
                if leaving.declined:
                    raise ClusterError(Problem(str(leaving.taker), leaving.declined))
                if leaving.served != seen:
                    seen, until_ns = leaving.served, self._threads.ticks_ns() + int(limit_s * 1e9)
                left_s = (until_ns - self._threads.ticks_ns()) / 1e9
                if self._is_ended or left_s <= 0:
                    what = leaving.status.problem or f"has not answered for {limit_s:g} s"
                    raise ClusterError(Problem(str(leaving.taker), what, "a node that is connected"))
                is_given = leaving.status.state is MoveState.GIVEN
                self._changed.wait(min(left_s, AGAIN_S) if is_given else left_s)
                if is_given and not happened():
                    self._say(leaving.taker, Given(leaving.status.move))

    def _end(self, leaving: _Leaving, state: MoveState, problem: str = "") -> None:
        leaving.status.state, leaving.status.problem = state, problem
        with self._changed:
            self._leaving.pop(leaving.status.move, None)
            self._last = [*self._last[-20:], leaving.status]

    def _settle(self, move: str) -> None:
        try:
            self._node.moves.settle(move)
        except AustralisError as error:
            _log.warning("the states that have moved are deleted later: %s", error)

    # --- what comes from outside

    def joined(self, node: NodeName) -> None:
        """There is a connection with a node: say what was given to it, if that was never answered."""
        self._threads.start(lambda: self.remind(node), f"australis-moves-{node}")

    def hear(self, sender: NodeName, data: bytes) -> bool:
        """A letter has come; whether it makes sense."""
        said: Any = decoded(Letter, data)
        if said is None or sender.participant != self._name.participant:
            return False
        match said:
            case Offer() | Given():
                return self._come(sender, said)
            case Reserve() | Reroute() | Release():
                self._rerouting.asked(sender, said)
                return True
            case Reserved() | Rerouted():
                return self._rerouting.answered(sender, said)
            case Declined() if self._rerouting.answered(sender, said):
                return True
            case Ready() | Declined():
                with self._changed:
                    leaving = self._leaving.get(said.move)
                    if leaving is None or leaving.taker != sender:
                        return False
                    if isinstance(said, Ready):
                        leaving.ready = max(leaving.ready, said.round)
                    elif leaving.status.state is MoveState.OFFERED:
                        leaving.declined = said.why
                    else:
                        # It is said again, for as long as somebody waits and at every new connection.
                        leaving.status.problem = said.why
                    self._changed.notify_all()
                    return True
            case Taken():
                return self._taken(sender, said.move)
            case Dropped():
                return self._drop(sender, said.move)
        return False

    def fetched(self, sender: NodeName, said: Fetch) -> None:
        """Another node wants a part of something; it is read where nobody waits."""
        self._threads.start(lambda: self._serve(sender, said), f"australis-serve-{sender}")

    def part(self, sender: NodeName, said: Chunk, body: memoryview) -> bool:
        """A part has come; whether somebody wants it."""
        return self._fetching.heard(sender, said, body)

    def close(self) -> None:
        """Wait for nothing more; moves that are given are completed when the node is back."""
        self._fetching.close()
        with self._changed:
            self._is_ended = True
            folders = [each.folder for each in self._coming.values()]
            self._changed.notify_all()
        # Last: its thread may wait for a move that waits for another node, and has now been told to end.
        self._rerouting.close()
        for each in folders:
            shutil.rmtree(each, ignore_errors=True)

    def _taken(self, sender: NodeName, move: str) -> bool:
        with self._changed:
            leaving = self._leaving.get(move)
            if leaving is not None:
                if leaving.taker != sender or leaving.status.state is not MoveState.GIVEN:
                    return False
                leaving.is_taken = True
                self._changed.notify_all()
                return True
        self._threads.start(lambda: self._taken_late(sender, move), f"australis-moves-{sender}")
        return True

    def _taken_late(self, sender: NodeName, move: str) -> None:
        """Settle a move for which nobody waits any more."""
        parcel = self._known(move)
        if parcel is None or _note(parcel)["to"] != str(sender):
            with self._changed:
                is_known = any(each.move == move and each.to == str(sender) for each in self._last)
            if not is_known:
                self._refuse("move")
            return
        self._settle(move)
        with self._changed:
            for status in self._last:
                if status.move == move:
                    status.state, status.problem = MoveState.TAKEN, ""

    def remind(self, node: NodeName) -> None:
        """Say again to a node what was offered and given to it, and not answered yet."""
        with self._changed:
            offered = [each for each in self._leaving.values() if each.status.state is MoveState.OFFERED]
        for each in offered:
            if node == each.taker and each.ready < each.status.rounds:
                self._say(each.taker, Offer(each.status.move, each.status.rounds))
        for parcel in self._outstanding():
            if parcel.to == str(node):
                self._say(node, Given(parcel.move))

    def _say(self, node: NodeName, said: Letter) -> None:
        if not self._carrier.post(node, TOPIC, ENCODE(said)):
            _log.info("%s is not connected, and hears of a move when it is", node)

    def _drop(self, sender: NodeName, move: str) -> bool:
        with self._changed:
            coming = self._coming.get(move)
            if coming is None or coming.giver != sender:
                return False
            coming.is_dropped = True
            if not coming.is_wanted:
                del self._coming[move]
        if not coming.is_wanted:
            shutil.rmtree(coming.folder, ignore_errors=True)
        return True

    # --- serving

    def _known(self, move: str) -> Parcel | None:
        try:
            return self._node.moves.given(move)
        except AustralisError as error:
            _log.debug("nothing was given: %s", error)
            return None

    def _serve(self, sender: NodeName, said: Fetch) -> None:
        with self._changed:
            leaving = self._leaving.get(said.move)
        try:
            data = self._found(sender, said, leaving)
        except (AustralisError, OSError) as error:
            _log.info("%s wants %s, which is not there: %s", sender, said.name, error)
            data = None
        if data is None:
            self._refuse("fetch")
        begin = said.begin
        body = b"" if data is None else data[begin : begin + CHUNK_BYTES]
        size = 0 if data is None else len(data)
        self._carrier.answer(sender, Chunk(said.link, begin, size, data is not None), body)
        if leaving is not None and leaving.taker == sender:
            with self._changed:
                leaving.served += 1
                self._changed.notify_all()

    def _found(self, sender: NodeName, said: Fetch, leaving: _Leaving | None) -> bytes | None:
        """What another node may have of a move that is for it."""
        parcel = self._known(said.move)
        if parcel is not None and _note(parcel)["to"] == str(sender):
            note = _note(parcel)
            match said.name:
                case name if name == PIECE:
                    return _piece(note["piece"], note["returned"])
                case name if name == PARCEL:
                    return parcel.packed()
                case name if any(each.name == name for each in parcel.files):
                    return self._node.moves.fetch(name)
            return None
        if leaving is None or leaving.taker != sender:
            return None
        files = self._node.moves.files(leaving.status.boxes)
        match said.name:
            case name if name == PIECE:
                return _piece(dumps(leaving.redrawn.piece), leaving.redrawn.returned)
            case name if name == PARCEL:
                return Parcel(said.move, "", files, {}, None).packed()
            case name if any(each.name == name for each in files):
                return self._node.moves.fetch(name)
        return None

    # --- taking

    def _come(self, sender: NodeName, said: Offer | Given) -> bool:
        """Something is to be taken: a thread for each move does what is asked for, one after the other."""
        with self._changed:
            if self._is_ended:
                return True
            coming = self._coming.get(said.move)
            if coming is None:
                if len(self._coming) >= _COMING_MOST:
                    return False
                folder = Path(mkdtemp(prefix="australis-move-"))
                coming = self._coming[said.move] = _Coming(sender, folder)
            elif coming.giver != sender:
                return False
            if said in coming.is_wanted[1:]:
                return True
            coming.is_wanted.append(said)
            if len(coming.is_wanted) > 1:
                return True
        self._threads.start(lambda: self._take_all(coming), f"australis-take-{sender}")
        return True

    def _take_all(self, coming: _Coming) -> None:
        while True:
            with self._changed:
                said = coming.is_wanted[0]
            has_failed = False
            try:
                self._do(coming, said)
            except Exception as error:
                if not isinstance(error, AustralisError):
                    _log.exception("a move from %s failed in a way that nobody expected", coming.giver)
                has_failed = True
                _log.warning("the move %s from %s is not done: %s", said.move, coming.giver, error)
                self._say(coming.giver, Declined(said.move, str(error)[:2000]))
            with self._changed:
                coming.is_wanted.pop(0)
                if coming.is_wanted:
                    continue
                if has_failed or isinstance(said, Given) or coming.is_dropped or self._is_ended:
                    self._coming.pop(said.move, None)
                    shutil.rmtree(coming.folder, ignore_errors=True)
                return

    def _do(self, coming: _Coming, said: Letter) -> None:
        giver, move = coming.giver, said.move
        if self._node.moves.has_taken(move):
            self._say(giver, Taken(move))
            return
        text = json.loads(self._fetching.whole(giver, move, PIECE))
        piece = loads(text["piece"])
        parcel = Parcel.unpacked(self._fetching.whole(giver, move, PARCEL))
        if isinstance(said, Offer):
            if said.round == 1:
                network = self._node.recorded()
                assert network is not None, "a node with moves runs a network"
                self._node.difference(joined(network, piece))
            self._fetch(coming, parcel, must=False)
            self._say(giver, Ready(move, said.round))
            return
        self._fetch(coming, parcel, must=True)
        readers = {name: _consumer(giver, name) for name in text["returned"]}

        def fetched(name: str) -> bytes:
            return _path(coming, name).read_bytes()

        self._node.moves.take(lambda network: joined(network, piece), parcel, fetched, readers)
        _log.info("%s came from %s", ", ".join(parcel.divided), giver)
        self._say(giver, Taken(move))
        self._redrawn()
        self._rerouting.poke()

    def _fetch(self, coming: _Coming, parcel: Parcel, *, must: bool) -> None:
        """Fetch the files that are not here; while the boxes run, some may be gone."""
        for file in parcel.files:
            if file.name in coming.files:
                continue
            try:
                data = self._fetching.whole(coming.giver, parcel.move, file.name)
            except Gone:
                if must:
                    raise
                continue
            _path(coming, file.name).write_bytes(data)
            coming.files.add(file.name)


def _boxes(network: Network, name: str) -> list[str]:
    """A box, or all those of a group."""
    if name in network.boxes or name not in network.groups:
        return [name]
    return [box for box in network.order if box.startswith(f"{name}.")]


def _path(coming: _Coming, name: str) -> Path:
    """Where a fetched file is; its name is the other node's, and may be anything."""
    return coming.folder / sha256(name.encode()).hexdigest()


def _piece(piece: str, returned: Sequence[str]) -> bytes:
    return json.dumps({"piece": piece, "returned": list(returned)}, ensure_ascii=False).encode()


def _note(parcel: Parcel) -> Mapping[str, Any]:
    """What the giver remembers of a move."""
    found: Mapping[str, Any] = json.loads(parcel.note)
    return found


def _consumer(reader: NodeName, name: str) -> str:
    """The consumer that a link of another node is: as the writing side of links names it."""
    return f"link:{reader}/{name}"
