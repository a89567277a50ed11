"""Worths: what readers on other nodes say an output is worth, and when they are told by this one (000, 7.1).

One thread does both, some times a second at most: readers here tell the nodes that they read what is behind,
and what was heard of outputs here becomes graphs by which this node schedules and sheds.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from australis.algebra.quality import Quality
from australis.cluster.links.link import LinkedNode
from australis.cluster.wire import Worth
from australis.engine.threads import Thread, Threads
from australis.errors import AlgebraError, AustralisError
from australis.policy.upstream import later, together
from australis.qos.graphs import utility

_log = logging.getLogger(__name__)
TELL_S = 0.5
"""How often it is looked at what is behind a link."""
WINDOW_S = 2
"""Over how many seconds this node's own delays are looked at."""
CLOSE = 0.05
"""Utilities that differ by less are not worth a message."""


class Telling(Protocol):
    """A link into this node."""

    def tell(self) -> None:
        """Tell its writer what its tuples are worth, if that has changed."""


@dataclass(frozen=True)
class _Heard:
    """What a reader has said of an output."""

    output: str
    quality: Quality
    age_us: int
    """How old its tuples are when they reach the reader, by the clock of this node."""


class Worths:
    """What is told to other nodes about links, and what they tell."""

    def __init__(self, node: LinkedNode, links: Callable[[], Iterable[Telling]], threads: Threads) -> None:
        self._node, self._links, self._threads = node, links, threads
        self._lock, self._over = threads.lock(), threads.event()
        self._heard: dict[Hashable, _Heard] = {}
        self._gone: set[str] = set()
        self._given: dict[str, Quality] = {}
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to work."""
        self._thread = self._threads.start(self._work, "australis-worths")

    def close(self) -> None:
        """Tell nothing more; the node goes on without what was heard."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(10.0)

    def note(self, writer: Hashable, output: str, said: Worth, ahead_us: int) -> bool:
        """Note what a reader whose clock is ahead says of an output; whether that can be."""
        try:
            quality = Quality(said.delay, said.loss, weight=said.weight)
        except AlgebraError:
            # The other node's mistake: whoever asks refuses it, and counts.
            return False
        with self._lock:
            if said.delay or said.loss:
                self._heard[writer] = _Heard(output, quality, said.age_us - ahead_us)
            else:
                self._forget(writer)
        return True

    def drop(self, writer: Hashable) -> None:
        """A reader has left."""
        with self._lock:
            self._forget(writer)

    def _forget(self, writer: Hashable) -> None:
        if (known := self._heard.pop(writer, None)) is not None:
            self._gone.add(known.output)

    @property
    def given(self) -> Mapping[str, Quality]:
        """The graphs by which outputs are served now."""
        with self._lock:
            return dict(self._given)

    # --- its thread

    def _work(self) -> None:
        while not self._over.wait(TELL_S):
            try:
                for each in self._links():
                    each.tell()
                self._serve()
            except AustralisError as error:
                # The node has no network, or is stopping.
                _log.debug("nothing is told of links this time: %s", error)
            except Exception:
                _log.exception("what links are worth is looked at again")

    def _serve(self) -> None:
        with self._lock:
            heard, gone = list(self._heard.values()), self._gone
            self._gone = set()
        found: dict[str, Quality | None] = dict.fromkeys(gone)
        if heard:
            found |= self._graphs(heard)
        for output, quality in found.items():
            self._node.infer(output, quality)
        with self._lock:
            self._given = {
                output: quality for output, quality in {**self._given, **found}.items() if quality is not None
            }

    def _graphs(self, heard: Iterable[_Heard]) -> dict[str, Quality | None]:
        """The graphs of outputs: those that their readers said, each by as much earlier as its way takes."""
        own = self._node.quality(WINDOW_S).outputs
        said: dict[str, list[Quality]] = {}
        for each in heard:
            known = own.get(each.output)
            if known is not None:
                way_s = each.age_us / 1e6 - (known.delay_ms_p50 or 0.0) / 1e3 if known.tuples else 0.0
                said.setdefault(each.output, []).append(later(each.quality, max(0.0, way_s)))
        return {output: together(qualities) for output, qualities in said.items()}


def differs_little(one: Any, other: Any) -> bool:
    """Whether two messages say nearly the same.

    >>> said = Worth(1, ((0, 1), (2.0, 1), (4.0, 0)), (), 1.0, 0)
    >>> differs_little(said, Worth(1, ((0, 1), (2.01, 1), (4.01, 0)), (), 1.0, 9))
    True
    >>> differs_little(said, Worth(1, ((0, 1), (1.0, 1), (3.0, 0)), (), 1.0, 0))
    False
    """
    is_alike = bool(one.delay) == bool(other.delay) and bool(one.loss) == bool(other.loss)
    graphs = ((one.delay, other.delay), (one.loss, other.loss))
    return (
        is_alike
        and abs(one.weight - other.weight) <= CLOSE * one.weight
        and abs(one.age_us - other.age_us) < 1e6 * CLOSE
        and all(_are_close(before, after) for before, after in graphs)
    )


def _are_close(one: Any, other: Any) -> bool:
    places = [x for x, _ in (*one, *other)]
    return all(abs(utility(one, x) - utility(other, x)) <= CLOSE for x in places)
