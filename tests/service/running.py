"""Runs a service in a thread of this process, as `australis serve` does in a process of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue

import httpx

from australis.service.serving.process import Service
from australis.service.settings import ServiceSettings


@contextmanager
def running_service(settings: ServiceSettings) -> Iterator[httpx.Client]:
    """A client of a service that runs in the block and is ready."""
    settings = settings.model_copy(update={"listen": "127.0.0.1:0"})
    told: SimpleQueue[str | BaseException] = SimpleQueue()
    service = Service(settings, told.put)

    def run() -> None:
        try:
            asyncio.run(service.run())
        except BaseException as error:
            told.put(error)

    thread = threading.Thread(target=run, name="australis-service")
    thread.start()
    try:
        url = told.get()
        if isinstance(url, BaseException):
            raise url
        service.host.started.wait()
        with httpx.Client(base_url=url, timeout=60) as client:
            yield client
    finally:
        service.end()
        thread.join()
