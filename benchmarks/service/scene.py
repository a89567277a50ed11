"""A service in a process of its own, with a keyed average; and clients in others."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pyarrow as pa

from australis.algebra.builder import NetworkBuilder
from australis.algebra.form import to_json
from australis.algebra.order import Order

KEYS, WINDOW = 1_000, 100
BATCH = 50_000


@contextmanager
def service() -> Iterator[httpx.Client]:
    """A client of a service that runs the network of this scene."""
    net = NetworkBuilder("bench")
    x = net.input("x", "k long not null, t long not null, v double not null, sent long not null")
    order = Order("t", group_by=("k",))
    averaged = x.aggregate({"v": "avg(v)", "last": "max(sent)"}, order, size=WINDOW, as_="average")
    averaged.output("averages")
    net.input("one", "sent long not null").output("same")
    with tempfile.TemporaryDirectory(prefix="bench-service-") as folder:
        command = [
            sys.executable,
            "-m",
            "australis",
            "serve",
            "--root",
            f"{folder}/root",
            "--runner",
            "light",
        ]
        options = ["--listen", "127.0.0.1:0", "--json", "--log-file", f"{folder}/log"]
        process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            address = next(value for value in told.values() if str(value).startswith("http"))
            with httpx.Client(base_url=address, timeout=120) as client:
                while client.get("/readyz").status_code != 200:
                    time.sleep(0.1)
                client.put("/v1/network", json={"network": to_json(net.build())}).raise_for_status()
                yield client
        finally:
            process.terminate()
            process.wait(30)


def flight_address(client: httpx.Client) -> str:
    address: str = client.get("/v1/node").json()["flight"]
    return address


def counted(client: httpx.Client) -> int:
    """How many tuples the average has received."""
    return int(client.get("/v1/boxes/average").json()["statistics"]["received"])


def batch(number: int, sent: int) -> pa.RecordBatch:
    """A batch of the input: every key in turn, in its order."""
    rows = np.arange(number * BATCH, (number + 1) * BATCH)
    columns = {
        "k": rows % KEYS,
        "t": rows // KEYS,
        "v": rows * 0.5,
        "sent": np.full(BATCH, sent),
    }
    return pa.record_batch({name: pa.array(values) for name, values in columns.items()})


class Child:
    """A process that runs a module of this benchmark, and says lines of JSON."""

    def __init__(self, module: str, *arguments: object) -> None:
        command = [sys.executable, "-m", f"benchmarks.service.{module}", *map(str, arguments)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        )

    def said(self) -> dict[str, Any]:
        """The next thing that it says."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"a process of the benchmark has ended: {self._process.wait()}")
        found: dict[str, Any] = json.loads(line)
        return found

    def end(self) -> dict[str, Any]:
        """Tell it to end, and hear what it has found."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        found = self.said()
        self._process.wait(60)
        return found


def place(client: httpx.Client) -> tuple[str, int]:
    """Where HTTP listens."""
    parts = urlsplit(str(client.base_url))
    return parts.hostname or "", parts.port or 0
