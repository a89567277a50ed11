"""Loading: the rows of stored tables that are handed to a node, each table once on a root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from australis.algebra.network import Network
from australis.engine.files.rows import Rejected
from australis.engine.ingest import Ingest, loaded
from australis.engine.moments import LOAD
from australis.engine.storage.catalog import Catalog
from australis.errors import EngineError, Problem

Tables = Mapping[str, pa.Table]


def check_tables(network: Network, catalog: Catalog, tables: Tables) -> None:
    """Refuse a network with a stored table that neither the root nor the caller has."""
    for name, given in network.inputs.items():
        known = given.store is not None or catalog.position(loaded(name)) is not None
        if given.table and not known and name not in tables:
            path = f"{network.name}.{name}"
            raise EngineError(Problem(path, "is a stored table without rows", "tables={...}"))


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
