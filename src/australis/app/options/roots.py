"""The root that a command is about, and the node that has it open, if one does."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console

from australis.algebra.network import Network
from australis.app.options.networks import functions_option, import_python
from australis.app.running.quiet_start import quietly
from australis.app.showing.progress import announced
from australis.engine.control.client import Control, reach
from australis.engine.store.home import catalog_folder
from australis.engine.store.root import Root

if TYPE_CHECKING:
    from australis.engine.ledger.record import Record
    from australis.engine.node import Node

Command = TypeVar("Command", bound=Callable[..., Any])
ROOT = "AUSTRALIS_ROOT"

_OPTIONS = (
    click.option(
        "--root",
        metavar="DIR",
        envvar=ROOT,
        required=True,
        help=f"The root of the node, as of `australis run --root`. Default: ${ROOT}.",
    ),
    click.option(
        "--catalog",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="The folder of the catalogue of a root that is a URI.",
    ),
    functions_option,
)


def root_options(command: Command) -> Command:
    """The options --root, --catalog and --functions."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Place:
    """Where a root is."""

    root: str
    catalog: Path | None

    @classmethod
    def taken(cls, options: dict[str, Any]) -> Place:
        """Take the options out of a command's, and import the functions that they name."""
        for name in options.pop("function_files"):
            import_python(name)
        return cls(options.pop("root"), options.pop("catalog"))

    @property
    def folder(self) -> Path:
        """Where the catalogue is, which must be there."""
        folder = catalog_folder(Root.of(self.root), self.catalog)
        shown = Path(self.root) if "://" not in self.root and self.catalog is None else folder
        _viewing().known_catalog(shown)
        return shown

    def node(self) -> Control | None:
        """The node that has the root open, if there is one that answers."""
        return reach(self.folder)

    def network(self) -> Network:
        """The network that the root holds, with the queries that are attached."""
        network: Network = _looking().running(self.folder)
        return network

    def record(self) -> Record:
        """What the root remembers of what runs on it."""
        found: Record = _viewing().known_record(self.folder)
        return found

    @contextmanager
    def served(self, check: Callable[[], None] = lambda: None) -> Iterator[Control | Node]:
        """The node that has the root open, or else one of our own, if a `check` lets Spark start for it."""
        reached = self.node()
        if reached is not None:
            with reached:
                yield reached
        else:
            check()
            with self.opened() as node:
                yield node

    @contextmanager
    def opened(self) -> Iterator[Node]:
        """A node of our own on the root, with the network that it holds."""
        record = self.record()
        local = Path(self.root) if "://" not in self.root else None
        node_class = importlib.import_module("australis.engine.node").Node
        with announced(Console(stderr=True, highlight=False), "Starting Spark"), quietly(local):
            node: Node = node_class(
                self.root,
                catalog=self.catalog,
                discipline=record.discipline,
                partitions=record.partitions,
            )
        with node:
            node.deploy(record.network)
            yield node


def _looking() -> Any:
    """The module that looks into roots, which takes its time to load."""
    return importlib.import_module("australis.engine.observe.inspect")


def _viewing() -> Any:
    """The module that finds the catalogues of roots, and what they remember."""
    return importlib.import_module("australis.engine.ledger.view")
