"""The page of the demonstration: the editor on a node that gets the hour of connections in six minutes."""

from __future__ import annotations

import threading
from datetime import timedelta

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console

import australis
from australis.app.demo.network import network as demo_network
from australis.app.demo.network import watched
from australis.app.demo.stream import HOUR_S, connections
from australis.client import Client
from australis.errors import ServiceError
from australis.service.serving import serve
from australis.service.settings import ServiceSettings

SPEED = 10
EVERY_S = 0.5
BEGIN_S = 1440
"""The hour begins here, a minute before the scan: who looks does not have to wait for it."""
_HOUR = timedelta(seconds=HOUR_S)


def keep_page(console: Console, seed: int, tuples: int, listen: str) -> None:
    """Serve the editor with the network at work, until Ctrl-C."""
    settings = ServiceSettings.model_validate({"listen": listen, "node": {"runner": "light[1]"}})
    feed = Feed(seed, tuples)

    def announce(url: str) -> None:
        console.print(f"The network at work, to look at and to change: [bold]{url}[/bold]")
        console.print("Ctrl-C ends it (--no-page leaves it out).")
        feed.start(url)

    try:
        serve(settings, announce)
    finally:
        feed.stop()


class Feed:
    """Deploys the network on a node, and pushes the hour of connections again and again."""

    def __init__(self, seed: int, tuples: int) -> None:
        self._network = watched(demo_network())
        self._stream = connections(self._network.inputs["connections"].schema, tuples, seed)
        self._ended = threading.Event()
        self._client: Client | None = None
        self._thread: threading.Thread | None = None

    def start(self, url: str) -> None:
        """Begin, in a thread."""
        self._client = australis.connect(url)
        self._thread = threading.Thread(target=self._run, args=(self._client,), name="australis-demo-feed")
        self._thread.start()

    def stop(self) -> None:
        """Push no more, and wait for the last push."""
        self._ended.set()
        if self._client is not None and self._thread is not None:
            self._client.close()
            self._thread.join()

    def _run(self, client: Client) -> None:
        try:
            client.deploy(self._network)
            begin, hour = self._after(BEGIN_S), self._stream
            while not self._ended.is_set():
                for batch in self._batches(hour.slice(begin)):
                    client.push("connections", batch)
                    if self._ended.wait(EVERY_S):
                        return
                begin, hour = 0, _later(hour)
        except ServiceError:
            # The service ends, or somebody has deployed a network that takes no connections.
            return

    def _batches(self, hour: pa.Table) -> list[pa.Table]:
        size = max(1, round(self._stream.num_rows / HOUR_S * SPEED * EVERY_S))
        return [hour.slice(begin, size) for begin in range(0, hour.num_rows, size)]

    def _after(self, seconds: int) -> int:
        """The place of the first connection after so many seconds of the hour."""
        rows: int = self._stream.num_rows
        return round(rows * seconds / HOUR_S)


def _later(hour: pa.Table) -> pa.Table:
    """The same connections an hour later."""
    place = hour.schema.get_field_index("time")
    return hour.set_column(place, hour.schema.field(place), pc.add(hour["time"], pa.scalar(_HOUR)))
