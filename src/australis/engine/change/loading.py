"""Loading: the rows of stored tables that a network needs before it runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa

from australis.algebra.network import Network
from australis.engine.change.difference import Difference
from australis.engine.change.switch import NOTHING, Passage, Switch
from australis.engine.files import Rejected
from australis.engine.ingest import Arrival, Ingest, fitting, loaded
from australis.engine.ledger import LOAD, Catalog, Record
from australis.engine.running import Running
from australis.engine.tables import Found, outdated
from australis.errors import EngineError, Problem

Tables = Mapping[str, pa.Table]
_EXPECTED = "tables={...}, or on the command line --table NAME=FILE"


def check_tables(network: Network, catalog: Catalog, tables: Tables, again: Collection[str] = ()) -> None:
    """Refuse a stored table whose rows are neither in the root nor given, or do not fit.

    For tables in `again`, the rows in the root do not count.
    """
    for name, given in network.inputs.items():
        path = f"{network.name}.{name}"
        if given.table and name in tables:
            fitting(path, tables[name], given.schema)
        elif given.table and given.store is None:
            if catalog.position(loaded(name)) is None:
                raise EngineError(Problem(path, "is a stored table without rows", _EXPECTED))
            if name in again:
                what = "is a stored table whose rows are needed again, for a join that starts again"
                raise EngineError(Problem(path, what, _EXPECTED))


def load(
    network: Network,
    catalog: Catalog,
    ingest: Ingest,
    tables: Tables,
    now: int,
    rejected: Mapping[str, Sequence[Rejected]],
) -> None:
    """Load the stored tables that the root lacks, each in a transaction that records it."""
    check_tables(network, catalog, tables)
    for arrival in _store_given(network, catalog, ingest, tables, now, rejected):
        ingest.append(arrival)


def _store_given(
    network: Network,
    catalog: Catalog,
    ingest: Ingest,
    tables: Tables,
    now: int,
    rejected: Mapping[str, Sequence[Rejected]] = MappingProxyType({}),
    again: Collection[str] = (),
) -> list[Arrival]:
    """Write the given rows of tables that the root does not have, or not for this network."""
    noted = {name: loaded(name) for name, given in network.inputs.items() if given.table}
    missing = [name for name, note in noted.items() if catalog.position(note) is None or name in again]
    return [
        Arrival(
            name,
            ingest.store(name, tables[name], 0, network),
            now,
            LOAD,
            rejected.get(name, ()),
            (noted[name], ""),
        )
        for name in missing
        if name in tables
    ]


def switch_to(
    running: Running,
    switch: Switch,
    redraw: Callable[[Record], Record],
    tables: Tables = MappingProxyType({}),
    passage: Passage = NOTHING,
) -> Difference:
    """Switch to another record, loading the rows of stored tables that it needs and the root lacks."""
    ledger, keeper, foreseen = running.ledger, running.keeper, list[Found]()

    def redraw_and_read(known: Record) -> Record:
        record = redraw(known)
        again = outdated(ledger.plan.network, record.whole)
        check_tables(record.whole, ledger.catalog, tables, again)
        foreseen.extend(keeper.read_ahead(record.whole, tables))
        return record

    def arrivals(record: Record) -> list[Arrival]:
        again, now = outdated(ledger.plan.network, record.whole), running.clock()
        given = _store_given(record.whole, ledger.catalog, running.ingest, tables, now, again=again)
        return [*keeper.store_arrivals(foreseen, record.whole), *given]

    found = switch.to(redraw_and_read, arrivals, passage)
    keeper.reschedule()
    return found
