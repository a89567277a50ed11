"""What trains have counted, read from the catalogue: for boxes and their ports, and for the last trains."""

from __future__ import annotations

from typing import NamedTuple

from australis.engine.ledger.catalog import Catalog


class TrainCount(NamedTuple):
    """A train of a superbox: how many tuples it took, and how long it ran."""

    received: int
    run_us: int


def box_counts(catalog: Catalog) -> dict[str, tuple[int, ...]]:
    """The counters of every box, in the order of the catalogue's columns after its id."""
    return {row[0]: tuple(row[1:]) for row in catalog.rows("select * from box")}


def box_costs(catalog: Catalog) -> dict[str, tuple[int, int]]:
    """How many tuples reached each box, and how many nanoseconds it took for them."""
    found = catalog.rows("select id, received, nanoseconds from box")
    return {box: (received, nanoseconds) for box, received, nanoseconds in found}


def port_counts(catalog: Catalog) -> dict[str, int]:
    """The tuples that boxes emitted, port by port."""
    return dict(catalog.rows("select ref, tuples from port"))


def last_trains(catalog: Catalog, superbox: str) -> list[TrainCount]:
    """The last trains of a superbox, the oldest first."""
    found = catalog.rows("select received, run_us from train where superbox = ? order by id", superbox)
    return [TrainCount(*row) for row in found]


def last_commit_at(catalog: Catalog) -> int:
    """When the last train was committed; 0 before the first."""
    (last,) = catalog.rows("select coalesce(max(at), 0) from train")[0]
    return int(last)


def taken_and_shed(catalog: Catalog, superbox: str, lo: int, hi: int) -> tuple[int, int] | None:
    """What the trains of a superbox took and shed from `lo` up to `hi`; None if some are forgotten."""
    query = "select count(*), coalesce(min(lo), ?) from train where superbox = ?"
    kept, oldest = catalog.rows(query, lo + 1, superbox)[0]
    if catalog.head(superbox).version > kept and oldest > lo:
        return None
    query = "select sum(received), sum(shed) from train where superbox = ? and lo < ? and hi > ?"
    received, shed = catalog.rows(query, superbox, hi, lo)[0]
    return received or 0, shed or 0
