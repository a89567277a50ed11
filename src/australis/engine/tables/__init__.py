"""Stored tables: files and tables of databases that inputs are decorated with, read as Arrow.

In: a store and the schema that its rows should have. Out: rows of that schema, and separately those that do
not fit; new versions of tables as events of the log; rows by key, for joins that look them up.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.engine.tables.choosing import described
    from australis.engine.tables.known_tables import Tables, TableState, outdated, table_states
    from australis.engine.tables.lookup import LookupFailed, lookups, renew
    from australis.engine.tables.reading import Found, StoreReader, note_of
    from australis.engine.tables.refresh import Keeper, check_stores
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "choosing": ("described",),
            "known_tables": (
                "TableState",
                "Tables",
                "outdated",
                "table_states",
            ),
            "lookup": (
                "LookupFailed",
                "lookups",
                "renew",
            ),
            "reading": (
                "Found",
                "StoreReader",
                "note_of",
            ),
            "refresh": (
                "Keeper",
                "check_stores",
            ),
        },
    )

__all__ = [
    "Found",
    "Keeper",
    "LookupFailed",
    "StoreReader",
    "TableState",
    "Tables",
    "check_stores",
    "described",
    "lookups",
    "note_of",
    "outdated",
    "renew",
    "table_states",
]
