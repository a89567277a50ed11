"""Nobody waits without end for another node, for room, or for a thread that has failed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from tests.cluster.nodes import Linked
from tests.waiting import until

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.cluster.identity import NodeName
from australis.cluster.moves.messages import Dropped, Letter, Offer, Release, Reserve
from australis.cluster.moves.rerouting import JOIN_S, Rerouting
from australis.engine.ingest import Busy
from australis.engine.threads import SYSTEM
from australis.errors import ClusterError, EngineError, Problem
from australis.policy.machines import ENCODE

HOME, OTHER = NodeName("lab", "a"), NodeName("lab", "b")
OUT, BACK = "link_some_0a1b2c", "link_back_3d4e5f"
LIMIT_S = 60.0


def loop() -> Network:
    """What has left this node and come back: one end of it reads the other."""
    net = NetworkBuilder("loop")
    net.input("n", "k long").filter("k > 0", as_="some").output(OUT)
    net.input(BACK, "k long", source=f"{HOME}/{OUT}").filter("k > 1", as_="more").output("o")
    return net.build()


class Stub:
    """A node with a stream that loops, and whatever carries letters of it."""

    def __init__(self) -> None:
        self.moves = self
        self.waited: list[float | None] = []
        self.drawn, self.redrawn, self.told = 0, threading.Event(), list[tuple[NodeName, Letter]]()
        self.failures: list[Exception] = []
        self.refused: list[str] = []
        self.rerouting = Rerouting(
            HOME, self, self, self.say, self.redrawn.set, self.refused.append, SYSTEM.lock(), SYSTEM
        )

    def recorded(self) -> Network:
        if self.failures and threading.current_thread().name == "australis-reroute-answers":
            raise self.failures.pop()
        return loop()

    def notes(self, kind: str) -> dict[str, str]:
        return {}

    def consumers(self, output: str) -> dict[str, tuple[int, int]]:
        return {f"link:{HOME}/{BACK}": (0, 0)} if output == OUT else {}

    def difference(self, network: Network) -> Any:
        return SimpleNamespace(lost=[])

    @contextmanager
    def quiet(self) -> Iterator[None]:
        yield

    def rests(self, limit_s: float) -> bool:
        return True

    def remove(self, name: str) -> None:
        """There is no link."""

    def redraw(self, *given: Any) -> None:
        self.drawn += 1

    def consumer(self, consumer: str, output: str) -> tuple[int, str | None]:
        return 0, "life"

    def position(self, source: str) -> str | None:
        return None

    def read(self, output: str, begin: int = 0) -> pa.Table:
        return pa.table({"k": [1], "#seq": [7]})

    def push(self, name: str, batch: pa.Table, *, position: Any = None, wait_s: float | None = None) -> int:
        self.waited.append(wait_s)
        raise Busy(Problem(name, "has no room"), 1.0)

    def say(self, node: NodeName, said: Letter) -> None:
        self.told.append((node, said))


@pytest.fixture
def stub() -> Iterator[Stub]:
    made = Stub()
    yield made
    made.rerouting.close()


def test_ends_are_not_joined_while_there_is_no_room(stub: Stub) -> None:
    """Whoever pushes here lets nobody else push or switch: it must not wait until others make room."""
    stub.rerouting.poke()
    assert stub.redrawn.wait(LIMIT_S)
    assert all(limit is not None and limit <= JOIN_S for limit in stub.waited)
    assert (len(stub.waited), stub.drawn) == (1, 0)


@pytest.mark.parametrize("error", [EngineError(Problem("n", "fails")), ValueError("nobody expected it")])
def test_questions_after_one_that_fails_are_answered(stub: Stub, error: Exception) -> None:
    stub.failures.append(error)
    stub.rerouting.asked(OTHER, Release("0", OUT, "lab/c/n"))
    stub.rerouting.asked(OTHER, Reserve("1", "gone", "n", "lab/c/n"))
    until(lambda: len(stub.told) == 2)
    assert [said.move for _, said in stub.told] == ["0", "1"]
    assert stub.refused == ["reroute"] * 2


def test_who_closes_does_not_wait_for_a_move_that_waits_for_another_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that looks for relays waits meanwhile for the turn that the move has."""
    looks, failed = threading.Event(), threading.Event()
    with Linked(tmp_path, "lab/a", loop()) as here:
        moving = here.cluster._moving
        rerouting = moving._rerouting

        def look() -> None:
            looks.set()
            with rerouting._turn:
                pass

        def move() -> None:
            with pytest.raises(ClusterError):
                moving.move(["more"], OTHER)
            failed.set()

        SYSTEM.start(move, "mover")
        until(lambda: bool(moving.statuses()))
        monkeypatch.setattr(rerouting, "_look", look)
        rerouting.poke()
        assert looks.wait(LIMIT_S)
        moving.close()
        assert not rerouting._thread.is_alive(), "it waits for the move"
        assert failed.wait(LIMIT_S)


def test_a_move_that_is_dropped_while_it_is_fetched_leaves_no_place_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are only so many places for moves that come."""
    fetches, go_on = threading.Event(), threading.Event()

    def fetch(coming: object, said: Letter) -> None:
        fetches.set()
        assert go_on.wait(LIMIT_S)

    with Linked(tmp_path, "lab/a") as here:
        moving = here.cluster._moving
        monkeypatch.setattr(moving, "_do", fetch)
        assert moving.hear(OTHER, ENCODE(Offer("0" * 16, 1)))
        assert fetches.wait(LIMIT_S)
        assert moving.hear(OTHER, ENCODE(Dropped("0" * 16)))
        (coming,) = moving._coming.values()
        go_on.set()
        until(lambda: not moving._coming and not coming.folder.exists(), 10.0)
