"""Takes nodes out of the way of streams that only pass them.

After a move, the giver passes on what the boxes read and what they make. A node that finds such a relay
leads: what it reads is kept for the node behind it as well; it stops reading, waits until that node has
everything, and tells it to go on reading from where it has stopped. All steps can be repeated, and what a
node has begun is noted in its root.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from australis.algebra.network import Network, Ref
from australis.cluster.identity import NodeName
from australis.cluster.links import Link
from australis.cluster.moves.messages import (
    Declined,
    Letter,
    Release,
    Reroute,
    Rerouted,
    Reserve,
    Reserved,
)
from australis.cluster.moves.node import Carrier, MovingNode
from australis.cluster.moves.redrawing import OF_A_MOVE
from australis.engine.change import life
from australis.engine.ingest import Busy
from australis.engine.store import SEQ
from australis.engine.threads import Threads
from australis.errors import AustralisError, ClusterError, Problem

_log = logging.getLogger(__name__)
LOOK_S, ANSWER_S = 1.0, 5.0
"""How often a node looks for relays, and how long it waits for an answer."""
JOIN_S, AGAIN_S = 1.0, 3.0
"""For how long pushes wait at most while both ends of a stream are joined, and when that is tried again."""
_NOTE = "reroute"
Say = Callable[[NodeName, Letter], None]
_Answer = Reserved | Rerouted | Declined


@dataclass(frozen=True)
class Relay:
    """A stream that comes into this node and goes out of it again."""

    input: str
    source: str
    """The output of another node, or of this one, that the input reads."""
    output: str
    reader: str
    """The node and the input that read the output."""

    @property
    def sender(self) -> NodeName:
        """The node that it comes from."""
        return NodeName.parse(self.source.rpartition("/")[0])

    @property
    def receiver(self) -> NodeName:
        """The node that it goes to."""
        return NodeName.parse(self.reader.rpartition("/")[0])


class Rerouting:
    """A thread that looks for relays of this node, and what it answers to others that have some."""

    def __init__(
        self,
        name: NodeName,
        node: MovingNode,
        carrier: Carrier,
        say: Say,
        redrawn: Callable[[], None],
        refuse: Callable[[str], None],
        turn: Any,
        threads: Threads,
    ) -> None:
        """`turn` is held while boxes leave this node, or a relay is removed."""
        self._name, self._node, self._carrier, self._say = name, node, carrier, say
        self._redrawn, self._refuse = redrawn, refuse
        self._reserved: dict[tuple[str, str], NodeName] = {}
        """By output and reader, at whose request something is kept for it."""
        self._turn, self._threads = turn, threads
        self._changed: Any = threads.condition()
        self._answers: dict[str, tuple[NodeName, _Answer]] = {}
        self._asked: dict[str, NodeName] = {}
        self._busy: set[str] = set()
        """Inputs and outputs of relays that are being removed: nobody else may change what they are."""
        self._is_poked = self._is_ended = False
        self._again_ns = 0
        self._questions: deque[tuple[NodeName, Reserve | Reroute | Release]] = deque()
        """What is asked of this node, in its order: a release must not come before what it releases."""
        self._thread = threads.start(self._work, "australis-reroute")
        self._answering = threads.start(self._answer_all, "australis-reroute-answers")

    # --- from outside

    def poke(self) -> None:
        """Look for relays soon."""
        with self._changed:
            self._is_poked = True
            self._changed.notify_all()

    def close(self) -> None:
        """Look for nothing more; what has begun goes on when the node is back."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
        self._thread.join(10.0)
        self._answering.join(10.0)

    def answered(self, sender: NodeName, said: _Answer) -> bool:
        """An answer has come; whether it was asked for."""
        with self._changed:
            if self._asked.get(said.move) != sender:
                return False
            self._answers[said.move] = (sender, said)
            self._changed.notify_all()
            return True

    def asked(self, sender: NodeName, said: Reserve | Reroute | Release) -> None:
        """A node has found a relay of its own, and wants something of this one."""
        with self._changed:
            self._questions.append((sender, said))
            self._changed.notify_all()

    def _answer_all(self) -> None:
        while True:
            with self._changed:
                while not self._questions and not self._is_ended:
                    self._changed.wait()
                if self._is_ended:
                    return
                sender, said = self._questions.popleft()
            answer = self._tried(sender, said)
            if answer is not None:
                self._tell(sender, answer)

    def _tried(self, sender: NodeName, said: Reserve | Reroute | Release) -> Letter | None:
        """Answer a question; whatever fails, those after it are answered as well."""
        try:
            return self._answer(sender, said)
        except AustralisError as error:
            _log.info("%s asks for what cannot be done: %s", sender, error)
            problem = str(error)
        except Exception as error:
            _log.exception("%s could not be answered, in a way that nobody expected", sender)
            problem = str(error)
        self._refuse("reroute")
        return Declined(said.move, problem[:2000])

    # --- its thread

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._is_poked and not self._is_ended:
                    self._changed.wait(LOOK_S)
                self._is_poked = False
                if self._is_ended:
                    return
            try:
                self._look()
            except AustralisError as error:
                _log.info("a relay stays for now: %s", error)
            except Exception:
                _log.exception("a relay could not be removed, in a way that nobody expected")

    def _look(self) -> None:
        network = self._node.recorded()
        if network is None:
            return
        for text in self._node.moves.notes(_NOTE).values():
            begun = _Begun.of(text)
            with self._holding(begun.relay):
                self._finish(begun)
        for relay in self._relays(network):
            if not self._is_ended:
                self._remove(relay)
        self._sweep()
        self._join()

    def _relays(self, network: Network) -> Iterator[Relay]:
        for output, each in network.outputs.items():
            given = network.inputs.get(each.source.id)
            if given is None or given.source is None or not OF_A_MOVE.fullmatch(output):
                continue
            source = Link.parse(each.source.id, given.source)
            if isinstance(source, Link):
                for consumer in self._node.consumers(output):
                    if consumer.startswith("link:"):
                        yield Relay(each.source.id, given.source, output, consumer.removeprefix("link:"))

    def _remove(self, relay: Relay) -> None:
        """Take a relay out of the way; if it is refused before anything has stopped, it stays."""
        with self._holding(relay):
            begun = self._begin(relay)
            if begun is not None:
                self._finish(begun)

    @contextmanager
    def _holding(self, relay: Relay) -> Iterator[None]:
        """Let no boxes leave, and nobody else change what the relay is."""
        with self._turn:
            with self._changed:
                self._busy |= {relay.input, relay.output}
            try:
                yield
            finally:
                with self._changed:
                    self._busy -= {relay.input, relay.output}

    def _begin(self, relay: Relay) -> _Begun | None:
        """Let the source be kept for the reader behind, and stop reading."""
        network = self._node.recorded()
        if network is None or network.inputs.get(relay.input) is None:
            return None
        if network.inputs[relay.input].source != relay.source or relay.output not in network.outputs:
            return None
        move = secrets.token_hex(8)
        output = relay.source.rpartition("/")[2]
        said = self._ask(relay.sender, Reserve(move, output, relay.input, relay.reader))
        if not isinstance(said, Reserved):
            _log.debug("%s keeps nothing for %s: %s", relay.sender, relay.reader, said)
            self._tell(relay.sender, Release(move, output, relay.reader))
            return None
        begun = _Begun(move, relay, said.incarnation, said.yours, said.number)

        def drawn(network: Network) -> Network:
            given, known = network.inputs.get(relay.input), network.outputs.get(relay.output)
            if (
                given is None
                or given.source != relay.source
                or known is None
                or known.source != Ref(relay.input)
            ):
                what = f"{relay.input} or {relay.output} has changed meanwhile"
                raise ClusterError(Problem(network.name, what))
            return _with_source(network, relay.input, None)

        try:
            self._node.moves.redraw(drawn, {begun.key: begun.text()})
        except AustralisError:
            self._tell(relay.sender, Release(move, output, relay.reader))
            raise
        self._redrawn()
        return begun

    def _finish(self, begun: _Begun) -> None:
        """Wait until the reader behind has everything, and let it read from the source."""
        relay = begun.relay
        number = self._node.log_end
        consumer = f"link:{relay.reader}"
        if not self._until(lambda: self._node.moves.is_drained(relay.output, consumer, number)):
            return
        known = self._node.position(f"link {relay.source} {begun.yours}")
        position = begun.number if known is None else int(known)
        source = f"{self._name}/{relay.output}"
        input_ = relay.reader.rpartition("/")[2]
        said = self._ask(
            relay.receiver, Reroute(begun.move, input_, source, relay.source, begun.incarnation, position)
        )
        if said is None:
            # It may have done it: nothing else can be right until it answers.
            return
        is_done = isinstance(said, Rerouted)
        if not is_done:
            _log.info("%s goes on reading %s here: %s", relay.receiver, relay.output, said)
        kept, is_last = [True], [*self._node.consumers(relay.output)] == [consumer]

        def drawn(network: Network) -> Network:
            outputs = {name: each for name, each in network.outputs.items() if name != relay.output}
            found = replace(network, outputs=outputs, known=None) if is_done and is_last else network
            kept[0] = _is_read(found, relay.input)
            return _with_source(found, relay.input, relay.source) if kept[0] else _without(found, relay.input)

        self._node.moves.redraw(drawn, {begun.key: None})
        if is_done and not is_last:
            self._node.forget(consumer, relay.output)
        self._redrawn()
        output = relay.source.rpartition("/")[2]
        if not is_done:
            self._tell(relay.sender, Release(begun.move, output, relay.reader))
        elif not kept[0]:
            self._tell(relay.sender, Release(begun.move, output, f"{self._name}/{relay.input}"))
        _log.info("%s reads %s from %s", relay.reader, relay.output, relay.source if is_done else "here")

    def _sweep(self) -> None:
        """Remove outputs of moves that nobody reads any more, and inputs that lead nowhere."""
        network = self._node.recorded()
        assert network is not None, "it was there before"
        gone = {
            name for name in network.outputs if OF_A_MOVE.fullmatch(name) and not self._node.consumers(name)
        }
        idle = {
            name for name in network.inputs if OF_A_MOVE.fullmatch(name) and not _is_read(network, name, gone)
        }
        if gone or idle:

            def drawn(present: Network) -> Network:
                rest = {name: each for name, each in present.outputs.items() if name not in gone}
                found = replace(present, outputs=rest, known=None)
                for name in idle:
                    if name in found.inputs and not _is_read(found, name):
                        found = _without(found, name)
                return found

            self._node.moves.redraw(drawn, {})
            self._redrawn()
            for name in idle:
                source = network.inputs[name].source
                if source is not None:
                    node, _, output = source.rpartition("/")
                    said = Release(secrets.token_hex(8), output, f"{self._name}/{name}")
                    self._tell(NodeName.parse(node), said)

    def _join(self) -> None:
        """Join the ends of streams that left this node and came back: nothing is pushed for a moment.

        What is on its way from one end to the other is pushed, until there is nothing more.
        """
        network = self._node.recorded()
        loops = [] if network is None else [each for each in self._loops(network) if self._can_join(each)]
        if not loops or self._threads.ticks_ns() < self._again_ns:
            return
        with self._turn:
            for loop in loops:
                self._carrier.remove(loop.input)
            try:
                with self._node.moves.quiet():
                    if self._pass(loops):
                        self._node.moves.redraw(lambda present: _joined(present, loops), {})
                        told = ", ".join(each.output for each in loops)
                        _log.info("both ends of %s are joined", told)
                    else:
                        self._again_ns = self._threads.ticks_ns() + int(AGAIN_S * 1e9)
            finally:
                self._redrawn()

    def _loops(self, network: Network) -> Iterator[Relay]:
        for name, given in network.inputs.items():
            home, _, output = (given.source or "").rpartition("/")
            if home == str(self._name) and OF_A_MOVE.fullmatch(name) and OF_A_MOVE.fullmatch(output):
                reader = f"{home}/{name}"
                if output in network.outputs and [*self._node.consumers(output)] == [f"link:{reader}"]:
                    yield Relay(name, given.source or "", output, reader)

    def _can_join(self, loop: Relay) -> bool:
        """Whether nothing is lost by it, such as what nobody has read of an output yet.

        What is between its own ends is pushed before they are joined.
        """
        network = self._node.recorded()
        assert network is not None, "it was there before"
        lost = self._node.difference(_joined(network, [loop])).lost
        return all(loop.output in each for each in lost)

    def _pass(self, loops: Sequence[Relay]) -> bool:
        """Push what is between the ends of loops until nothing is left; whether that came in time."""
        until_ns = self._threads.ticks_ns() + int(JOIN_S * 1e9)
        while (left_s := (until_ns - self._threads.ticks_ns()) / 1e9) > 0:
            if not self._node.moves.rests(left_s):
                return False
            try:
                if not any(self._pushed(loop, left_s) for loop in loops):
                    return True
            except Busy:
                # Nobody makes room meanwhile: trains may need the turn that is held here.
                return False
        return False

    def _pushed(self, loop: Relay, limit_s: float) -> bool:
        """Push what is between the ends of a loop, if there is room in time; whether there was something."""
        number, note = self._node.consumer(f"link:{loop.reader}", loop.output)
        if note is None:
            # It was never read.
            note = life(self._threads.now_us())
        source = f"link {loop.source} {note}"
        known = self._node.position(source)
        table = self._node.read(loop.output, number if known is None else int(known))
        if table.num_rows:
            end = table[SEQ][-1].as_py() + 1
            self._node.push(loop.input, table.drop_columns([SEQ]), position=(source, end), wait_s=limit_s)
        return bool(table.num_rows)

    def _until(self, happened: Callable[[], bool]) -> bool:
        """Wait until something is committed; whether that came in time."""
        told = self._threads.event()
        end = self._node.listen(told.set)
        try:
            until_ns = self._threads.ticks_ns() + int(ANSWER_S * 1e9)
            while not happened():
                left_s = (until_ns - self._threads.ticks_ns()) / 1e9
                if self._is_ended or left_s <= 0:
                    return False
                told.wait(left_s)
                told.clear()
            return True
        finally:
            end()

    def _ask(self, node: NodeName, said: Reserve | Reroute) -> _Answer | None:
        """Ask another node, or this one; None if there is no answer in time."""
        with self._changed:
            self._asked[said.move] = node
        self._tell(node, said)
        until_ns = self._threads.ticks_ns() + int(ANSWER_S * 1e9)
        with self._changed:
            while said.move not in self._answers and not self._is_ended:
                left_s = (until_ns - self._threads.ticks_ns()) / 1e9
                if left_s <= 0:
                    break
                self._changed.wait(left_s)
            self._asked.pop(said.move, None)
            found = self._answers.pop(said.move, None)
        return None if found is None else found[1]

    def _tell(self, node: NodeName, said: Letter) -> None:
        """Say something to another node, or to this one."""
        if node != self._name:
            self._say(node, said)
        elif isinstance(said, Reserve | Reroute | Release):
            self.asked(node, said)
        elif isinstance(said, Reserved | Rerouted | Declined):
            self.answered(node, said)

    # --- for others

    def _answer(self, sender: NodeName, said: Reserve | Reroute | Release) -> Letter | None:
        network = self._node.recorded()
        if network is None:
            raise ClusterError(Problem(str(self._name), "runs no network"))
        match said:
            case Reserve():
                self._check_free(said.output, network.outputs)
                found = self._node.moves.reserve(
                    said.output, f"link:{said.reader}", f"link:{sender}/{said.input}"
                )
                self._reserved[said.output, said.reader] = sender
                return Reserved(said.move, *found)
            case Reroute():
                self._follow(sender, said, network)
                return Rerouted(said.move)
            case Release():
                is_own = said.reader.startswith(f"{sender}/")
                if not is_own and self._reserved.pop((said.output, said.reader), None) != sender:
                    self._refuse("release")
                    return None
                consumer = f"link:{said.reader}"
                if said.output in network.outputs and consumer in self._node.consumers(said.output):
                    self._node.forget(consumer, said.output)
                self.poke()
                return None

    def _check_free(self, name: str, known: Mapping[str, Any]) -> None:
        with self._changed:
            is_busy = name in self._busy
        if name not in known or is_busy:
            raise ClusterError(Problem(name, "is not here, or is about to go", "the same in a moment"))

    def _follow(self, sender: NodeName, said: Reroute, network: Network) -> None:
        """Read an input from where its source reads it."""
        given = network.inputs.get(said.input)
        if given is not None and given.source == said.to:
            # It was asked for before.
            return
        if not said.source.startswith(f"{sender}/"):
            raise ClusterError(Problem(said.source, f"is no output of {sender}"))
        self._check_free(said.input, network.inputs)
        sender_of = Link.parse(said.input, said.to)
        if not isinstance(sender_of, Link) or not self._carrier.reaches(sender_of.node):
            raise ClusterError(Problem(said.to, "is at a node that this one is not connected with"))

        def drawn(present: Network) -> Network:
            now = present.inputs.get(said.input)
            if now is None or now.source != said.source:
                raise ClusterError(Problem(said.input, f"does not read {said.source}"))
            return _with_source(present, said.input, said.to)

        position = {f"link {said.to} {said.incarnation}": said.number}
        self._node.moves.redraw(drawn, {}, position)
        self._redrawn()
        self.poke()


