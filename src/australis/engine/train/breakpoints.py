"""Breakpoints: a node pauses before the train that would take a tuple that satisfies a predicate.

A train ends before such a tuple, so all that is before it has run; then no train starts until somebody
resumes or steps. They are for looking, like a debugger's: nothing of them is stored, and ad hoc queries do
not heed them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import predicate
from australis.algebra.expr import Expr, attributes
from australis.algebra.schema import TS, Schema
from australis.engine.ledger import Ledger, Queues
from australis.engine.store import SEQ, Segment, read_segment
from australis.engine.worker import Waybill
from australis.errors import AustralisError, EngineError, Problem
from australis.kernels.expressions import evaluate, truths
from australis.plan.superboxes import Plan, Superbox

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stop:
    """Where a node has paused: the tuple that satisfies the predicate, and whose train would take it."""

    superbox: str
    seq: int
    tuple: Mapping[str, Any]
    """Its attributes, `#ts` and `#seq`."""


@dataclass(frozen=True)
class Breakpoint:
    """A predicate on an arc, and what came of it so far."""

    arc: str
    where: str = "true"
    stops: int = 0
    """How often it has paused the node."""
    stop: Stop | None = None
    """Where it has, if the node still waits there."""
    problem: str = ""
    """Why it can pause nothing in the network that runs now; empty if it can."""


@dataclass(frozen=True)
class Found:
    """The first tuple of a train that a breakpoint waits for."""

    name: str
    stop: Stop


class Breakpoints:
    """The breakpoints of a node. Only the thread that decides on the next train may use it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: dict[str, Breakpoint] = {}
        self._passed: dict[str, int] = {}
        """The number before which tuples are let through: a breakpoint pauses once for each number."""

    # --- what there is

    def add(self, name: str, arc: str, where: str) -> None:
        """Add a breakpoint, or replace the one of its name."""
        plan = self._ledger.queues.plan
        _check_arc(plan, arc)
        predicate(where, plan.arcs[arc].schema, "where")
        self.remove(name)
        self._known[name] = Breakpoint(arc, where)

    def remove(self, name: str) -> bool:
        """Remove a breakpoint; whether there was one."""
        self._passed.pop(name, None)
        return self._known.pop(name, None) is not None

    def listed(self) -> dict[str, Breakpoint]:
        """All of them by name."""
        plan = self._ledger.queues.plan
        return {name: replace(each, problem=_problem(plan, each)) for name, each in self._known.items()}

    def release(self) -> None:
        """Let the tuples through at which the node has paused."""
        for name, each in self._known.items():
            if each.stop is not None:
                self._let(name, each.stop)
                self._known[name] = replace(each, stop=None)

    # --- deciding on a train

    def apart(self, queues: Queues, members: tuple[str, ...]) -> tuple[str, ...]:
        """The superboxes of the next train: only the first, if the others would take tuples unseen."""
        watched = {each.arc for each in self._known.values()}
        inner = (arc for member in members[1:] for arc in queues.plan.superboxes[member].arcs)
        return members[:1] if watched and not watched.isdisjoint(inner) else members

    def first(self, queues: Queues, superbox: Superbox, waybill: Waybill) -> Found | None:
        """The first tuple of a train that a breakpoint waits for."""
        if not self._known or queues.plan.query_of(superbox.members[0]) is not None:
            return None
        lo, hi = waybill.time_slices[0].lo, waybill.time_slices[-1].hi
        streams = {arc: waybill.streams.get(name, ()) for name, arc in superbox.streams.items()}
        first: Found | None = None
        for name, each in self._known.items():
            segments = streams.get(each.arc, ())
            if not segments or _problem(queues.plan, each):
                continue
            try:
                seq = self._first_number(queues.plan, each, segments, max(lo, self._passed.get(name, 0)), hi)
                if seq is not None and (first is None or seq < first.stop.seq):
                    row = self._row(queues.plan, each, segments, seq)
                    first = Found(name, Stop(superbox.id, seq, row))
            except AustralisError as error:
                # Who only looks must not stop the trains: if the tuples are to blame, the train will say so.
                _log.warning("the breakpoint %s is passed over: %s", name, error)
        return first

    def note(self, found: Found, *, stepping: bool) -> None:
        """Note that a train begins with the tuple found; who steps lets it through."""
        known = self._known[found.name]
        if stepping:
            self._let(found.name, found.stop)
            self._known[found.name] = replace(known, stop=None)
            return
        self._known[found.name] = replace(known, stops=known.stops + 1, stop=found.stop)
        _log.info(
            "paused at the breakpoint %s, before number %d of %s", found.name, found.stop.seq, known.arc
        )

    def _let(self, name: str, stop: Stop) -> None:
        self._passed[name] = max(self._passed.get(name, 0), stop.seq + 1)

    # --- looking at tuples

    def _first_number(
        self, plan: Plan, breakpoint: Breakpoint, segments: tuple[Segment, ...], lo: int, hi: int
    ) -> int | None:
        """The least number of a tuple that satisfies the predicate."""
        schema = plan.arcs[breakpoint.arc].schema
        where = _bound(breakpoint.where, schema)
        names = [name for name in schema.names if name in attributes(where)]
        found = []
        for segment in segments:
            if segment.end > lo and segment.base < hi:
                table = self._read(segment, schema, names, lo, hi)
                numbers = table[SEQ].to_numpy()[truths(evaluate(where, table, plan.network.timezone))]
                found += [int(numbers.min())] if len(numbers) else []
        return min(found, default=None)

    def _row(
        self, plan: Plan, breakpoint: Breakpoint, segments: tuple[Segment, ...], seq: int
    ) -> dict[str, Any]:
        """The first tuple of a number that satisfies the predicate."""
        schema = plan.arcs[breakpoint.arc].schema
        where = _bound(breakpoint.where, schema)
        for segment in segments:
            if segment.base <= seq < segment.end:
                table = self._read(segment, schema, list(schema.names), seq, seq + 1)
                places = np.flatnonzero(truths(evaluate(where, table, plan.network.timezone)))
                if len(places):
                    found: dict[str, Any] = table.slice(int(places[0]), 1).to_pylist()[0]
                    return found
        raise AssertionError(f"number {seq} was found in the same segments")

    def _read(self, segment: Segment, schema: Schema, names: list[str], lo: int, hi: int) -> pa.Table:
        """Some attributes of a segment's tuples, in the types of a schema, then TS and SEQ."""
        table = read_segment(self._ledger.root, segment, names, lo, hi).select([*names, TS, SEQ])
        types = [pa.field(name, schema[name].type.arrow) for name in names]
        return table.cast(
            pa.schema([*types, table.schema.field(TS), table.schema.field(SEQ)])
        ).combine_chunks()


@lru_cache(maxsize=256)
def _bound(where: str, schema: Schema) -> Expr:
    return predicate(where, schema, "where")


def _problem(plan: Plan, breakpoint: Breakpoint) -> str:
    """Why a breakpoint can pause nothing in a plan; empty if it can."""
    try:
        _check_arc(plan, breakpoint.arc)
        _bound(breakpoint.where, plan.arcs[breakpoint.arc].schema)
    except AustralisError as error:
        return str(error)
    return ""


def _check_arc(plan: Plan, arc: str) -> None:
    """Refuse an arc from which no train takes tuples."""
    read = {
        each: None
        for name, superbox in plan.superboxes.items()
        if plan.query_of(name) is None
        for each in superbox.arcs
    }
    if arc not in read:
        inner = arc not in plan.arcs and arc.partition(".")[0] in {
            box.partition(".")[0] for box in plan.network.boxes
        }
        what = f"tuples pass {arc!r} inside a train" if inner else f"no train takes tuples from {arc!r}"
        raise EngineError(Problem(plan.network.name, what, f"one of {', '.join(read)}"))
