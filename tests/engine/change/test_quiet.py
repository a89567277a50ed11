"""Who is quiet keeps others from pushing and from drawing another network, and may draw one itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tests.engine.change.fleet import fleet
from tests.engine.in_process import InProcess

from australis.engine import Node
from australis.engine.threads import SystemThreads

LIMIT_S = 60.0


class ToldLock:
    """A re-entrant lock that tells when a certain thread has to wait for it."""

    def __init__(self, name: str, waits: threading.Event) -> None:
        self._lock, self._name, self._waits = threading.RLock(), name, waits

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            if threading.current_thread().name == self._name:
                self._waits.set()
            self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


class ToldThreads(SystemThreads):
    """Threads whose locks tell when the one of a certain name waits."""

    def __init__(self, name: str) -> None:
        self._name, self.waits = name, threading.Event()

    def lock(self) -> AbstractContextManager[Any]:
        return ToldLock(self._name, self.waits)


def test_one_thread_is_quiet_and_draws_while_another_wants_to_draw(tmp_path: Path) -> None:
    threads = ToldThreads("other")
    node = Node(tmp_path, runner=InProcess(), threads=threads)
    node.deploy(fleet())

    def redraw(note: str) -> None:
        node.moves.redraw(lambda present: present, {f"drawn {note}": "yes"})

    def be_quiet() -> None:
        with node.moves.quiet():
            other.start()
            assert threads.waits.wait(LIMIT_S)
            redraw("first")

    other = started_later(lambda: redraw("second"), "other")
    quiet = started_later(be_quiet, "quiet")
    quiet.start()
    quiet.join(LIMIT_S)
    # If each waits for the other, nothing can stop the node either.
    assert not quiet.is_alive(), "it waits for a switch that waits for its turn"
    other.join(LIMIT_S)
    assert node.moves.notes("drawn") == {"first": "yes", "second": "yes"}
    node.stop()


def started_later(work: Callable[[], None], name: str) -> threading.Thread:
    return threading.Thread(target=work, name=name, daemon=True)
