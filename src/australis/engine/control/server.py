"""The control channel in the node's process: listens for local clients, and serves each in a thread."""

from __future__ import annotations

import logging
import socket
import threading
import time
from pathlib import Path

from australis.engine.control.address import listen
from australis.engine.control.channel import Channel, is_readable
from australis.engine.control.messages import australis_version
from australis.engine.control.node_protocol import Served
from australis.engine.control.queries import Queries
from australis.engine.control.session import Session
from australis.errors import EngineError, Problem

PATIENCE_S = 600.0
"""The seconds after which a client that reads nothing of what it asked for counts as gone."""
CLIENTS_MOST = 64
_log = logging.getLogger(__name__)
_GRACE_S, _AGAIN_S = 2.0, 0.1
"""The seconds for last answers, and between attempts to accept a client after one has failed."""


class ControlServer:
    """Serves a node to the clients that find it by the folder of its catalogue, until it is closed.

    Only a client's own threads ever wait for it.
    """

    def __init__(
        self,
        served: Served,
        directory: Path,
        *,
        patience_s: float = PATIENCE_S,
        clients_most: int = CLIENTS_MOST,
    ) -> None:
        self._served, self._directory = served, directory
        self._patience_s, self._clients_most = patience_s, clients_most
        self._queries = Queries(served, directory)
        self._sessions: dict[threading.Thread, Channel] = {}
        self._lock, self._closing = threading.Lock(), threading.Event()
        self._listener, self.place = listen(directory, australis_version())
        # Once one end is closed, everybody who waits for a client can read from the other end.
        self._end, self._ending = socket.socketpair()
        self._thread = threading.Thread(target=self._listen, name="australis-control", daemon=True)
        self._thread.start()

    def sweep(self) -> None:
        """Remove what clients of a killed node have left behind, now that the node runs a network."""
        self._queries.sweep()

    def close(self, *, now: bool = False) -> None:
        """Stop answering: clients that read a query are told that the node ends, and the query is removed.

        With `now` it is removed when the next node on the root runs its network.
        """
        if self._closing.is_set():
            return
        if now:
            self._queries.leave_all()
        self._closing.set()
        self._end.close()
        self._thread.join()
        self.place.remove(self._directory)
        self._listener.close()
        self._dismiss(_GRACE_S)
        self._ending.close()

    def _dismiss(self, grace_s: float) -> None:
        """Wait until every client has its last answer; those that do not read it are abandoned."""
        until = time.monotonic() + grace_s
        with self._lock:
            sessions = dict(self._sessions)
        for thread in sessions:
            thread.join(max(0.0, until - time.monotonic()))
        for thread, channel in sessions.items():
            channel.hang_up()
            thread.join()

    def _listen(self) -> None:
        has_failed = False
        while is_readable(self._listener, self._ending):
            try:
                connected, _ = self._listener.accept()
                has_failed = False
            except OSError as error:
                # A client has gone before it was accepted, or too many files are open.
                if not has_failed:
                    _log.warning("a client cannot be accepted, and is tried again: %s", error)
                has_failed = True
                self._closing.wait(_AGAIN_S)
                continue
            self._receive(Channel(connected, self._patience_s))

    def _receive(self, channel: Channel) -> None:
        thread = threading.Thread(
            target=self._serve, args=(channel,), name="australis-control-client", daemon=True
        )
        with self._lock:
            self._sessions[thread] = channel
        thread.start()

    def _serve(self, channel: Channel) -> None:
        session = Session(channel, self._served, self._queries, self._ending, self._patience_s)
        try:
            session.run(self.place.key, refused=self._crowd())
        finally:
            channel.close()
            with self._lock:
                del self._sessions[threading.current_thread()]

    def _crowd(self) -> EngineError | None:
        """Why no more clients can be served, if so."""
        with self._lock:
            if len(self._sessions) <= self._clients_most:
                return None
        what = f"serves {self._clients_most} clients already"
        return EngineError(Problem("the node", what, "one of them to go first"))
