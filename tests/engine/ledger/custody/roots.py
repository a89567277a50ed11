"""What the tests of custody share: small roots, opened without Spark, closed or killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.engine.in_process import InProcess

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.crash_points import VARIABLE

REPOSITORY = Path(__file__).parents[4]


def network() -> Network:
    net = NetworkBuilder("small")
    net.input("s", "k long").filter("k >= 0", as_="all").output("out")
    return net.build()


@contextmanager
def opened(root: Path | str, catalog: Path | None = None) -> Iterator[Node]:
    """A node on a root, whose tasks run in this process."""
    with Node(root, catalog=catalog, runner=InProcess()) as node:
        node.deploy(network())
        yield node


def push(node: Node, *values: int) -> None:
    for value in values:
        node.push("s", pa.table({"k": [value]}))
    node.drain()


def values(node: Node) -> list[int]:
    """All that came out."""
    found: list[int] = node.read("out")["k"].to_pylist()
    return found


def owner(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / "owner.json").read_text())
    return found


def change_owner(root: Path, /, **given: Any) -> None:
    (root / "owner.json").write_text(json.dumps(owner(root) | given))


def files(root: Path) -> set[str]:
    """The files of tuples and states."""
    kinds = ("segments", "states", "history")
    return {str(path.relative_to(root)) for kind in kinds for path in (root / kind).rglob("*.*")}


def trash(root: Path) -> set[str]:
    """The names that files in the trash had."""
    paths = (path.relative_to(root / "trash") for path in (root / "trash").rglob("*") if path.is_file())
    return {str(Path(*path.parts[1:])) for path in paths}


_KILLED = """
import os, signal, sys
from pathlib import Path
from tests.engine.ledger.custody.roots import opened, push
with opened(Path(sys.argv[1])) as node:
    # What comes next is in the journal alone.
    node._ledger.catalog.rows("pragma wal_checkpoint(truncate)")
    push(node, *range(int(sys.argv[2])))
    if len(sys.argv) > 3:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(root: Path, pushes: int = 50, point: str = "") -> None:
    """A node that is killed after some pushes, or at a crash point."""
    arguments = [str(root), str(pushes), *([] if point else ["now"])]
    environment = {**os.environ, VARIABLE: point and f"{point}:1"}
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED, *arguments], cwd=REPOSITORY, env=environment, check=False
    )
    assert ended.returncode == -9
