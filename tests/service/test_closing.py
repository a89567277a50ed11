"""The end of a service: nothing waits for it that it waits for, and nothing begins again after it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tests.cluster.nodes import passing

from australis.service.host import Host
from australis.service.neighbours import Neighbours
from australis.service.settings import ClusterSettings, NodeSection

LIMIT_S = 20.0


def test_who_redraws_while_neighbours_close_does_not_hold_them_up() -> None:
    """Its thread is waited for."""
    neighbours, node = Neighbours(ClusterSettings()), object()
    over: list[bool] = []

    def close() -> None:
        redraws = threading.Thread(target=neighbours.arrange, args=(node, passing()), daemon=True)
        redraws.start()
        redraws.join(LIMIT_S)
        over.append(not redraws.is_alive())

    cluster: Any = SimpleNamespace(close=close)
    given: Any = node
    neighbours._node, neighbours._cluster = given, cluster
    neighbours.close()
    assert over == [True]


class ToldLock:
    """A lock that tells when somebody has to wait for it."""

    def __init__(self, waits: Callable[[], None]) -> None:
        self._lock, self._waits = threading.RLock(), waits

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._waits()
            self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def test_who_tells_of_the_network_just_before_the_end_starts_nothing_after_it() -> None:
    begun, go_on = threading.Event(), threading.Event()
    told: list[str] = []

    class Feeds:
        """Is arranged slowly."""

        def arrange(self, node: object, network: object) -> None:
            begun.set()
            assert go_on.wait(LIMIT_S)
            told.append("feeds arranged")

        def close(self, seconds: float) -> None:
            told.append("feeds closed")

    class Others:
        """The other nodes."""

        def arrange(self, node: object, network: object) -> None:
            told.append("neighbours arranged")

        def close(self) -> None:
            told.append("neighbours closed")
            go_on.set()

    feeds, others = Feeds(), Others()
    given: Any = {"feeds": feeds, "neighbours": others}
    host = Host(NodeSection(), **given)
    telling: Any = ToldLock(go_on.set)
    host._telling = telling
    tells = threading.Thread(target=host.tell, daemon=True)
    tells.start()
    assert begun.wait(LIMIT_S)
    host.stop()
    tells.join(LIMIT_S)
    assert told == ["feeds arranged", "neighbours arranged", "neighbours closed", "feeds closed"]
