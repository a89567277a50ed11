"""What has closed stays closed, and what could not open has left nothing behind."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cluster.identities import identity
from tests.cluster.nodes import Linked, passing
from tests.engine.in_process import InProcess

from australis.cluster import Cluster
from australis.engine import Node
from australis.engine.threads import SystemThreads, Thread
from australis.errors import ClusterError


class Counted(SystemThreads):
    """Threads that remember the names of those that were started."""

    def __init__(self) -> None:
        self.started: list[str] = []

    def start(self, target: Callable[[], None], name: str) -> Thread:
        self.started.append(name)
        return super().start(target, name)


def test_a_cluster_that_cannot_listen_has_started_nothing(tmp_path: Path) -> None:
    """Whoever tries again would have more threads each time, which all look after the same node."""
    threads = Counted()
    with Node(tmp_path / "root", runner=InProcess()) as node, socket.create_server(("127.0.0.1", 0)) as taken:
        node.deploy(passing())
        with pytest.raises(ClusterError, match="cannot listen"):
            Cluster(node, identity(tmp_path, "lab/a"), listen=taken.getsockname(), threads=threads)
    assert threads.started == []


def test_links_are_not_drawn_after_the_end(tmp_path: Path) -> None:
    """A move that completes while the cluster closes has links drawn anew."""
    with Linked(tmp_path, "lab/a") as a:
        a.cluster.close()
        a.cluster.arrange({"n": ("lab/b/seen", 1.0)})
        assert a.cluster.drawn("n") is None
