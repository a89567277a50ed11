"""What happens just between two steps of a link: nothing is left waiting at the other node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cluster.nodes import Linked
from tests.waiting import until

from australis.cluster.identity import NodeName
from australis.cluster.links import Link, Reader
from australis.engine.threads import SYSTEM

B = NodeName("lab", "b")


class Silent:
    """A connection that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[object] = []

    def send(self, said: object) -> None:
        self.sent.append(said)


def test_a_link_that_ends_while_it_looks_for_a_grant_asks_for_nothing() -> None:
    """What is asked for after the end is closed by nobody."""
    connection: Any = Silent()

    def grant(link: Link) -> bytes:
        reader.end()
        return b""

    link = Link("n", B, "seen", before='{"before": []}')
    node: Any = None
    reader = Reader(node, link, lambda reader: 1, 1, SYSTEM, grant=grant)
    reader.joined(connection)
    reader.start()
    reader.join(60.0)
    assert connection.sent == []


def test_a_node_that_is_read_again_while_a_link_ends_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Linked(tmp_path, "lab/a") as a, Linked(tmp_path, "lab/b") as b:
        a.cluster.draw(Link("n", B, "seen"), b.place)
        reader = a.cluster._readers["n"]
        ends = reader.join

        def join(seconds: float) -> None:
            a.cluster.draw(Link("m", B, "seen"), b.place)
            ends(seconds)

        monkeypatch.setattr(reader, "join", join)
        a.cluster.remove("n")
        until(lambda: a.cluster.reaches(B))
        assert a.cluster._peers.peer(B).wanted is not None
        a.cluster.remove("m")
        assert a.cluster._peers.peer(B).wanted is None
