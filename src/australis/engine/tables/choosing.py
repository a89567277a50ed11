"""Whether a stored table is loaded or looked up: as its store says, or else by its size."""

from __future__ import annotations

from australis.algebra.network import Network
from australis.algebra.store import Pull, Store
from australis.engine.tables.needed_rows import join_keys
from australis.engine.tables.stored import Stored

ROWS_LOADED_MOST = 50_000
"""A larger table is looked up, if possible (docs/decisions/0011-stored-tables.md)."""


def chosen(network: Network, name: str, stored: Stored) -> Pull:
    """How joins access a stored table."""
    asked = join_keys(network, name)
    can = bool(asked) and all(stored.looks_up(keys) for keys in asked)
    if stored.store.pull == Pull.LOOKUP and asked and not can:
        expected = "types that the database compares as we do, or pull: load"
        raise stored.trouble(f"cannot be looked up by {', '.join(asked[0])}", expected)
    if stored.store.pull:
        return Pull(stored.store.pull)
    return Pull.LOOKUP if can and stored.size() > ROWS_LOADED_MOST else Pull.LOAD


def described(store: Store) -> str:
    """How a stored table is accessed, as far as that is known before it is opened."""
    if store.pull == Pull.LOOKUP:
        return f"looked up by the keys of each train in {store}"
    if store.pull == Pull.LOAD or not store.table:
        return f"loaded from {store}"
    most = f"{ROWS_LOADED_MOST:,}"
    return f"loaded from {store} if it has at most {most} rows, else looked up by the keys of each train"
