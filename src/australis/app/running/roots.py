"""What a root holds, and the node that has it open, or one that a command starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

import australis
from australis.algebra.network import Network
from australis.app.options import NodeAddress, RootOptions
from australis.app.running.quiet_start import quietly
from australis.app.running.remote import RemoteNode
from australis.app.showing import announce
from australis.engine import observe
from australis.engine.control import Control, reach
from australis.engine.ledger import Record, has_copies, known_catalog, known_record, restored_catalog
from australis.engine.store import Root, catalog_folder

if TYPE_CHECKING:
    from australis.engine import Node


@contextmanager
def as_of_now(options: RootOptions) -> Iterator[RootOptions]:
    """The same root, to be read only: without the folder of its catalogue, by the copies in the root."""
    root = Root.of(options.root)
    if options.catalog is not None or root.local is not None or not has_copies(root):
        yield options
        return
    with restored_catalog(root) as restored:
        yield replace(options, catalog=restored)


def for_reading(options: RootOptions) -> RootOptions:
    """The same root as of now; what is restored for it is there until the command ends."""
    return click.get_current_context().with_resource(as_of_now(options))


def network_of(options: RootOptions) -> Network:
    """The network that a root holds, including attached queries."""
    return observe.running(_folder(options))


def record_of(options: RootOptions) -> Record:
    """What a root remembers about what runs on it."""
    return known_record(_folder(options))


def optimisations_of(options: RootOptions) -> list[dict[str, Any]]:
    """What the optimiser of a node has done to the network of a root."""
    return observe.optimised(_folder(options))


def reach_node(options: RootOptions) -> Control | None:
    """The node that has a root open, if one answers."""
    return reach(_folder(options))


@contextmanager
def reach_or_start_node(
    options: RootOptions | NodeAddress, check: Callable[[RootOptions], None] = lambda root: None
) -> Iterator[Control | Node | RemoteNode]:
    """The node at an address or on a root, or else a new one there, if `check` allows starting Spark."""
    if isinstance(options, NodeAddress):
        with RemoteNode(options) as remote:
            yield remote
        return
    reached = reach_node(options)
    if reached is not None:
        with reached:
            yield reached
    else:
        check(options)
        with _start_node(options) as node:
            yield node


@contextmanager
def _start_node(options: RootOptions) -> Iterator[Node]:
    """A new node on a root, with the network that it holds."""
    record = record_of(options)
    local = Path(options.root) if "://" not in options.root else None
    with announce(Console(stderr=True, highlight=False), "Starting Spark"), quietly(local):
        # The package's own entry point: Spark is loaded only here.
        node = australis.Node(
            options.root, catalog=options.catalog, discipline=record.discipline, partitions=record.partitions
        )
    with node:
        node.deploy(record.network)
        yield node


def _folder(options: RootOptions) -> Path:
    """The folder of a root's catalogue, which must exist."""
    folder = catalog_folder(Root.of(options.root), options.catalog)
    shown = Path(options.root) if "://" not in options.root and options.catalog is None else folder
    known_catalog(shown)
    return shown
