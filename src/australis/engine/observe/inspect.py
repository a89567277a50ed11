"""Looking into a root, beside the node that may have it open: nothing is locked, nothing is changed."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from australis.algebra.network import Network
from australis.engine.ingest.log import loaded
from australis.engine.ledger.catalog import CATALOG, NETWORK, OPTIMISER, VERSION, Catalog
from australis.engine.ledger.queues import Queues
from australis.engine.ledger.record import Record
from australis.engine.observe.live_network import live
from australis.engine.observe.statistics import Statistics, statistics
from australis.engine.steer.drop_boxes import Entry, ledger
from australis.engine.worker.waybill import Mouth
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan


class CatalogView(Catalog):
    """A catalogue as it is at one moment."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        with self._explained():
            self._db = _opened(path)
        try:
            version = self.rows("pragma user_version")[0][0]
            if version != VERSION:
                what, expected = f"has version {version}", f"version {VERSION}"
                raise EngineError(Problem(str(path), what, expected))
        except BaseException:
            self.close()
            raise


def _opened(path: Path) -> sqlite3.Connection:
    """A connection that reads, inside a transaction, so that all it reads is of one moment."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    try:
        return _begun(uri)
    except sqlite3.OperationalError:
        # In a folder that cannot be written SQLite reads only what it may believe never to change.
        if path.with_name(f"{path.name}-wal").exists():
            raise
        return _begun(f"{uri}&immutable=1")


def _begun(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        db.execute("begin")
        db.execute("select count(*) from meta").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def holds_tables(directory: Path, names: Iterable[str]) -> bool:
    """Whether the root whose catalogue is in a folder has all these stored tables."""
    if not (directory / CATALOG).is_file():
        return False
    catalog = CatalogView(directory / CATALOG)
    try:
        return all(catalog.position(loaded(name)) is not None for name in names)
    finally:
        catalog.close()


def look(directory: Path) -> Statistics:
    """The statistics that the catalogue in a folder tells at this moment."""
    catalog = CatalogView(known_catalog(directory))
    try:
        made = known_plan(directory, catalog)
        return statistics(made, Queues(made, catalog), catalog)
    finally:
        catalog.close()


def shed(directory: Path) -> list[Entry]:
    """All drop boxes that ever stood on the root whose catalogue is in a folder."""
    catalog = CatalogView(known_catalog(directory))
    try:
        return ledger(catalog)
    finally:
        catalog.close()


def running(directory: Path) -> Network:
    """The network of a root as it runs at this moment: with its drop boxes, and what each has shed so far."""
    catalog = CatalogView(known_catalog(directory))
    try:
        made = known_plan(directory, catalog)
        entries = [each for each in ledger(catalog, withdrawn=0) if each.superbox in made.superboxes]
    finally:
        catalog.close()
    standing: dict[str, dict[str, Mouth]] = {}
    for each in entries:
        mouth = Mouth(each.number, each.share, each.where)
        standing.setdefault(each.superbox, {})[each.stream] = mouth
    return live(made, standing, {each.number: _shed_so_far(each) for each in entries})


def optimised(directory: Path) -> list[dict[str, Any]]:
    """What the optimiser of the node on a root has done, the last of it last."""
    catalog = CatalogView(known_catalog(directory))
    try:
        found: list[dict[str, Any]] = json.loads(catalog.meta(OPTIMISER) or "[]")
        return found
    finally:
        catalog.close()


def _shed_so_far(entry: Entry) -> str:
    since = datetime.fromtimestamp(entry.since / 1e6, UTC).strftime("%H:%M:%S")
    return f"; {entry.shed:,} of {entry.arrived:,} since {since} UTC"


def known_catalog(directory: Path) -> Path:
    """The catalogue in a folder, which must have one."""
    path = directory / CATALOG
    if not path.is_file():
        what = "is no root of a node" if directory.is_dir() else "there is no such folder"
        raise EngineError(Problem(str(directory), what, "a folder that `australis run --root` has made"))
    return path


def known_plan(directory: Path, catalog: Catalog) -> Plan:
    """The plan of the network that a catalogue tells of."""
    return _record(directory, catalog).plan


def known_record(directory: Path) -> Record:
    """What the root remembers of what runs on it, whose catalogue is in a folder."""
    catalog = CatalogView(known_catalog(directory))
    try:
        return _record(directory, catalog)
    finally:
        catalog.close()


def _record(directory: Path, catalog: Catalog) -> Record:
    record = catalog.meta(NETWORK)
    if record is None:
        raise EngineError(Problem(str(directory), "holds no network so far"))
    return Record.from_json(record)
