"""The live host of a node's machines: one thread gives them letters, connections, questions and the time."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple, Protocol

from australis.cluster.catalogue import Announce, Kind, Withdraw
from australis.cluster.directory.core import Core, Told
from australis.cluster.directory.places import Findings, Listed, MemberStatus, Where, places_of
from australis.cluster.identity import Credentials, NodeName
from australis.cluster.membership import Changed, Leave, Lost, Met, Pace, Seek
from australis.cluster.names import Ask, Found, Matched, Publish, Retract, Search
from australis.engine.threads import Event, Thread, Threads
from australis.errors import AustralisError, ClusterError, Problem
from australis.policy.machines import Send, Wake

_log = logging.getLogger(__name__)
ANSWER_S = 10.0
_WAITING_MOST, _WAITING_US = 64, 5_000_000
"""How many letters wait for a connection with a node, and for how long."""
Address = tuple[str, int]


class Carrier(Protocol):
    """What a directory needs of the connections of its node."""

    def post(self, node: NodeName, topic: str, data: bytes) -> bool: ...

    def visit(self, place: Address, name: NodeName | None = None) -> None: ...


class _Due(NamedTuple):
    """An event that a machine wants back at a time."""

    at: int
    serial: int
    topic: str
    event: Any


class _Question:
    """A question of another thread, and its answer."""

    def __init__(self, answered: Event) -> None:
        self.answered = answered
        self.answer: Any = None
        self.is_put = False

    def put(self, answer: Any) -> None:
        self.answer, self.is_put = answer, True
        self.answered.set()


class Directory:
    """What a node knows of nodes and names; all methods may be called from any thread."""

    def __init__(
        self,
        credentials: Credentials,
        place: Address,
        carrier: Carrier,
        threads: Threads,
        *,
        seeds: Sequence[Address] = (),
        pace: Pace | None = None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """`changed` is called when nodes come or go, or get another address; it must not wait."""
        self.name, self._carrier, self._threads = credentials.name, carrier, threads
        self._seeds, self._told_changed = tuple(seeds), changed
        self._begin_us, self._begin_ns = threads.now_us(), threads.ticks_ns()
        self._core = Core(
            str(self.name), place, self._begin_us, credentials.seal, credentials.authorities, pace
        )
        self._changed: Any = threads.condition()
        self._jobs: deque[Callable[[], None]] = deque()
        self._due: list[_Due] = []
        self._serial = count(1)
        self._numbers = count(1)
        self._questions: dict[int, _Question] = {}
        self._letters: dict[str, deque[tuple[int, str, bytes]]] = {}
        self._moved: dict[str, str] = {}
        self._is_ended = False
        self._thread: Thread | None = None

    @property
    def topics(self) -> Sequence[str]:
        """Under which letters for it come."""
        return tuple(self._core.topics)

    def start(self) -> None:
        """Begin to gossip."""
        self._do(lambda: self._carry(self._core.start(self._now())))
        self._thread = self._threads.start(self._work, "australis-directory")

    def close(self) -> None:
        """Say farewell, and end."""
        with self._changed:
            self._jobs.append(lambda: self._tell("members", Leave()))
            self._jobs.append(self._end)
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(ANSWER_S)

    # --- what comes from connections

    def hear(self, topic: str, sender: NodeName, letter: bytes) -> None:
        """A letter has come."""
        self._do(lambda: self._carry(self._core.hear(topic, str(sender), letter, self._now())))

    def joined(self, node: NodeName) -> None:
        """There is a connection with a node."""
        self._do(lambda: self._met(str(node)))

    def left(self, node: NodeName) -> None:
        """A connection has broken."""
        self._do(lambda: self._tell("members", Lost(str(node))))

    # --- what this node has

    def announce(self, name: str, kind: Kind, detail: str = "", *, is_public: bool = False) -> None:
        """This node has something: for its participant to know or, if it is public, for all."""
        self._check(name)
        self._moved.pop(name, None)
        self._do(lambda: self._tell("catalogue", Announce(name, kind, detail)))
        if is_public:
            self._do(lambda: self._tell("names", Publish(name, kind, detail)))

    def withdraw(self, name: str, moved: str = "") -> None:
        """This node has something no more; perhaps another one has it now."""
        if moved:
            self._moved[name] = moved
        self._do(lambda: self._tell("catalogue", Withdraw(name, moved)))
        self._do(lambda: self._tell("names", Retract(name, moved)))

    def moved(self, name: str) -> str:
        """The node to which something has gone from here, if it has."""
        return self._moved.get(name, "")

    def _check(self, name: str) -> None:
        participant, slash, rest = name.partition("/")
        if participant != self.name.participant or not slash or not rest or "/" in rest or len(name) > 255:
            raise ClusterError(Problem(name, "is no name here", f"{self.name.participant}/NAME"))

    # --- questions

    def members(self) -> list[MemberStatus]:
        """All nodes that are known, by name."""

        def look() -> list[MemberStatus]:
            return [
                MemberStatus(
                    name,
                    f"{each.presence.host}:{each.presence.port}",
                    each.state,
                    each.presence.incarnation,
                    name == str(self.name),
                )
                for name, each in sorted(self._core.members.members.items())
            ]

        found: list[MemberStatus] = self._ask(lambda question, number: question.put(look()))
        return found

    def address(self, node: NodeName) -> Address | None:
        """Where a node that is not dead is."""

        def look() -> Address | None:
            known = self._core.members.members.get(str(node))
            return None if known is None or not known.is_live else (known.presence.host, known.presence.port)

        found: Address | None = self._ask(lambda question, number: question.put(look()))
        return found

    def where(self, name: str) -> Where:
        """The nodes that have what a name stands for."""

        def look(question: _Question, number: int) -> None:
            members, catalogue = self._core.members.members, self._core.catalogue
            is_own = name.partition("/")[0] == self.name.participant
            if is_own and (places := places_of(catalogue.places(name), members)):
                question.put(Where(name, places, 0))
            else:
                self._tell("names", Ask(number, name))

        found: Where = self._ask(look)
        return found

    def find(self, pattern: str) -> Findings:
        """The names that match a pattern with *, ? and [...], of the own participant and public ones."""
        if not 0 < len(pattern) <= 100:
            raise ClusterError(Problem(pattern, "is no pattern", "1 to 100 characters"))
        found: Findings = self._ask(lambda question, number: self._tell("names", Search(number, pattern)))
        own: list[Listed] = self._ask(lambda question, number: question.put(self._own(pattern)))
        names = {(each.name, each.node): each for each in (*found.names, *own)}
        return Findings([names[key] for key in sorted(names)], found.is_whole)

    def refused(self) -> dict[str, int]:
        """What its machines have refused, and how often."""
        if self._is_ended:
            return {}
        found: dict[str, int] = self._ask(lambda question, number: question.put(self._core.refused()))
        return found

    def unsettled(self) -> int:
        """How many records that are kept here are not known to be with all their keepers."""
        found: int = self._ask(lambda question, number: question.put(self._core.names.shelf.unsettled))
        return found

    def _own(self, pattern: str) -> list[Listed]:
        return [
            Listed(held.name, owner, held.kind)
            for owner, held in self._core.catalogue.all()
            if fnmatchcase(held.name, pattern)
        ]

    def _ask(self, look: Callable[[_Question, int], None]) -> Any:
        """Let its thread look something up, and wait for the answer."""
        if self._is_ended:
            raise self._left()
        question, number = _Question(self._threads.event()), next(self._numbers)

        with self._changed:
            self._questions[number] = question
        if not self._do(lambda: look(question, number)):
            question.answered.set()
        is_answered = question.answered.wait(ANSWER_S)
        with self._changed:
            del self._questions[number]
        if not question.is_put and self._is_ended:
            raise self._left()
        if not is_answered:
            raise ClusterError(Problem(str(self.name), "its directory does not answer", "that it runs"))
        return question.answer

    def _left(self) -> ClusterError:
        return ClusterError(Problem(str(self.name), "has left the others", "a cluster that is open"))

    # --- its thread

    def _do(self, job: Callable[[], None]) -> bool:
        """Let its thread do something; whether it still does anything."""
        with self._changed:
            if self._is_ended:
                return False
            self._jobs.append(job)
            self._changed.notify_all()
            return True

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                job()
            except AustralisError as error:
                _log.warning("the directory: %s", error)
            except Exception:
                _log.exception("the directory goes on after what nobody expected")

    def _next(self) -> Callable[[], None] | None:
        """What is to be done now; nothing at the end."""
        with self._changed:
            while not self._is_ended:
                now = self._now()
                if self._due and self._due[0].at <= now:
                    due = heappop(self._due)
                    return lambda: self._tell(due.topic, due.event)
                if self._jobs:
                    return self._jobs.popleft()
                self._changed.wait((self._due[0].at - now) / 1e6 if self._due else None)
            return None

    def _now(self) -> int:
        """The time in microseconds; it never goes back, whatever is done to the system's clock."""
        return self._begin_us + (self._threads.ticks_ns() - self._begin_ns) // 1000

    def _end(self) -> None:
        with self._changed:
            self._is_ended = True
            self._jobs.clear()
            for question in self._questions.values():
                # There is no answer, and nobody who could give one.
                question.answered.set()

    def _tell(self, topic: str, event: Any) -> None:
        self._carry(self._core.tell(topic, event, self._now()))

    def _carry(self, told: Sequence[Told]) -> None:
        for topic, command in told:
            match command:
                case Send(to, _, letter):
                    self._send(topic, to, letter)
                case Wake(at, event):
                    heappush(self._due, _Due(at, next(self._serial), topic, event))
                case Seek():
                    self._seek()
                case Changed():
                    _log.info("%s at %s:%d is %s", command.name, command.host, command.port, command.state)
                    self._told_changed()
                case Found():
                    self._found(command)
                case Matched(number, names, is_whole):
                    listed = [Listed(name, owner, kind) for name, owner, kind in names]
                    self._answer(number, Findings(listed, is_whole))
                case _:
                    _log.debug("%s: %s", topic, command)

    def _seek(self) -> None:
        members = self._core.members.members.values()
        known = {(each.presence.host, each.presence.port) for each in members if each.is_live}
        for place in self._seeds:
            if place not in known:
                self._carrier.visit(place)

    def _found(self, found: Found) -> None:
        records = [(each.owner, each) for each in found.records]
        places = places_of(records, self._core.members.members)
        self._answer(found.number, Where(found.name, places, found.hops))

    def _answer(self, number: int, answer: Any) -> None:
        if (question := self._questions.get(number)) is not None:
            question.put(answer)

    # --- letters

    def _met(self, name: str) -> None:
        now, node = self._now(), NodeName.parse(name)
        for at, topic, letter in self._letters.pop(name, ()):
            if at + _WAITING_US > now:
                self._posted(node, topic, letter)
        self._tell("members", Met(name))

    def _posted(self, node: NodeName, topic: str, letter: bytes) -> bool:
        try:
            return self._carrier.post(node, topic, letter)
        except ClusterError as error:
            # It is lost as any letter may be; the others must not be lost with it.
            _log.warning("a letter is not sent: %s", error)
            return True

    def _send(self, topic: str, to: str, letter: bytes) -> None:
        """Send a letter, over a new connection if there is none."""
        node = NodeName.parse(to)
        if self._posted(node, topic, letter):
            return
        known = self._core.members.members.get(to)
        if known is None:
            return
        waiting = self._letters.setdefault(to, deque(maxlen=_WAITING_MOST))
        waiting.append((self._now(), topic, letter))
        self._carrier.visit((known.presence.host, known.presence.port), node)
