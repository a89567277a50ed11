"""A query without a node: runs the history of its connection points through kernels in this process."""

from __future__ import annotations

from collections.abc import Iterator

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.network import QUARANTINE, Network
from australis.algebra.schema import TS
from australis.app.options import RootOptions
from australis.app.running import start_engine
from australis.engine.history import read_history
from australis.engine.store import SEQ
from australis.errors import EngineError, Problem


def query_history(root: RootOptions, query: Network) -> Iterator[tuple[str, pa.Table]]:
    """What a query makes of the history that a root keeps, as pairs of an output and a table."""
    for name in (name for name, given in query.inputs.items() if given.table):
        what = f"{name!r} is a stored table, which only a node can read"
        raise EngineError(Problem(root.root, what, "`australis run` of its network first"))
    orders = [order for node in query.boxes.values() for order in node.box.orders.values()]
    for name in (name for name, given in query.inputs.items() if given.marked):
        if any(order.by_progress for order in orders):
            what = f"{query.name} goes by the marks of {name!r}, which only a node passes on"
            raise EngineError(Problem(root.root, what, "`australis run` of its network first"))
    engine = start_engine("kernels", query)
    tables = {point: read_history(root.root, point, catalog=root.catalog) for point in query.inputs}
    quarantined = 0
    for point, table in in_sequence(tables):
        moment = pc.max(table[TS].cast(pa.int64())).as_py()
        found = engine.push(point, table.select(list(query.inputs[point].schema.names)), moment)
        quarantined += found[QUARANTINE].num_rows
        yield from ((output, found[output]) for output in query.outputs if found[output].num_rows)
    if quarantined:
        click.echo(f"australis: {quarantined:,} tuples could not be processed", err=True)


def in_sequence(tables: dict[str, Iterator[pa.Table]]) -> Iterator[tuple[str, pa.Table]]:
    """Tables of several streams, cut so that the tuples of all come in the order of their numbers.

    >>> one = iter([pa.table({"#seq": [1, 4, 5]})])
    >>> other = iter([pa.table({"#seq": [2, 3]}), pa.table({"#seq": [9]})])
    >>> [(name, table["#seq"].to_pylist()) for name, table in in_sequence({"a": one, "b": other})]
    [('a', [1]), ('b', [2, 3]), ('a', [4, 5]), ('b', [9])]
    """
    heads = {name: table for name, found in tables.items() if (table := next(found, None)) is not None}
    while heads:
        # Beyond the first of these ends, not every stream is known yet.
        reach = min(table[SEQ][-1].as_py() for table in heads.values())
        ready = {name: table.filter(pc.less_equal(table[SEQ], reach)) for name, table in heads.items()}
        yield from _merged(ready)
        for name in list(heads):
            rest = heads[name].slice(ready[name].num_rows)
            following = rest if rest.num_rows else next(tables[name], None)
            heads = {key: table for key, table in heads.items() if key != name} | (
                {} if following is None else {name: following}
            )


def _merged(ready: dict[str, pa.Table]) -> Iterator[tuple[str, pa.Table]]:
    """Runs of tuples of one stream with no tuple of another between them."""
    names = list(ready)
    numbers = np.concatenate([ready[name][SEQ].to_numpy() for name in names])
    streams = np.repeat(np.arange(len(names)), [ready[name].num_rows for name in names])
    ordered = streams[np.argsort(numbers, kind="stable")]
    cuts = np.flatnonzero(np.diff(ordered)) + 1
    taken = dict.fromkeys(names, 0)
    for begin, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(ordered)], strict=True):
        if end > begin:
            name = names[ordered[begin]]
            yield name, ready[name].slice(taken[name], end - begin)
            taken[name] += end - begin
