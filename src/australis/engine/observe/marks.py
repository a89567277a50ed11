"""The marks of a node as a report: what inputs have promised, and what orders by progress wait for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np

from australis.algebra.network import Network, Ref
from australis.algebra.progress import Passing
from australis.algebra.types import DataType
from australis.engine.ledger import Queues, maker_of
from australis.kernels.marks import InputMark, Marks
from australis.kernels.progress import StreamMarks, network_marks, passed_marks
from australis.plan.superboxes import Plan

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MarkValue = int | float | str
"""A mark as a value of its attribute: a number, or a text for decimals and for timestamps, in UTC."""


@dataclass(frozen=True)
class InputMarkStatistics:
    """What an input has promised so far."""

    on: str
    """The attribute that has marks."""
    mark: MarkValue | None
    """No later tuple is below it; None before the first mark."""
    behind_s: float | None
    """For a timestamp, the local time less the mark, in seconds."""
    quiet_since: int | None
    """When its last tuples came, in microseconds of local time."""


@dataclass(frozen=True)
class OrderMarkStatistics:
    """An order by progress: the mark that it has come to, and the input that holds it back."""

    box: str
    side: str
    """The input of a box with two, `left` or `right`; "" for the others."""
    on: str
    mark: MarkValue | None
    """Windows that end later are open; None before the first mark."""
    held_back_by: str
    """The input to whose marks this one is due: while they stay, it stays."""


def input_marks(plan: Plan, queues: Queues, now: int) -> dict[str, InputMarkStatistics]:
    """What every input that makes marks has promised, at a local time."""
    found = {}
    for name, known in _promised(plan, queues).items():
        bound = plan.makers[name]
        is_time = bound.order_type.name == "timestamp"
        behind = (now - known.mark) / 1e6 if is_time and known.mark is not None else None
        shown = _value(known.mark, bound.order_type)
        found[name] = InputMarkStatistics(bound.on, shown, behind, known.quiet_since)
    return found


def order_marks(plan: Plan, queues: Queues) -> tuple[OrderMarkStatistics, ...]:
    """The orders by progress of a network, each with the mark of its stream."""
    network = plan.network
    wanted = [
        (box_id, port, order.on)
        for box_id in network.order
        for port, order in sorted(network.boxes[box_id].box.orders.items())
        if order.by_progress
    ]
    if not wanted:
        return ()
    inputs = {n: {plan.makers[n].on: _standing(known.mark)} for n, known in _promised(plan, queues).items()}
    streams = network_marks(network, inputs)
    holders = _holders(network, streams)
    return tuple(_order_mark(network, streams, holders, *each) for each in wanted)


def _promised(plan: Plan, queues: Queues) -> dict[str, InputMark]:
    makers = plan.makers.items()
    return {name: queues.promised.get(maker_of(name, bound), InputMark()) for name, bound in makers}


def _standing(mark: int | float | None) -> Marks:
    """A mark that stands, as marks that no longer rise."""
    dtype = np.float64 if isinstance(mark, float) else np.int64
    return Marks(mark, np.empty(0, np.int64), np.empty(0, dtype))


def _order_mark(
    network: Network,
    streams: Mapping[Ref, StreamMarks],
    holders: Mapping[Ref, Mapping[str, str]],
    box_id: str,
    port: int,
    on: str,
) -> OrderMarkStatistics:
    node = network.boxes[box_id]
    source, side = node.sources[port], ("left", "right")[port] if node.box.arity == (2, 2) else ""
    mark = _value(streams[source][on].before, network.schemas[source][on].type)
    return OrderMarkStatistics(box_id, side, on, mark, holders[source][on])


def _holders(network: Network, streams: Mapping[Ref, StreamMarks]) -> dict[Ref, dict[str, str]]:
    """For every mark of a stream, the input that holds it back: the one from which its least part comes."""
    found = {Ref(name): dict.fromkeys(streams.get(Ref(name), {}), name) for name in network.inputs}
    for box_id in network.order:
        node = network.boxes[box_id]
        marks = {
            (port, name): each
            for port, source in enumerate(node.sources)
            for name, each in streams.get(source, {}).items()
        }
        passings = node.box.passings(*network.input_schemas(box_id)) if marks else ()
        for number, each in enumerate(passings):
            ref = Ref(box_id, number)
            least = {name: _least(each[name], marks, network.timezone) for name in streams.get(ref, {})}
            found[ref] = {name: found[node.sources[p.port]][p.attribute] for name, p in least.items()}
    return found


def _least(passings: tuple[Passing, ...], marks: Mapping[tuple[int, str], Marks], timezone: str) -> Passing:
    """Of the marks on which another depends, the one that is the least when it arrives there."""
    parts = {each: passed_marks({"": (each,)}, marks, timezone)[""].before for each in passings}
    return min(parts, key=lambda each: _rank(parts[each]))


def _rank(mark: int | float | None) -> int | float:
    return -math.inf if mark is None else mark


def _value(mark: int | float | None, order_type: DataType) -> MarkValue | None:
    """A mark as a value of its type.

    >>> from australis.algebra.types import TIMESTAMP
    >>> _value(1_500_000, TIMESTAMP)
    '1970-01-01T00:00:01.500000Z'
    """
    if mark is None:
        return None
    if order_type.is_decimal:
        return str(Decimal(mark).scaleb(-order_type.scale))
    if order_type.name != "timestamp":
        return mark
    try:
        moment = _EPOCH + timedelta(microseconds=mark)
    except OverflowError:
        # Python knows no moment after the year 9999; the number says more than nothing.
        return mark
    return moment.isoformat().replace("+00:00", "Z")
