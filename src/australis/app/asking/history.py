"""What a connection point of a root keeps, as tuples or as the names of its files; no node is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from australis.app.options import RootOptions
from australis.engine.history import read_history, runs_of
from australis.engine.store import Root


def history_of(options: RootOptions, point: str, **wanted: Any) -> Iterator[pa.Table]:
    """The tuples that a connection point keeps, in order; `wanted` is as for `read_history`."""
    return read_history(options.root, point, catalog=options.catalog, **wanted)


def history_files(options: RootOptions, point: str) -> list[str]:
    """The files of a connection point's history, in the order of their tuples."""
    root = Root.of(options.root)
    return [root.path(run) for run in runs_of(options.root, point, catalog=options.catalog)]
