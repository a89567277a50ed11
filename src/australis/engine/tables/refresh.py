"""The keeper: reads stores for the first time, and again on schedule or on request.

What was read becomes an event of the log, in one transaction with a note of it: a new version of a table
between two tuples, or more tuples of a stream. So other trains, or a restart, give the same result.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from australis.algebra.network import Network
from australis.algebra.store import Pull, Store
from australis.engine.ingest import Arrival, Ingest
from australis.engine.ledger import LOAD, Catalog, Ledger, UnitOfWork
from australis.engine.tables.known_tables import (
    PAUSE_US,
    Tables,
    TableState,
    outdated,
    place,
    table_states,
)
from australis.engine.tables.opening import open_store
from australis.engine.tables.reading import Found, note_of, read
from australis.engine.threads import Thread, Threads
from australis.errors import EngineError, Problem

WAIT_MOST_S = 3600.0
_log = logging.getLogger(__name__)


class Keeper:
    """Keeps what a network has of its stores fresh."""

    def __init__(
        self, ledger: Ledger, ingest: Ingest, tables: Tables, clock: Callable[[], int], threads: Threads
    ) -> None:
        self._ledger, self._ingest, self._tables = ledger, ingest, tables
        self._catalog, self._clock, self._threads = ledger.catalog, clock, threads
        self._has_room: Callable[[str], None] = lambda path: None
        self._reading, self._wake = threads.lock(), threads.event()
        self._thread: Thread | None = None
        self._stopping = False

    @property
    def _network(self) -> Network:
        return self._ledger.plan.network

    # --- life

    def begin(self, given: Collection[str]) -> None:
        """Read every store that was not yet read on this root, except those whose rows are `given`."""
        self._tables.states |= table_states(self._network, self._catalog)
        for name in _stores(self._network):
            note = self._catalog.position(note_of(self._network, name))
            if note is None and name not in given:
                self._take(self._read_store(self._network, name, anew=True))
            elif self._network.inputs[name].table:
                # The note belongs to the event itself; the state may lack what a crash has cut off.
                known = self._tables.states.get(name, TableState())
                self._tables.states[name] = replace(known, how=note or Pull.LOAD.value)

    def start(self, has_room: Callable[[str], None]) -> None:
        """Start refreshing on schedule; `has_room` waits until there is disk space."""
        self._has_room = has_room
        self._look_again()

    def stop(self) -> None:
        """Read no more; what is being read is dropped."""
        self._stopping = True
        self._wake.set()

    # --- on request

    def refresh(self, name: str) -> int:
        """Read a store again, now; returns the end of the log, after which the new rows apply."""
        stores = _stores(self._network)
        if name not in stores:
            what, known = f"{name!r} is no input with a store", ", ".join(stores) or "none"
            raise EngineError(Problem(self._network.name, what, f"one of {known}"))
        try:
            return self._take(self._read_store(self._network, name))
        except EngineError as error:
            self._note_failure(name, error)
            raise

    def read_ahead(self, network: Network, given: Collection[str]) -> list[Found]:
        """Read what another network needs before it runs: new stores, and outdated ones."""
        stores, before = _stores(network), _stores(self._network)
        again = outdated(self._network, network)
        wanted = [name for name in stores if name not in given and (name not in before or name in again)]
        return [
            self._read_store(network, name, anew=place(stores[name]) != place(before.get(name)))
            for name in wanted
        ]

    def store_arrivals(self, foreseen: Sequence[Found], network: Network) -> list[Arrival]:
        """Write what was read for another network to files, ready to be logged when it runs."""
        return [self._store_arrival(found, network) for found in foreseen]

    def reschedule(self) -> None:
        """Follow the schedules of the network that runs now."""
        self._look_again()

    # --- when

    def _look_again(self) -> None:
        """Follow the current schedules, if there are any."""
        if self._thread is None and any(store.refresh for store in _stores(self._network).values()):
            self._thread = self._threads.start(self._keep, "australis-tables")
        self._wake.set()

    def _keep(self) -> None:
        while not self._stopping:
            pause_s = 0.0
            for name in self._due():
                try:
                    self._take(self._read_store(self._network, name))
                except Exception as error:
                    pause_s = max(pause_s, self._try_to_note(name, error))
            self._wake.wait(max(pause_s, self._pause_s()))
            self._wake.clear()

    def _try_to_note(self, name: str, error: Exception) -> float:
        """Note a failure; returns the seconds to wait if even that fails, as on a full disk."""
        try:
            self._note_failure(name, error)
        except EngineError as failure:
            _log.warning("%s.%s: its failure could not be noted: %s", self._network.name, name, failure)
            return PAUSE_US / 1e6
        return 0.0

    def _due(self) -> list[str]:
        now = self._tables.clock()
        return [name for name, store in _stores(self._network).items() if self._at(name, store) <= now]

    def _at(self, name: str, store: Store) -> float:
        """When to read a store next."""
        every, state = store.refresh_us, self._tables.states.get(name, TableState())
        return float("inf") if every is None else max(every + (state.read or 0), state.next_try or 0)

    def _pause_s(self) -> float:
        due = min((self._at(*each) for each in _stores(self._network).items()), default=float("inf"))
        return min(max(0.0, (due - self._tables.clock()) / 1e6), WAIT_MOST_S)

    def _note_failure(self, name: str, error: Exception) -> None:
        """Note what went wrong; even an unexpected error must not end the thread silently."""
        path = f"{self._network.name}.{name}"
        known = error.problem if isinstance(error, EngineError) else Problem(path, repr(error))
        _log.warning("%s: %s", path, known.what)
        if not self._stopping:
            self._tables.note_failure(replace(known, path=path), self._ledger)

    # --- reading and logging

    def _read_store(self, network: Network, name: str, *, anew: bool = False) -> Found:
        """Read what a store has now; how a table is accessed is decided again if it is read `anew`."""
        with self._reading:
            position = None if anew else self._catalog.position(note_of(network, name))
            how = None if anew else self._tables.states.get(name, TableState()).how
            return read(network, name, position, how)

    def _take(self, found: Found) -> int:
        """Log what was read, once there is disk space for it."""
        if found.is_news:
            self._has_room(found.path)
        return self._log(found)

    def _log(self, found: Found) -> int:
        """Log what was read, unless there is nothing new, together with the new state of the table."""
        if self._stopping:
            raise EngineError(Problem(found.path, "was read while the node ended"))
        if not found.is_news:
            with self._ledger.change() as change:
                self._note(change, found)
            return self._ledger.queues.log_end
        with self._ledger.writing():
            end = self._ingest.append(self._store_arrival(found))
        assert end is not None, "what was read has a text as its position, which is never compared"
        version, rows = self._tables.states[found.name].version, found.batch.table.num_rows
        _log.info("%s is read (%s): version %d, %d rows", found.path, found.how, version, rows)
        return end

    def _store_arrival(self, found: Found, network: Network | None = None) -> Arrival:
        """Write what was read to a file; the state of the table is noted once it is logged."""
        now = self._clock()
        stamp = 0 if found.kind == LOAD else now
        segment = self._ingest.store(found.name, found.batch.table, stamp, network)
        return Arrival(
            found.name,
            segment,
            now,
            found.kind,
            found.batch.rejected,
            found.position,
            lambda change: self._note(change, found),
        )

    def _note(self, change: UnitOfWork, found: Found) -> None:
        """Note the state of a table that was read."""
        now = self._tables.clock()

        def read(before: TableState) -> TableState:
            rows = found.rows if found.is_news else before.rows
            return TableState(found.how, before.version + found.is_news, rows, now)

        self._tables.alter(change, found.name, read)


def check_stores(network: Network, catalog: Catalog | None, given: Collection[str] = ()) -> None:
    """Refuse stores that `Keeper.begin` would have to read, and that cannot be opened or do not fit."""
    for name in (name for name in _stores(network) if name not in given):
        if catalog is None or catalog.position(note_of(network, name)) is None:
            open_store(network, name).close()


def _stores(network: Network) -> dict[str, Store]:
    return {name: each.store for name, each in network.inputs.items() if each.store is not None}
