"""Looks into a root that a node may have open: nothing is locked, nothing is changed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from australis.algebra.network import Network
from australis.engine.ingest import loaded
from australis.engine.ledger import OPTIMISER, Entry, drop_log, load_queues, plan_in, view_of
from australis.engine.observe.live_network import live
from australis.engine.observe.statistics import Statistics, statistics_of
from australis.engine.store import CATALOG
from australis.engine.worker import GateDropBox


def holds_tables(directory: Path, names: Iterable[str]) -> bool:
    """Whether the root whose catalogue is in a folder has all these stored tables."""
    if not (directory / CATALOG).is_file():
        return False
    with view_of(directory) as view:
        return all(view.position(loaded(name)) is not None for name in names)


def look(directory: Path) -> Statistics:
    """The current statistics in the catalogue of a folder."""
    with view_of(directory) as view:
        made = plan_in(directory, view)
        return statistics_of(made, load_queues(made, view, {}), view)


def shed(directory: Path) -> list[Entry]:
    """All drop boxes so far on the root whose catalogue is in a folder."""
    with view_of(directory) as view:
        return drop_log(view)


def running(directory: Path) -> Network:
    """The network of a root as it runs now: with its drop boxes, and what each has shed so far."""
    with view_of(directory) as view:
        made = plan_in(directory, view)
        entries = [each for each in drop_log(view, withdrawn=0) if each.superbox in made.superboxes]
    standing: dict[str, dict[str, GateDropBox]] = {}
    for each in entries:
        drop_box = GateDropBox(each.number, each.share, each.where)
        standing.setdefault(each.superbox, {})[each.stream] = drop_box
    return live(made, standing, {each.number: _shed_so_far(each) for each in entries})


def optimised(directory: Path) -> list[dict[str, Any]]:
    """What the optimiser of the node on a root has done, the latest last."""
    with view_of(directory) as view:
        found: list[dict[str, Any]] = json.loads(view.meta(OPTIMISER) or "[]")
        return found


def _shed_so_far(entry: Entry) -> str:
    since = datetime.fromtimestamp(entry.since / 1e6, UTC).strftime("%H:%M:%S")
    return f"; {entry.shed:,} of {entry.arrived:,} since {since} UTC"
