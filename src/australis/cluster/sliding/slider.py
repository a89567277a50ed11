"""Hosts the placement policy at a node: tells it what happens, and does what it commands."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Protocol

from australis.algebra.form import dumps
from australis.algebra.network import Network
from australis.cluster.identity import NodeName
from australis.cluster.links import Link
from australis.cluster.moves import Moved, MovingNode
from australis.cluster.sliding import kept
from australis.cluster.sliding.drawing import runs_of
from australis.cluster.sliding.measuring import Meter
from australis.engine import Statistics
from australis.engine.threads import SYSTEM, Threads
from australis.errors import AustralisError, ClusterError, Problem
from australis.policy.machines import Journal, Machine, Received, Send, Started, Wake
from australis.policy.place import (
    Daemon,
    Dismiss,
    Done,
    Expect,
    Manners,
    Runs,
    Site,
    Slide,
    Split,
    Unsplit,
)

_log = logging.getLogger(__name__)
TOPIC = "place"
EVERY_S = 2.0
"""How often a node measures, decides and tells its neighbours how it is."""
_WAITING_MOST = 1000
"""How many letters may wait to be read."""
_REPORT = "Report"


class SlidingNode(MovingNode, Protocol):
    """The part of a node that its placement uses."""

    def statistics(self) -> Statistics: ...


class Carrier(Protocol):
    """The other nodes, as far as placement uses them."""

    name: NodeName

    def hear(self, topic: str, heard: Callable[[NodeName, bytes], None], /) -> None: ...

    def post(self, node: NodeName, topic: str, data: bytes, /) -> bool: ...

    def move(self, boxes: Collection[str], to: NodeName, /) -> Moved: ...

    def neighbours(self) -> list[NodeName]: ...

    def drawn(self, name: str, /) -> Link | None: ...

    def refuse(self, why: str, /) -> None: ...


class Slider:
    """Slides boxes of a node that has too much to do; every method may be called from any thread.

    What the machine must not forget is committed before anything is done that others see, except for reports,
    of which each may be lost.
    """

    def __init__(
        self,
        node: SlidingNode,
        carrier: Carrier,
        site: Site,
        manners: Manners,
        *,
        width: float,
        journal: Path | None = None,
        threads: Threads = SYSTEM,
    ) -> None:
        """`site` is what this node can do, `width` the bytes per second that go to each neighbour at most."""
        self._node, self._carrier, self._threads = node, carrier, threads
        self._stay_us = round(manners.rest_s * 1e6)
        self._meter = Meter(width)
        self._file = None if journal is None else _opened(journal)
        self._journal = None if self._file is None else Journal(self._file.write)
        self._changed: Any = threads.condition()
        self._turn = threads.lock()
        """Held by whoever tells the machine something."""
        self._waiting: deque[Any] = deque()
        self._moving: set[Any] = set()
        self._failed: dict[str, int] = {}
        """Boxes that could not move, and until when they are not to."""
        self._wakes: list[Wake] = []
        self._runs: Runs | None = None
        self._text: tuple[Network, str] | None = None
        self._is_ended = False

        def make(incarnation: int) -> Machine:
            return Daemon(str(carrier.name), site, manners, incarnation)

        self._machine = kept.opened(node.moves, make, self._journal)
        self._thread: Any = None
        self._waiting.append(Started())
        carrier.hear(TOPIC, self.heard)

    def start(self) -> None:
        """Look by itself from now on."""
        self._thread = self._threads.start(self._work, "australis-place")

    def close(self) -> None:
        """Decide nothing more; a move that is under way is left to itself."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(10.0)
        with self._turn:
            if self._file is not None:
                self._file.close()
            self._file = self._journal = None

    def heard(self, sender: NodeName, data: bytes) -> None:
        """A letter has come; it is read where nobody waits."""
        with self._changed:
            is_refused = sender.participant != self._carrier.name.participant
            is_refused = is_refused or len(self._waiting) >= _WAITING_MOST
            if not is_refused and not self._is_ended:
                self._waiting.append(Received(str(sender), data))
                self._changed.notify_all()
        if is_refused:
            self._carrier.refuse(TOPIC)

    def turn(self, now: int | None = None, *, measures: bool = True) -> None:
        """Tell the machine what has happened, and what was measured since the last turn that did."""
        with self._turn:
            if self._is_ended:
                return
            now = self._threads.now_us() if now is None else now
            network = self._node.recorded()
            if network is None:
                return
            self._draw(network, now)
            for event in self._taken(now):
                self._tell(event, now)
            if measures:
                names = [str(each) for each in self._carrier.neighbours()]
                found = self._meter.measured(network, self._node.statistics(), names, now)
                if found is not None:
                    self._tell(found, now)

    # --- its thread

    def _work(self) -> None:
        next_ns = self._threads.ticks_ns()
        while True:
            with self._changed:
                left_s = (next_ns - self._threads.ticks_ns()) / 1e9
                if not self._waiting and not self._is_ended and left_s > 0:
                    self._changed.wait(left_s)
                if self._is_ended:
                    return
            is_due = self._threads.ticks_ns() >= next_ns
            if is_due:
                next_ns = self._threads.ticks_ns() + int(EVERY_S * 1e9)
            try:
                self.turn(measures=is_due)
            except AustralisError as error:
                _log.info("nothing is placed for now: %s", error)
            except Exception:
                _log.exception("placement failed in a way that nobody expected")

    # --- the machine

    def _taken(self, now: int) -> list[Any]:
        with self._changed:
            found = [*self._waiting, *(each.event for each in self._wakes if each.at <= now)]
            self._waiting.clear()
        self._wakes = [each for each in self._wakes if each.at > now]
        return found

    def _draw(self, network: Network, now: int) -> None:
        """Tell the machine what runs here, if that is something else than before."""
        if self._text is None or self._text[0] is not network:
            self._text = network, dumps(network)
        self._failed = {box: until for box, until in self._failed.items() if until > now}
        found = {name: self._carrier.drawn(name) for name in network.inputs}
        sources = {name: link for name, link in found.items() if link is not None}
        readers = {name: self._node.consumers(name) for name in network.outputs}
        split = self._node.split_network().boxes
        copied = {box for box, node in network.boxes.items() if split.get(box) != node}
        stay = {*self._failed, *copied}
        runs = runs_of(self._carrier.name, network, self._text[1], sources, readers, stay)
        if runs != self._runs:
            self._runs = runs
            self._tell(runs, now)

    def _tell(self, event: Any, now: int) -> None:
        before = sum(self._machine.refused.values())
        commands = self._machine.handle(event, now)
        if self._journal is not None:
            self._journal.decided(now, self._machine.name, event, commands)
        if sum(self._machine.refused.values()) > before:
            _log.debug("placement refuses %s: %s", type(event).__name__, dict(self._machine.refused))
            if isinstance(event, Received):
                self._carrier.refuse(TOPIC)
        if type(event) in (Runs, Done) or not all(_is_report(each) for each in commands):
            kept.save(self._node.moves, self._machine)
        for command in commands:
            self._obey(command)

    def _obey(self, command: Any) -> None:
        match command:
            case Send():
                self._carrier.post(NodeName.parse(command.to), TOPIC, command.letter)
            case Wake():
                self._wakes.append(command)
            case Slide():
                self._begin(command)
            case Split() | Unsplit():
                # No part of a box can run at another node yet.
                self._over(Done(command.serial, succeeded=False))
            case Expect():
                _log.info("%s may move %s here", command.giver, ", ".join(command.boxes))
            case Dismiss():
                _log.debug("nothing more is expected of %s", command.giver)

    # --- moves

    def _begin(self, command: Slide) -> None:
        if command.serial not in self._moving:
            self._moving.add(command.serial)
            self._threads.start(lambda: self._slide(command), f"australis-slide-{command.to}")

    def _slide(self, command: Slide) -> None:
        boxes = ", ".join(command.boxes)
        try:
            succeeded = self._moved(command)
        except AustralisError as error:
            _log.warning("%s stays here, though this node has too much to do: %s", boxes, error)
            succeeded = False
        except Exception:
            _log.exception("%s could not slide, in a way that nobody expected", boxes)
            succeeded = False
        if not succeeded:
            until = self._threads.now_us() + self._stay_us
            with self._turn:
                self._failed |= dict.fromkeys(command.boxes, until)
        self._over(Done(command.serial, succeeded))

    def _moved(self, command: Slide) -> bool:
        """Move the boxes; those that are here no more have moved in an earlier life."""
        network = self._node.recorded()
        here = set(command.boxes) & (set[str]() if network is None else network.boxes.keys())
        if not here:
            return True
        if len(here) < len(command.boxes):
            return False
        moved = self._carrier.move(command.boxes, NodeName.parse(command.to))
        pause = "" if moved.stood_still_ms is None else f", after a pause of {moved.stood_still_ms:,.0f} ms"
        _log.info("%s slid to %s%s", ", ".join(command.boxes), command.to, pause)
        return True

    def _over(self, done: Done) -> None:
        with self._changed:
            self._moving.discard(done.serial)
            self._waiting.append(done)
            self._changed.notify_all()


def _opened(journal: Path) -> Any:
    """The journal, to be continued."""
    try:
        return journal.open("ab", buffering=0)
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        raise ClusterError(Problem(str(journal), what, "a file in a folder that is there")) from error


def _is_report(command: Any) -> bool:
    return isinstance(command, Send) and command.kind == _REPORT
