"""Follows streams by name: links them from the node that has them, and again when they have moved."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from australis.cluster.directory import Directory
from australis.cluster.identity import NodeName
from australis.cluster.links import Link, LinkState, LinkStatus, NamedLink, boxes_of
from australis.cluster.membership import State
from australis.cluster.wire import Refusal, Refused
from australis.engine.threads import Thread, Threads
from australis.errors import AustralisError

_log = logging.getLogger(__name__)
LOOK_S = 2.0
"""How often a name that has no place, or whose node is gone, is looked up."""
_GONE = (Refused.MOVED, Refused.NOT_OFFERED, Refused.STOPPED)


class Linking(Protocol):
    """What draws and removes links from known nodes."""

    def draw(self, link: Link, place: tuple[str, int]) -> None: ...

    def drawn(self, name: str) -> Link | None: ...

    def remove(self, name: str) -> None: ...


class Following:
    """A thread that keeps links by name where their streams are."""

    def __init__(
        self, directory: Directory, linking: Linking, refreshed: Callable[[], None], threads: Threads
    ) -> None:
        """`refreshed` is called as often as names are looked at."""
        self._directory, self._linking, self._refreshed = directory, linking, refreshed
        self._lock, self._poked = threads.lock(), threads.event()
        self._links: dict[str, NamedLink] = {}
        self._problems: dict[str, str] = {}
        self._lost: dict[str, str] = {}
        """The inputs whose stream is no longer where it was, and where it has gone if that was said."""
        self._is_ended = False
        self._thread: Thread = threads.start(self._work, "australis-follow")

    def add(self, link: NamedLink) -> None:
        """Follow a stream from now on."""
        with self._lock:
            self._links[link.input] = link
        self._poked.set()

    def drop(self, name: str) -> bool:
        """Follow a stream no longer; whether it was followed."""
        with self._lock:
            self._lost.pop(name, None)
            self._problems.pop(name, None)
            return self._links.pop(name, None) is not None

    def refused(self, link: Link, refusal: Refusal) -> None:
        """The node that had a stream refuses it, and perhaps says who has it now."""
        with self._lock:
            if link.input in self._links and refusal.code in _GONE:
                self._lost[link.input] = refusal.moved
                self._poked.set()

    def poke(self) -> None:
        """Look at all names now."""
        self._poked.set()

    def waiting(self) -> list[LinkStatus]:
        """The links whose streams are at no node that is known."""
        with self._lock:
            links = [each for each in self._links.values() if self._linking.drawn(each.input) is None]
            return [
                LinkStatus(
                    each.input,
                    each.source,
                    each.weight,
                    LinkState.ABSENT,
                    self._problems.get(each.input, ""),
                    before=boxes_of(each.before),
                )
                for each in links
            ]

    def close(self) -> None:
        """Follow nothing any more."""
        self._is_ended = True
        self._poked.set()
        self._thread.join(10.0)

    def _work(self) -> None:
        while not self._is_ended:
            self._poked.wait(LOOK_S)
            self._poked.clear()
            with self._lock:
                links = [*self._links.values()]
            for link in links:
                self._guarded(lambda link=link: self._follow(link))  # type: ignore[misc]
            self._guarded(self._refreshed)

    def _guarded(self, step: Callable[[], None]) -> None:
        try:
            if not self._is_ended:
                step()
        except AustralisError as error:
            _log.warning("names: %s", error)
        except Exception:
            _log.exception("names are looked up again")

    def _follow(self, link: NamedLink) -> None:
        drawn = self._linking.drawn(link.input)
        with self._lock:
            is_lost, said = link.input in self._lost, self._lost.pop(link.input, "")
        if drawn is not None and not is_lost and self._directory.address(drawn.node) is not None:
            return
        node = self._redirected(link, said) or self._found(link, drawn.node if drawn is not None else None)
        place = self._directory.address(node) if node is not None else None
        if node is None or place is None:
            with self._lock:
                self._problems[link.input] = f"no node that is alive has {link.source}"
            return
        if drawn is not None and drawn.node == node:
            return
        if drawn is not None:
            _log.info("%s has moved from %s to %s", link.source, drawn.node, node)
            self._linking.remove(link.input)
        with self._lock:
            # Not one that was dropped meanwhile.
            if link.input in self._links:
                self._linking.draw(link.at(node), place)

    def _redirected(self, link: NamedLink, said: str) -> NodeName | None:
        """The node that the old place names; it can speak only for its own participant."""
        if not said:
            return None
        node = NodeName.parse(said)
        is_known = node.participant == link.participant and self._directory.address(node) is not None
        return node if is_known else None

    def _found(self, link: NamedLink, before: NodeName | None) -> NodeName | None:
        """A living node that has the stream; another one than before if there are several."""
        places = [
            NodeName.parse(each.node)
            for each in self._directory.where(link.source).places
            if each.state in (State.ALIVE, State.SUSPECT) and each.node != str(self._directory.name)
        ]
        return next((each for each in places if each != before), places[0] if places else None)
