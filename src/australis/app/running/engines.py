"""The engines that a network can run on; those in this process share one interface, of Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from australis import kernels
from australis.algebra.network import Network
from australis.app import running

ENGINES = ("kernels", "reference")
"""The engines of this process."""
SPARK = "spark"
"""The engine that is a node on Spark; it runs by itself, so it has another interface."""


class Engine(Protocol):
    """A running network. Each event returns the new tuples of every output, `quarantine` included."""

    def load(self, name: str, rows: pa.Table) -> dict[str, pa.Table]:
        """Read rows of a stored table, before the first event."""

    def push(self, name: str, batch: pa.Table, now: int) -> dict[str, pa.Table]:
        """Push tuples to an input as one batch."""

    def tick(self, now: int) -> dict[str, pa.Table]:
        """Let time pass."""

    def flush(self, now: int) -> dict[str, pa.Table]:
        """End all streams."""

    def counters(self) -> Mapping[str, Any]:
        """What each box has processed so far."""


def start_engine(name: str, network: Network) -> Engine:
    """A network on the engine of that name, before its first tuple; numba is loaded only if it is needed."""
    return kernels.PipelineRun(network) if name == "kernels" else running.ReferenceEngine(network)
