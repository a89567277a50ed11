"""Whether a piece may run here: by its boxes, its output, the room there is, and what it would cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from australis.algebra.network import QUARANTINE, Network
from australis.algebra.schema import Schema
from australis.cluster.grants.piece import check, query_of
from australis.cluster.grants.placed import PieceRefused, Placed
from australis.cluster.wire import KEPT_MOST, Refused
from australis.engine.calibrate import calibrate, sample
from australis.engine.observe import QualityReport, Statistics
from australis.engine.sinks import Kept
from australis.errors import AustralisError, ClusterError
from australis.policy.analysis import Hardware, analyse

_query = lru_cache(maxsize=1024)(query_of)
PIECES_MOST = 1000
_TRIED, _RATE_S = 20_000, 10
"""The tuples by which the cost of a piece is measured before it runs, and over how many seconds rates are."""


class GuestNode(Protocol):
    """The part of a node that runs pieces."""

    def attach(self, network: Network, /, *, name: str, is_guest: bool, replaces: bool) -> object: ...

    def detach(self, name: str, /) -> None: ...

    def attached(self) -> Mapping[str, Network]: ...

    def failures(self) -> Mapping[str, AustralisError]: ...

    def output_schema(self, name: str, /) -> Schema | None: ...

    def note(self, name: str, /) -> str | None: ...

    def keep(self, name: str, text: str, /) -> None: ...

    def statistics(self) -> Statistics: ...

    def quality(self, window_s: int, /) -> QualityReport: ...

    def kept(self, output: str, /) -> Kept: ...


def checked_query(node: GuestNode, wanted: Placed, is_piece: Callable[[str], bool]) -> Network:
    """The query that a piece is, if its boxes make sense after the output."""
    is_own = not is_piece(wanted.output) and wanted.output != QUARANTINE
    stream = node.output_schema(wanted.output) if is_own else None
    if stream is None:
        what = f"there is no output {wanted.output!r}"
        raise PieceRefused(Refused.NOT_OFFERED, what)
    try:
        return _query(wanted.definition, wanted.query, wanted.output, stream)
    except ClusterError as error:
        raise PieceRefused(Refused.PIECE, str(error)) from error


def check_offered(wanted: Placed, query: Network) -> None:
    """Refuse a piece with boxes or functions that its grant does not have."""
    try:
        check(query, wanted.definition, wanted.granted)
    except ClusterError as error:
        raise PieceRefused(Refused.PIECE, str(error)) from error


def check_room(wanted: Placed, others: Sequence[Placed]) -> None:
    """Refuse a piece where too many others run, or as many as its grant admits."""
    if len(others) >= PIECES_MOST or sum(each.holder == wanted.holder for each in others) >= KEPT_MOST:
        raise PieceRefused(Refused.TOO_MANY, "too many pieces run here")
    grant = wanted.granted
    if grant is None:
        return
    count = sum(each.granted is not None and each.granted.id == grant.id for each in others)
    if count >= grant.limits.pieces:
        what = f"{count} pieces of the grant run here, and it admits {grant.limits.pieces}"
        raise PieceRefused(Refused.LIMIT, what)


def check_output(node: GuestNode, known: Placed | None, query: Network) -> None:
    """Refuse a piece whose tuples would be others than those that wait for its reader."""
    before = None if known is None else node.output_schema(known.query)
    if before is not None and before != query.output_schema("out"):
        what = f"made ({before}) before, and would make ({query.output_schema('out')})"
        raise PieceRefused(Refused.PIECE, what, "an input of another name")


def check_cost(node: GuestNode, wanted: Placed, query: Network) -> None:
    """Refuse a piece that would cost more than its grant admits, by what is measured of its boxes."""
    grant = wanted.granted
    rate = node.quality(_RATE_S).outputs[wanted.output].tuples / _RATE_S
    if grant is None or grant.limits.cores is None or not rate:
        return
    try:
        drawn = sample(query, {}, {wanted.output: rate}, _TRIED)
        # The time of this thread: the node's trains run beside it.
        costs = calibrate(query, drawn, clock=time.thread_time_ns).costs
    except AustralisError as error:
        raise PieceRefused(Refused.PIECE, str(error)) from error
    loads = analyse(query, {wanted.output: rate}, costs, Hardware(1.0)).boxes.values()
    cores = sum(each.cores for each in loads)
    if cores > grant.limits.cores:
        what = f"it would use {cores:.3g} of a core at {rate:,.0f} tuples/s"
        raise PieceRefused(Refused.LIMIT, f"{what}, and its grant admits {grant.limits.cores:.3g}")
