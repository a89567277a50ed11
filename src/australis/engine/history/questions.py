"""A question about a connection point's history, and the answer from its segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.boxes import predicate
from australis.algebra.expr import Expr, attributes
from australis.algebra.network import Network
from australis.algebra.schema import TS, Schema
from australis.algebra.spans import microseconds
from australis.engine.history.allowed_values import lookup_of
from australis.engine.store import SEQ, Lookup, Root, Segment, merged, read_segment, run_schema, stamped
from australis.errors import EngineError, Problem
from australis.kernels.expressions import evaluate, truths
from australis.plan.superboxes import Plan


@dataclass(frozen=True)
class Question:
    """Tuples that arrived in a time range and satisfy a predicate, and some of their attributes."""

    arc: str
    schema: Schema
    timezone: str
    columns: tuple[str, ...]
    where: Expr | None = None
    since_us: int | None = None
    until_us: int | None = None

    def concerns(self, segment: Segment) -> bool:
        """Whether a segment may have tuples that arrived in that range."""
        return self.since_us is None or segment.newest >= self.since_us

    def answer(self, root: Root, segments: Sequence[Segment], lo: int, hi: int) -> pa.Table:
        """The tuples from number `lo` up to `hi`, by number; no other segments have these numbers."""
        names = self._read_names()
        kept = pa.schema([field for field in run_schema(self.schema) if field.name in (*names, TS, SEQ)])
        by_writer = sorted(segments, key=lambda each: (each.writer, each.part, each.base))
        tables = [stamped(self._read(root, each, names, lo, hi), kept) for each in by_writer]
        return self._filtered(merged(tables)).select([*self.columns, TS, SEQ])

    def _read_names(self) -> list[str]:
        """The attributes to read: those asked for, and those that decide whether a tuple matches."""
        used = {*self.columns, *(attributes(self.where) if self.where is not None else ())}
        return [each.name for each in self.schema if each.name in used or not each.nullable]

    def _read(self, root: Root, segment: Segment, names: list[str], lo: int, hi: int) -> pa.Table:
        lookup = (self._by_key(segment) or self._by_time()) if segment.is_run else None
        return read_segment(root, segment, names, lo, hi, lookup)

    def _by_key(self, segment: Segment) -> Lookup | None:
        if self.where is None or segment.key not in self.schema:
            return None
        return lookup_of(self.where, self.schema[segment.key], self.timezone)

    def _by_time(self) -> Lookup | None:
        if self.since_us is None and self.until_us is None:
            return None
        last = None if self.until_us is None else self.until_us - 1
        return Lookup(TS, "timestamp", ((self.since_us, last),))

    def _filtered(self, table: pa.Table) -> pa.Table:
        if self.where is not None:
            holds = truths(evaluate(self.where, table.combine_chunks(), self.timezone))
            table = table.filter(pa.array(holds))
        if self.since_us is not None:
            table = table.filter(pc.greater_equal(table[TS].cast(pa.int64()), self.since_us))
        if self.until_us is not None:
            table = table.filter(pc.less(table[TS].cast(pa.int64()), self.until_us))
        return table


Instant = datetime | int | str | None
"""A moment: a datetime with a zone, microseconds since 1970, or how long ago as text; None is no limit."""


def instant_us(given: Instant, now_us: int) -> int | None:
    """A moment in microseconds since 1970.

    >>> from datetime import UTC
    >>> instant_us("2 s", 5_000_000), instant_us(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 0)
    (3000000, 1000000)
    """
    if isinstance(given, datetime):
        return round(given.timestamp() * 1e6)
    return now_us - microseconds(given) if isinstance(given, str) else given


def question(
    plan: Plan,
    point: str,
    *,
    where: str | None = None,
    since_us: int | None = None,
    until_us: int | None = None,
    columns: Sequence[str] | None = None,
) -> Question:
    """A question about a connection point in the caller's terms; unknown names are refused."""
    arc = plan.arcs[arc_of(plan.network, point)]
    wanted = tuple(arc.schema[name].name for name in (arc.schema.names if columns is None else columns))
    bound = None if where is None else predicate(where, arc.schema, "where")
    return Question(arc.id, arc.schema, plan.network.timezone, wanted, bound, since_us, until_us)


def arc_of(network: Network, point: str) -> str:
    """The arc of a connection point."""
    if point not in network.connection_points:
        known = ", ".join(network.connection_points)
        expected = f"one of {known}" if known else "a network with connection points"
        raise EngineError(Problem(network.name, f"there is no connection point {point!r}", expected))
    return str(network.connection_points[point].at)
