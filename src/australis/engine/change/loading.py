"""Loading: the rows of stored tables that a network needs before it runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa

from australis.algebra.network import Network
from australis.engine.change.difference import Change
from australis.engine.change.switch import Switching
from australis.engine.files.rows import Rejected
from australis.engine.ingest.log import Ingest, fitting, loaded
from australis.engine.ledger.catalog import Catalog
from australis.engine.ledger.record import Record
from australis.engine.running import Running
from australis.engine.tables.outdated import outdated
from australis.engine.tables.reading import Found
from australis.engine.train.moments import LOAD
from australis.errors import EngineError, Problem

Tables = Mapping[str, pa.Table]
_EXPECTED = "tables={...}, or on the command line --table NAME=FILE"


def check_tables(network: Network, catalog: Catalog, tables: Tables, again: Collection[str] = ()) -> None:
    """Refuse a stored table of which neither the root nor the caller has rows, or has some that do not fit.

    What the root has of tables that are needed `again` does not count.
    """
    for name, given in network.inputs.items():
        path = f"{network.name}.{name}"
        if given.table and name in tables:
            fitting(path, tables[name], given.schema)
        elif given.table and given.store is None:
            if catalog.position(loaded(name)) is None:
                raise EngineError(Problem(path, "is a stored table without rows", _EXPECTED))
            if name in again:
                what = "is a stored table whose rows are needed again, for a join that begins anew"
                raise EngineError(Problem(path, what, _EXPECTED))


def load(
    network: Network,
    catalog: Catalog,
    ingest: Ingest,
    tables: Tables,
    now: int,
    rejected: Mapping[str, Sequence[Rejected]],
) -> None:
    """Load the stored tables that the root does not have, each in a transaction that says so."""
    check_tables(network, catalog, tables)
    noted = {name: loaded(name) for name, given in network.inputs.items() if given.table}
    for name in [name for name, note in noted.items() if catalog.position(note) is None]:
        stored, bad = ingest.store(name, tables[name], 0), rejected.get(name, ())
        ingest.append(name, stored, now, kind=LOAD, rejected=bad, position=(noted[name], ""))


def switched(
    running: Running,
    switching: Switching,
    redrawn: Callable[[Record], Record],
    tables: Tables = MappingProxyType({}),
) -> Change:
    """Switch to another record, with the rows of the stored tables that it needs and nothing has."""
    ground, foreseen = running.ground, list[Found]()

    def redrawn_and_read(known: Record) -> Record:
        record = redrawn(known)
        check_tables(record.whole, ground.catalog, tables, outdated(ground.plan.network, record.whole))
        foreseen.extend(running.keeper.foreseen(record.whole, tables))
        return record

    def then() -> None:
        running.keeper.take(foreseen)
        load(ground.plan.network, ground.catalog, running.ingest, tables, ground.clock(), {})

    return switching.to(redrawn_and_read, then)
