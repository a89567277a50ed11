"""Threads that others wait for go on after what nobody expected; who waits for one that ends is told."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cluster.identities import identity
from tests.cluster.nodes import Linked
from tests.waiting import until

from australis.cluster.directory import Directory
from australis.cluster.following import Following
from australis.cluster.granting import Granting
from australis.cluster.grants import Granter, PieceRefused
from australis.cluster.identity import Credentials, NodeName
from australis.cluster.links import Acknowledger
from australis.cluster.sliding import Slider
from australis.cluster.wire import Define, Refused
from australis.engine.threads import SYSTEM
from australis.errors import ClusterError
from australis.policy.place import Done, Manners, Site, Slide

LIMIT_S = 60.0
A, B = NodeName("lab", "a"), NodeName("lab", "b")
PIECE = Define(1, "seen", "n", 1.0, 1, b'{"before": []}', b"")


class Failing:
    """Fails at first, in a way that nobody expected."""

    def __init__(self) -> None:
        self.times, self.again = 0, threading.Event()

    def __call__(self, *given: object) -> None:
        self.times += 1
        if self.times == 1:
            raise ValueError("nobody expected it")
        self.again.set()


@pytest.fixture
def credentials(tmp_path: Path) -> Credentials:
    return Credentials.load(identity(tmp_path, "lab/a"))


def test_acknowledgements_after_one_that_fails_are_committed() -> None:
    node: Any = SimpleNamespace(acknowledge=Failing())
    acknowledger = Acknowledger(node, SYSTEM)
    acknowledger.note("one", "o", "life", 1)
    until(lambda: node.acknowledge.times == 1)
    acknowledger.note("one", "o", "life", 2)
    assert node.acknowledge.again.wait(LIMIT_S)
    acknowledger.close()


def test_names_are_followed_after_a_look_that_fails() -> None:
    refreshed, none = Failing(), Any
    following = Following(none, none, refreshed, SYSTEM)
    following.poke()
    until(lambda: refreshed.times == 1)
    following.poke()
    assert refreshed.again.wait(LIMIT_S)
    following.close()


def test_a_directory_answers_after_a_letter_that_fails(credentials: Credentials) -> None:
    carrier: Any = None
    directory = Directory(credentials, ("127.0.0.1", 7), carrier, SYSTEM)
    directory.start()
    directory._do(Failing())
    assert [each.name for each in directory.members()] == ["lab/a"]
    directory.close()


def test_who_asks_a_directory_that_ends_just_then_is_told(credentials: Credentials) -> None:
    carrier: Any = None
    directory = Directory(credentials, ("127.0.0.1", 7), carrier, SYSTEM)
    is_held, go_on = threading.Event(), threading.Event()
    told: list[str] = []

    def hold() -> None:
        is_held.set()
        go_on.wait(LIMIT_S)

    def ask() -> None:
        with pytest.raises(ClusterError) as found:
            directory.members()
        told.append(str(found.value))

    directory.start()
    directory._do(hold)
    assert is_held.wait(LIMIT_S)
    SYSTEM.start(directory.close, "closing")
    until(lambda: len(directory._jobs) == 2)
    asking = SYSTEM.start(ask, "asking")
    until(lambda: len(directory._jobs) == 3)
    go_on.set()
    asking.join(LIMIT_S)
    assert told == ["lab/a: has left the others; expected a cluster that is open"]


def test_a_slide_that_fails_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Linked(tmp_path, "lab/a") as a:
        slider = Slider(a.node, a.cluster, Site(1.0), Manners(), width=1e6)
        monkeypatch.setattr(slider, "_moved", Failing())
        slider._slide(Slide(7, ("some",), "lab/b", "", (), ()))
        assert slider._waiting[-1] == Done(7, succeeded=False)
        slider.close()


def test_who_wants_a_piece_is_answered_whatever_fails(credentials: Credentials) -> None:
    def fails(*given: object) -> None:
        raise ValueError("nobody expected it")

    node: Any = SimpleNamespace(note=lambda name: None, output_schema=fails, attached=dict)
    granter = Granter(A, credentials.authorities, node, SYSTEM)
    answered, found = threading.Event(), list[PieceRefused | None]()

    def answer(output: str, refused: PieceRefused | None) -> None:
        found.append(refused)
        answered.set()

    assert granter.define(B, PIECE, answer, lambda: True)
    assert answered.wait(LIMIT_S)
    granter.close()
    assert [each.code for each in found if each is not None] == [Refused.PIECE]


def test_a_link_that_is_closed_when_its_piece_is_there_is_not_written(
    credentials: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection: Any = object()
    peer: Any = SimpleNamespace(name=B, connection=connection)
    wanted: list[bool] = []

    class Among:
        """What begins a link just after its reader has closed it."""

        def begin_writing(self, peer: object, connection: Any, ask: Any, is_wanted: Any) -> None:
            granting.closed(connection, ask.link)
            wanted.append(is_wanted())

    def placed(holder: NodeName, said: Define, answer: Any, is_wanted: Any) -> bool:
        answer("piece", None)
        return True

    node: Any = SimpleNamespace(note=lambda name: None, attached=dict)
    among: Any = Among()
    granting = Granting(credentials, node, among, lambda why: None, (), SYSTEM)
    monkeypatch.setattr(granting._granter, "define", placed)
    granting.define(peer, connection, PIECE)
    granting.close()
    assert wanted == [False]
