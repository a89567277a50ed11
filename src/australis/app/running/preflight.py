"""Refuses runs that cannot work, before Spark or any worker is started."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from australis.app.options import NodeOptions
from australis.app.running.in_process import RunRequest
from australis.engine import NodeSettings
from australis.engine.change import check_deployable
from australis.engine.files import STANDARD_STREAM, open_reader
from australis.engine.ledger import Catalog, has_copies, restored_catalog, view_of
from australis.engine.sinks import is_file
from australis.engine.sources import FileSource, Source
from australis.engine.store import CATALOG, Root, catalog_folder
from australis.engine.tables import check_stores
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Discipline


def check_run(job: RunRequest, options: NodeOptions, sources: Sequence[Source]) -> None:
    """Refuse a run that cannot work because of its files, its stores or its root."""
    _check_ends(job, options, sources)
    _check_folders(job)
    for source in sources:
        if isinstance(source, FileSource) and not source.is_stream:
            format = source.options.format
            open_reader(source.path, source.schema, timezone=job.network.timezone, format=format).close()
    with _catalog(options) as catalog:
        if catalog is not None:
            discipline = None if options.discipline is None else Discipline(options.discipline)
            check_deployable(catalog, job.network, NodeSettings(discipline=discipline))
        if options.root is not None:
            _check_sinks(job, options, catalog)
        check_stores(job.network, catalog)


def _check_ends(job: RunRequest, options: NodeOptions, sources: Sequence[Source]) -> None:
    """Refuse outputs that would appear at the end of a run without an end."""
    files = [path for path in job.targets.values() if path != STANDARD_STREAM]
    endless = [source.input for source in sources if source.is_endless]
    if options.root is None and endless and files:
        what = f"the input {endless[0]} has no end, so {files[0]} would never appear whole"
        raise click.UsageError(f"{what}: add --root DIR, or write to '-'")


def _check_folders(job: RunRequest) -> None:
    """Refuse files in folders that do not exist."""
    for path in (path for path in job.targets.values() if path != STANDARD_STREAM and is_file(path)):
        if not Path(path).resolve().parent.is_dir():
            raise EngineError(Problem(path, "cannot be written", "a folder that is there"))


@contextmanager
def _catalog(options: NodeOptions) -> Iterator[Catalog | None]:
    """The catalogue of the root as it is now, if there is one; copies in the root are the newest."""
    if options.root is None:
        yield None
        return
    root = Root.of(options.root)
    folder = catalog_folder(root, options.catalog)
    if has_copies(root):
        with restored_catalog(root) as restored, view_of(restored) as view:
            yield view
    elif not (folder / CATALOG).is_file():
        yield None
    else:
        with view_of(folder) as view:
            yield view


def _check_sinks(job: RunRequest, options: NodeOptions, catalog: Catalog | None) -> None:
    """Refuse outputs that cannot be written; without a root they are opened before anything starts."""
    for name, path in job.targets.items():
        sink = options.sink(job.network, name, path, job.stream_format)
        known = catalog.consumer(sink.consumer, name) if catalog is not None else None
        sink.check(known[1] if known else None)
