"""What was read of stores and stored tables, and is of no use to another network."""

from __future__ import annotations

from australis.algebra.network import Input, Network, Ref
from australis.algebra.store import Store
from australis.rewrite.rewrite import kept


def outdated(old: Network, new: Network) -> frozenset[str]:
    """The inputs of a network whose rows another one has no more, or has to read again.

    The rows of a table are the state of its joins, and go with them.
    """
    states = kept(old, new)
    return frozenset(
        name
        for name, given in old.inputs.items()
        if (given.table or given.store)
        and (name not in new.inputs or _is_elsewhere(given, new.inputs[name]) or readers(new, name) - states)
    )


def readers(network: Network, name: str) -> frozenset[str]:
    """The joins that read a stored table."""
    is_table = network.inputs[name].table
    return frozenset(box for box, _ in network.consumers.get(Ref(name), ()) if is_table)


def _is_elsewhere(before: Input, after: Input) -> bool:
    """Whether an input has another store than it had."""
    return after.store is not None and place(before.store) != place(after.store)


def place(store: Store | None) -> tuple[str, str] | None:
    """Where the rows of a store are, however they are read."""
    return None if store is None else (store.at, store.table)