@dataclass(frozen=True)
class _Begun:
    """A relay that has stopped reading, as its node's root remembers it."""

    move: str
    relay: Relay
    incarnation: str
    yours: str
    number: int

    @property
    def key(self) -> str:
        return f"{_NOTE} {self.relay.reader}"

    def text(self) -> str:
        return json.dumps({**vars(self), "relay": vars(self.relay)})

    @classmethod
    def of(cls, text: str) -> _Begun:
        found = json.loads(text)
        return cls(**{**found, "relay": Relay(**found["relay"])})


def _with_source(network: Network, name: str, source: str | None) -> Network:
    inputs = {**network.inputs, name: replace(network.inputs[name], source=source)}
    return replace(network, inputs=inputs, known=None)


def _without(network: Network, name: str) -> Network:
    inputs = {each: given for each, given in network.inputs.items() if each != name}
    return replace(network, inputs=inputs, known=None)


def _joined(network: Network, loops: Sequence[Relay]) -> Network:
    """A network in which what reads the inputs of loops reads what their outputs read."""
    found = network
    for loop in loops:
        if loop.input not in found.inputs or loop.output not in found.outputs:
            raise ClusterError(Problem(network.name, f"{loop.output} has changed meanwhile"))
        ends = {Ref(loop.input): found.outputs[loop.output].source}

        def renamed(ref: Ref, ends: Mapping[Ref, Ref] = ends) -> Ref:
            return ends.get(ref, ref)

        found = replace(
            found,
            inputs={name: each for name, each in found.inputs.items() if name != loop.input},
            boxes={
                box: replace(node, sources=tuple(map(renamed, node.sources)))
                for box, node in found.boxes.items()
            },
            outputs={
                name: replace(each, source=renamed(each.source))
                for name, each in found.outputs.items()
                if name != loop.output
            },
            connection_points={
                name: replace(each, at=renamed(each.at)) for name, each in found.connection_points.items()
            },
            known=None,
        )
    return found


def _is_read(network: Network, name: str, gone: Any = frozenset()) -> bool:
    """Whether a box, an output or a connection point reads an input."""
    boxes = any(ref.id == name for node in network.boxes.values() for ref in node.sources)
    outputs = any(each.source.id == name for out, each in network.outputs.items() if out not in gone)
    return boxes or outputs or any(each.at.id == name for each in network.connection_points.values())
