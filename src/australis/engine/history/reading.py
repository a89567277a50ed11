"""Reading history: all that a connection point keeps, or a selection of it, in the order of numbers.

In: the list of an arc's segments at one moment, including runs. Out: tables. A node reads its own history;
other processes read that of a root, whether or not a node has it open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from australis.engine.history.pieces import Piece, pieces
from australis.engine.history.questions import Question, arc_of, question
from australis.engine.ledger import ALL, Ledger, plan_in, view_of
from australis.engine.store import Root, Segment, catalog_folder, staged
from australis.errors import EngineError

CHUNK_ROWS = 100_000
"""About how many tuples of small segments are read together."""


def read_history(
    root: str | Path,
    point: str,
    *,
    catalog: str | Path | None = None,
    where: str | None = None,
    since_us: int | None = None,
    until_us: int | None = None,
    columns: Sequence[str] | None = None,
    limit: int | None = None,
) -> Iterator[pa.Table]:
    """What a connection point of a root keeps, as it is when this is called; a node may have the root open.

    The tables have the attributes, `#ts` and `#seq`, and come in the order of the numbers. `where` is a
    predicate; `since_us` and `until_us` are times of arrival; `limit` is the most tuples.
    """
    place = Root.of(root)
    folder = catalog_folder(place, catalog)
    with view_of(folder) as view:
        made = plan_in(folder, view)
        asked = question(made, point, where=where, since_us=since_us, until_us=until_us, columns=columns)
        found = view.segments(asked.arc)
    return limited(_followed(place, folder, asked, found), limit)


def runs_of(root: str | Path, point: str, *, catalog: str | Path | None = None) -> list[str]:
    """The files of a connection point's history below a root, in the order of their tuples.

    Points on one arc share them, and a renamed point has some under its old name.
    """
    place = Root.of(root)
    folder = catalog_folder(place, catalog)
    with view_of(folder) as view:
        arc = arc_of(plan_in(folder, view).network, point)
        runs = [segment for segment in view.segments(arc) if segment.is_run]
    return [_name_of(place, run) for run in sorted(runs, key=lambda run: run.base)]


def recall(ledger: Ledger, asked: Question, limit: int | None = None) -> Iterator[pa.Table]:
    """What a running node keeps of a connection point at this moment."""
    reader = ledger.enter()
    found = ledger.queues.segments.get(asked.arc, ())
    tables = (table for _, table in _answers(ledger.root, asked, found, 0, ALL))
    held = _held(ledger, reader, limited(tables, limit))
    next(held)
    return (table for table in held if table is not None)


def _held(ledger: Ledger, reader: int, tables: Iterable[pa.Table]) -> Iterator[pa.Table | None]:
    """Tables of files that are kept until all are read, or nobody asks for more."""
    try:
        yield None  # It has started, so that closing it is noticed even if nobody ever asks for a table.
        yield from tables
    finally:
        ledger.leave(reader)


def limited(tables: Iterable[pa.Table], limit: int | None) -> Iterator[pa.Table]:
    """The first tuples of some tables, without empty ones."""
    left = limit
    for table in tables:
        if left is not None and left <= table.num_rows:
            yield from [table.slice(0, left)] if left else []
            return
        left = None if left is None else left - table.num_rows
        if table.num_rows:
            yield table


def _answers(
    root: Root, asked: Question, segments: Iterable[Segment], lo: int, hi: int
) -> Iterator[tuple[int, pa.Table]]:
    """The answers of an arc's segments from `lo` up to `hi`, each with the number after it."""
    for chunk in chunks(pieces(each for each in segments if asked.concerns(each)), lo):
        yield chunk.end, asked.answer(root, chunk.segments, lo, hi)


def chunks(found: Iterable[Piece], lo: int) -> Iterator[Piece]:
    """Pieces from a number on, small ones together."""
    begun: Piece | None = None
    for piece in (each for each in found if each.end > lo):
        if begun is not None and begun.rows + piece.rows > CHUNK_ROWS:
            yield begun
            begun = None
        begun = piece if begun is None else Piece((*begun.segments, *piece.segments), piece.end)
    if begun is not None:
        yield begun


# --- while a node runs


def _followed(root: Root, folder: Path, asked: Question, found: list[Segment]) -> Iterator[pa.Table]:
    """The answers of a list of segments; if one of its files is gone by now, a newer list continues.

    The newer list is read only up to the end of the older one, so all is of one moment, except what expires.
    """
    lo, end = 0, max((segment.end for segment in found), default=0)
    while True:
        try:
            for reached, table in _answers(root, asked, found, lo, end):
                lo = reached
                yield table
            return
        except EngineError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            older, found = found, _newer(folder, asked.arc, lo, end)
            # A file that is missing while the list is unchanged was not just replaced.
            if found == older:
                raise


def _newer(folder: Path, arc: str, lo: int, end: int) -> list[Segment]:
    with view_of(folder) as view:
        return view.segments(arc, lo, end)


def _name_of(root: Root, run: Segment) -> str:
    """Where a run is: one that was just committed may not be published yet."""
    is_staged = not root.exists(run.name) and root.exists(staged(run.name))
    return staged(run.name) if is_staged else run.name
