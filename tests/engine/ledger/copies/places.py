"""Roots in an object store whose objects are files: its conditional put is a hard link, which is atomic."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from obstore.store import LocalStore
from tests.engine.in_process import InProcess

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.ledger.copies.copies import COPIES
from australis.engine.store import disk as disks
from australis.engine.store.disk import Data
from australis.engine.store.objects import ObjectDisk

URI = "objects://root"


class Faulty(ObjectDisk):
    """An object store whose next conditional puts of commits can be made to fail."""

    def __init__(self, folder: Path) -> None:
        super().__init__(LocalStore(folder, mkdir=True))
        self.faults: list[Callable[[str, Data], None]] = []

    def create_once(self, name: str, data: Data) -> None:
        if self.faults and name.endswith(".commit"):
            self.faults.pop(0)(name, data)
        super().create_once(name, data)


class Place:
    """A root in an object store, and machines that open it, each with a disk of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.disk = folder, Faulty(folder / "objects")
        monkeypatch.setattr(disks, "_SCHEMES", {"objects": lambda uri: self.disk})

    def node(self, machine: str = "here") -> Node:
        node = Node(URI, catalog=self.folder / machine, runner=InProcess())
        node.deploy(node.recorded() or counting())
        return node

    @contextmanager
    def opened(self, machine: str = "here") -> Iterator[Node]:
        with self.node(machine) as node:
            yield node

    def lose(self, machine: str = "here") -> None:
        """Lose the disk of a machine."""
        shutil.rmtree(self.folder / machine)

    def copies(self) -> list[str]:
        """The names of all copies of the catalogue."""
        return sorted(name.removeprefix(f"{COPIES}/") for name in self.disk.names(COPIES))


def counting() -> Network:
    """Counts of tuples by key."""
    net = NetworkBuilder("counting")
    counts = net.input("s", "k long, t long").aggregate(
        {"n": "count(*)"}, Order("t", group_by=("k",)), size=2
    )
    counts.output("n")
    return net.build()


def push(node: Node, number: int) -> None:
    """Push two tuples, of which one closes a window; pushed again, they have no effect."""
    rows = [{"k": 1, "t": 2 * number}, {"k": 1, "t": 2 * number + 1}]
    node.push("s", rows, now=number, position=("feed", number + 1))


def counted(node: Node) -> list[int]:
    """Where the windows begin that were counted, each of two tuples."""
    node.drain()
    found = node.read("n").to_pylist()
    assert {row["n"] for row in found} <= {2}
    return [row["t"] for row in found]


def kill(node: Node) -> None:
    """End a node as a loss of its machine would: it releases nothing, and writes nothing any more."""
    node.pause()
    node._opened._ownership = None
    node.stop(now=True)
