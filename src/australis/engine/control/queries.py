"""The ad hoc queries that clients have attached: their names, their readers, and which are kept."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from australis.algebra.network import Network
from australis.engine.control.node_protocol import Difference, Served
from australis.engine.control.temporary_queries import Guests
from australis.engine.deliver import Attached
from australis.engine.ledger import not_attached
from australis.errors import AustralisError, EngineError, Problem

_NAME = "query"
_log = logging.getLogger(__name__)


class Queries:
    """Attaches queries for clients; each client reads one, and kept ones can be read again later.

    Changes of the network are made one at a time.
    """

    def __init__(self, served: Served, directory: Path) -> None:
        self._served, self._guests = served, Guests(directory)
        self._lock, self._read, self._left = threading.Lock(), set[str](), False
        self._orphans = frozenset(self._guests.names)
        """What the clients of a killed node have left, and is about to be removed."""

    def sweep(self) -> None:
        """Remove what the clients of a killed node have left behind."""
        with self._lock:
            for name in sorted(self._guests.names):
                self._take_away(name)
            self._orphans = frozenset()

    def attached(self) -> dict[str, Network]:
        """The queries that are attached, and stay."""
        found = self._served.attached()
        return {name: query for name, query in found.items() if name not in self._orphans}

    def leave_all(self) -> None:
        """Remove nothing, since there is no time: the next node removes attached queries when it starts."""
        self._left = True

    def attach(self, network: Network, name: str | None, *, keep: bool) -> Attached:
        """Attach a query for a reader; without a name it gets a free one."""
        with self._lock:
            found = name or self._free()
            if not keep and found not in self._served.attached():
                self._guests.add(found)
            try:
                self._served.attach(network, name=found)
            except AustralisError:
                if found not in self._served.attached():
                    self._guests.remove(found)
                raise
            self._read.add(found)
            return Attached(self._served, found, network)

    def join(self, name: str) -> Attached:
        """Give a kept query to a client that resumes reading it."""
        with self._lock:
            attached = self._served.attached()
            if name not in attached:
                raise not_attached(name, attached)
            if name in self._read:
                raise EngineError(Problem(name, "is read by another client", "one client at a time"))
            self._read.add(name)
            return Attached(self._served, name, attached[name])

    def leave(self, name: str) -> None:
        """A reader leaves a query, which is removed unless it is kept."""
        with self._lock:
            self._read.discard(name)
            if name in self._guests.names and not self._left:
                self._take_away(name)

    def detach(self, name: str) -> None:
        """Remove a query, whoever reads it."""
        with self._lock:
            self._served.detach(name)
            self._guests.remove(name)

    def change(self, network: Network, tables: Mapping[str, pa.Table]) -> Difference:
        """Let the node run another network from now on."""
        with self._lock:
            return self._served.change(network, tables=tables)

    def split(self, box: str, into: int, by: Sequence[str], *, any_order: bool, dry_run: bool) -> Difference:
        """Let the node run a box as copies from now on."""
        with self._lock:
            return self._served.split(box, into, by=by, any_order=any_order, dry_run=dry_run)

    def unsplit(self, box: str, *, dry_run: bool) -> Difference:
        """Let the node run a box as one again."""
        with self._lock:
            return self._served.unsplit(box, dry_run=dry_run)

    def _take_away(self, name: str) -> None:
        # If the node cannot do it now, the next one on the root will.
        try:
            if name in self._served.attached():
                self._served.detach(name)
            self._guests.remove(name)
        except EngineError as error:
            _log.warning("the query %s of a client that has gone stays attached: %s", name, error)

    def _free(self) -> str:
        number, taken = 1, self._served.attached()
        while f"{_NAME}{number}" in taken:
            number += 1
        return f"{_NAME}{number}"
