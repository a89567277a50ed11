"""Runs the service: starts everything, waits for a signal, ends everything in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Iterator, Sequence

import uvicorn
from fastapi import FastAPI

from australis.engine.store import catalog_folder
from australis.service.access import AUDIT_FILE, Access, AuditLog, check_exposure
from australis.service.fanout import Fanout
from australis.service.feeds import Feeds
from australis.service.flight import FlightDoor
from australis.service.host import Host
from australis.service.http import Context, create_app
from australis.service.neighbours import Neighbours
from australis.service.serving.listening import check_certificate, listen
from australis.service.settings import ServiceSettings
from australis.service.tracing import open_traces

_log = logging.getLogger(__name__)
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve(settings: ServiceSettings, announce: Callable[[str], None]) -> signal.Signals | None:
    """Serve until a signal comes; `announce` is told the address. Returns a second signal, if one came.

    The first signal lets calls and trains end that are under way, the second one does not.
    """
    return asyncio.run(Service(settings, announce).run(_SIGNALS))


class _Server(uvicorn.Server):
    """Uvicorn, which says when it listens, and leaves signals to us."""

    heard: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.heard()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Service:
    """One run of the service."""

    def __init__(self, settings: ServiceSettings, announce: Callable[[str], None]) -> None:
        self._settings, self._announce = settings, announce
        check_certificate(settings.tls)
        check_exposure(settings)
        self.access = Access(settings)
        traces = open_traces(settings.tracing)
        self.host = Host(
            settings.node,
            Feeds(settings.feeds),
            rules=self.access.rules,
            traces=traces,
            neighbours=Neighbours(settings.cluster),
        )
        self.fanout = Fanout(lambda: self.host.running, settings.outputs)
        self._flight: FlightDoor | None = None
        self.app = create_app(self.host, self.access, settings, self.fanout)
        self._context: Context = self.app.state.context
        self._server = _Server(_config(self.app, settings))
        self._server.heard = self._tell
        self._signals: list[signal.Signals] = []
        self._bound = listen(settings)
        if settings.flight.enabled:
            self._serve_flight()

    async def run(self, signals: Sequence[signal.Signals] = ()) -> signal.Signals | None:
        """Serve until `end`, or one of some signals, and stop in order: first the calls, then the node."""
        self._loop = asyncio.get_running_loop()
        for number in signals:
            self._loop.add_signal_handler(number, self._hear, number)
        starting = asyncio.create_task(asyncio.to_thread(self._start), name="australis-start")
        starting.add_done_callback(self._end_if_failed)
        self.fanout.start()
        try:
            await self._server.serve(sockets=[self._bound])
        finally:
            self._bound.close()
            await asyncio.to_thread(self._close_streams)
            await asyncio.wait([starting])
            await asyncio.to_thread(self.host.stop, now=len(self._signals) > 1)
        starting.result()
        return self._signals[1] if len(self._signals) > 1 else None

    def end(self) -> None:
        """End the service, from another thread: what `SIGTERM` does."""
        with contextlib.suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        self.host.stopping.set()
        # Streams end first: the server waits for them.
        self._loop.run_in_executor(None, self._close_streams)
        self._server.should_exit = True

    def _start(self) -> None:
        """Open the node, and what is beside it."""
        self.host.start()
        access, root = self._settings.access, self.host.root
        folder = catalog_folder(root, self._settings.node.catalog)
        self._context.audit = AuditLog(
            access.audit or folder / AUDIT_FILE, size_most=access.audit_bytes, files_most=access.audit_files
        )

    def _serve_flight(self) -> None:
        door = FlightDoor(self.host, self.access, self._settings, self.fanout)
        try:
            self.app.state.context.flight = door.start(self._bound.getsockname()[1])
        except BaseException:
            self._bound.close()
            raise
        self._flight = door

    def _close_streams(self) -> None:
        """End all streams, which would last as long as the service."""
        self.fanout.close()
        flight, self._flight = self._flight, None
        if flight is not None:
            flight.close()

    def _tell(self) -> None:
        name, port, *_ = self._bound.getsockname()
        scheme = "https" if self._settings.tls.certificate else "http"
        self._announce(f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}")

    def _hear(self, number: signal.Signals) -> None:
        self._signals.append(number)
        _log.info("%s: the service stops%s", number.name, " at once" if len(self._signals) > 1 else "")
        self._stop()
        self._server.force_exit = len(self._signals) > 1

    def _end_if_failed(self, starting: asyncio.Task[None]) -> None:
        if starting.exception() is not None:
            self._server.should_exit = True


def _config(app: FastAPI, settings: ServiceSettings) -> uvicorn.Config:
    tls = settings.tls
    return uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        ssl_certfile=tls.certificate,
        ssl_keyfile=tls.key,
        timeout_graceful_shutdown=max(1, round(settings.access.limits.drain_s)),
    )
