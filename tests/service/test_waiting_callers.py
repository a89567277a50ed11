"""Callers that wait for an operation: however many they are, all other calls are answered."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import httpx

from australis.service.access import Access
from australis.service.fanout import Fanout
from australis.service.host import Host, Operation
from australis.service.http import create_app
from australis.service.settings import ServiceSettings

MORE_THAN_THREADS = 50
"""The framework has 40 threads for calls."""


def test_callers_that_wait_take_no_threads(tmp_path: Path) -> None:
    settings = ServiceSettings.model_validate({"node": {"root": str(tmp_path), "runner": "light[1]"}})
    host = Host(settings.node)
    host.start()
    may_end = threading.Event()
    operation = host.operations.start(Operation("test", "me"), may_end.wait)
    app = create_app(host, Access(settings), settings, Fanout(lambda: None, settings.outputs))

    async def call() -> list[str]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            path = f"/v1/operations/{operation.id}"
            waiting = [client.get(path, params={"wait_s": 60}) for _ in range(MORE_THAN_THREADS)]
            tasks = [asyncio.create_task(each) for each in waiting]
            try:
                async with asyncio.timeout(20):
                    assert (await client.get("/v1/node")).status_code == 200
            finally:
                may_end.set()
            return [each.json()["state"] for each in await asyncio.gather(*tasks)]

    try:
        assert asyncio.run(call()) == ["done"] * MORE_THAN_THREADS
    finally:
        may_end.set()
        host.stop()
