"""Tuples a second as JSON lines over HTTP, and the delay from a push to a client of server-sent events."""

from __future__ import annotations

import json
import statistics
import threading
import time

import httpx
from benchmarks.service.scene import service

Figures = dict[str, float]
BATCH, CLIENTS = 1_000, 4
ALONE = 100


def measure(tuples: int = 200_000) -> Figures:
    """Four connections that push a thousand tuples at a time; then single tuples that are followed."""
    with service() as client:
        address = str(client.base_url)
        _push(address, 5)
        began = time.time()
        threads = [
            threading.Thread(target=_push, args=(address, tuples // BATCH // CLIENTS)) for _ in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {"http_tps": tuples / (time.time() - began), "sse_ms": _delay_ms(client)}


def _push(address: str, batches: int) -> None:
    rows = ({"k": k, "t": k, "v": k * 0.5, "sent": k} for k in range(BATCH))
    body = "".join(json.dumps(row) + "\n" for row in rows).encode()
    with httpx.Client(base_url=address, timeout=120) as client:
        for _ in range(batches):
            headers = {"Content-Type": "application/x-ndjson"}
            client.post("/v1/inputs/x/tuples", content=body, headers=headers).raise_for_status()


def _delay_ms(client: httpx.Client) -> float:
    """The median of what passes between a push and its event."""
    found = []
    with client.stream("GET", "/v1/outputs/same/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        for _ in range(ALONE):
            began = time.perf_counter()
            client.post("/v1/inputs/one/tuples", json={"sent": 1}).raise_for_status()
            next(line for line in lines if line.startswith("data:"))
            found.append((time.perf_counter() - began) * 1000)
    return statistics.median(found)
