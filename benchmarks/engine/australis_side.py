"""Our side: each case as a network on a node, over the same files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.engine.cases import Case
from benchmarks.engine.digest import Digest, digest
from benchmarks.engine.networks import network_of
from benchmarks.engine.processes import cpu_seconds

from australis import Node

RUNNERS = {"australis": "spark", "light": "light[2]"}


class Runner:
    """Runs a case over the files of its streams, again and again, in one process and on one runner."""

    def __init__(self, case: Case, inputs: Path, runner: str) -> None:
        self._case, self._runner = case, runner
        files = (sorted((inputs / stream).glob("*.parquet")) for stream in case.streams)
        self._files = list(zip(*files, strict=True))
        if runner == "spark":
            # The session that a node would start itself, started earlier so that every pass finds it warm.
            from australis.engine.spark import local_session  # noqa: PLC0415

            local_session(light=True)

    def run(self, root: Path) -> tuple[float, float, dict[str, Digest]]:
        """The clock and the cores' time from the second file to the last commit, and what came out."""
        with Node(root, runner=self._runner) as node:
            node.deploy(network_of(self._case.name))
            self._take(node, self._files[:1])
            used, begin = cpu_seconds(), time.perf_counter()
            self._take(node, self._files[1:])
            seconds, cpu = time.perf_counter() - begin, cpu_seconds() - used
            return seconds, cpu, {output: digest([node.read(output)]) for output in self._case.outputs}

    def _take(self, node: Node, files: Sequence[tuple[Path, ...]]) -> None:
        """Give files to the node, and wait until all that follows from them is committed."""
        for together in files:
            for stream, path in zip(self._case.streams, together, strict=True):
                node.adopt(stream, path)
        node.drain()
