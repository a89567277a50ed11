"""Our side: each case as a network on a node, over the same files."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.engine.cases import Case
from benchmarks.engine.digest import Digest, digest
from benchmarks.engine.networks import network_of
from pyspark.sql import SparkSession

from australis import Node
from australis.engine.spark import local_session


def session() -> SparkSession:
    """The session that a node would start itself, started earlier so that every pass finds it warm."""
    return local_session(light=True)


def run(case: Case, inputs: Path, root: Path) -> tuple[float, dict[str, Digest]]:
    """Seconds from the first file's adoption until all tuples are through, and the outputs' contents."""
    with Node(root) as node:
        node.deploy(network_of(case.name))
        files = [sorted((inputs / stream).glob("*.parquet")) for stream in case.streams]
        begin = time.perf_counter()
        for together in zip(*files, strict=True):
            for stream, path in zip(case.streams, together, strict=True):
                node.adopt(stream, path)
        node.drain()
        seconds = time.perf_counter() - begin
        return seconds, {output: digest([node.read(output)]) for output in case.outputs}
