"""Boxes in the papers' notation: `Aggregate(avg(price) -> average, Assuming Order(On time), Size 1 hour)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from australis.algebra.boxes import (
    INNER,
    LEFT,
    Aggregate,
    AsOf,
    Box,
    BSort,
    Drop,
    Filter,
    Join,
    Map,
    NamedTexts,
    Number,
    Resample,
    Slide,
    Top,
    Tumble,
    Union,
    Unnest,
    WSort,
    XSection,
)
from australis.algebra.network import Network, Node, Ref
from australis.algebra.order import Order
from australis.algebra.progress import Progress
from australis.algebra.quality import Quality
from australis.algebra.schema import TUP

DROP_TAG = "shed"
"""The tag of the drop boxes that a node adds to its network."""
SIDES = ("left", "right")
"""The names of the input ports of a box with two."""


@dataclass(frozen=True)
class Notation:
    """The name of a box and its parameters."""

    name: str
    parameters: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.parameters)})" if self.parameters else self.name


def notation_of(box: Box) -> Notation:
    """A box as the papers write it.

    >>> from australis.algebra.order import Order
    >>> box = Aggregate({"average": "avg(price)"}, Order("time", 1, ("sid",)), size="1 hour")
    >>> print(notation_of(box))
    Aggregate(avg(price) -> average, Assuming Order(On time, Slack 1, GroupBy sid), Size 1 hour)
    """
    parameters = _PARAMETERS.get(type(box), _parameters)(box)
    return Notation(type(box).__name__, tuple(part for part in parameters if part))


def remark(node: Node) -> str:
    """What is drawn with a box besides its notation: what a drop box in a running network has shed."""
    return node.description if node.tag == DROP_TAG else ""


def order_text(order: Order) -> str:
    """An order specification (Aurora 5.2.2); default values are omitted."""
    parts = [f"On {order.on}"]
    if order.slack:
        parts.append(f"Slack {order.slack}")
    if order.by_progress:
        parts.append("By progress")
    if order.group_by:
        parts.append(_group_by(order.group_by))
    if order.late:
        parts.append("Late")
    return f"Order({', '.join(parts)})"


def progress_notation(progress: Progress) -> Notation:
    """How an input makes marks.

    >>> print(progress_notation(Progress("at", slack="10 s", idle="1 min")))
    Progress(On at, Slack 10 s, Idle 1 min)
    """
    given = (("Slack", progress.slack), ("Promise", progress.promise), ("Idle", progress.idle))
    parts = [f"On {progress.on}", *(_optional(*each) for each in given)]
    return Notation("Progress", tuple(part for part in parts if part))


def port_text(box: Box, port: int) -> str:
    """What an output port of a box is called: its number, or `late` for late tuples; "" for an only port.

    >>> [port_text(Join("true", 5, Order("at"), Order("at", late=True)), port) for port in (0, 1)]
    ['0', 'late right']
    """
    if box.outputs == 1:
        return ""
    late = port - (box.outputs - len(box.late_ports))
    if late < 0:
        return str(port)
    return f"late {SIDES[box.late_ports[late]]}" if box.arity == (2, 2) else "late"


def stream_text(network: Network, ref: Ref) -> str:
    """The schema of a stream, and the attributes of which it has marks."""
    marked = ", ".join(sorted(network.marked[ref]))
    return f"({network.schemas[ref]})" + (f", marks of {marked}" if marked else "")


def quality_notation(quality: Quality) -> Notation:
    """The graphs of an output, each as its points or categories.

    >>> print(quality_notation(Quality(delay=((0, 1), (2, 1), (10, 0)), weight=3)))
    QoS(Weight 3, Delay(0 s: 1, 2 s: 1, 10 s: 0))
    """
    return Notation("QoS", (f"Weight {quality.weight:g}", *graph_notation(quality).values()))


def graph_notation(quality: Quality) -> dict[str, str]:
    """The graphs that an output has, by name."""
    graphs: dict[str, list[str]] = {}
    if quality.delay:
        since = ["Since trigger"] if quality.counts_since_trigger else []
        graphs["Delay"] = [*since, *(f"{span_text(x)}: {y:g}" for x, y in quality.delay)]
    if quality.loss:
        graphs["Loss"] = [f"{100 * x:g} %: {y:g}" for x, y in quality.loss]
    if (value := quality.value) is not None:
        parts = [f"{x:.15g}: {y:g}" for x, y in value.points]
        graphs["Value"] = [value.attribute, *parts, *(f"{name}: {y:g}" for name, y in value.categories)]
    return {name: str(Notation(name, tuple(parts))) for name, parts in graphs.items()}


def span_text(seconds: float, digits: int = 6) -> str:
    """A time in a unit that suits it.

    >>> [span_text(seconds) for seconds in (0, 0.25, 90, 600, 5400)]
    ['0 s', '250 ms', '90 s', '10 min', '1.5 h']
    """
    units = (("h", 3600, 3600), ("min", 60, 120), ("s", 1, 1), ("ms", 0.001, 0))
    unit, size, _ = next(found for found in units if seconds >= found[2])
    return f"{seconds / size:.{digits}g} {unit}" if seconds else "0 s"


def _group_by(names: tuple[str, ...]) -> str:
    return f"GroupBy {', '.join(names)}"


def _functions(functions: NamedTexts) -> list[str]:
    return [f"{text} -> {name}" for name, text in functions]


def _optional(word: str, value: object) -> str:
    return "" if value is None else f"{word} {value}"


def _aggregate(box: Aggregate) -> list[str]:
    return [
        *_functions(box.functions),
        f"Assuming {order_text(box.order)}",
        _optional("Size", box.size),
        _optional("Session", box.session),
        _optional("Advance", box.advance),
        _optional("Advance when", box.advance_when),
        "Aligned" if box.align else "",
        _optional("Offset", box.offset),
        "Empty" if box.empty else "",
        _optional("Timeout", box.timeout),
        _optional("Forget", box.forget),
    ]


def _tumble(box: Tumble) -> list[str]:
    return [*_functions(box.functions), _group_by(box.group_by), _optional("Timeout", box.timeout)]


def _slide(box: Slide) -> list[str]:
    order = "" if box.order == Order(TUP) else f"Assuming {order_text(box.order)}"
    sizes = [f"Size {box.size}", f"Advance {box.advance}", _optional("Timeout", box.timeout)]
    return [*_functions(box.functions), order, *sizes, _optional("Forget", box.forget)]


def _xsection(box: XSection) -> list[str]:
    slack = f"Slack {box.slack}" if box.slack else ""
    timeout = _optional("Timeout", box.timeout)
    return [*_functions(box.functions), f"On {box.on}", f"Size {box.size}", slack, timeout]


def _side(word: str, order: Order | None) -> str:
    return f"{word} without order" if order is None else f"{word} Assuming {order_text(order)}"


def _join(box: Join) -> list[str]:
    how = "" if box.how == INNER else box.how.capitalize()
    words = [_side(*each) for each in zip(("Left", "Right"), box.sides, strict=True)]
    if box.table_side is not None:
        words[box.table_side] = f"{('Left', 'Right')[box.table_side]} a stored table"
    return [box.predicate, how, _optional("Size", box.size), *words]


def _asof(box: AsOf) -> list[str]:
    how = "" if box.how == LEFT else box.how.capitalize()
    sides = [_side("Left", box.left), _side("Right", box.right)]
    return [box.predicate or "", how, _optional("Within", box.within), *sides]


def _resample(box: Resample) -> list[str]:
    sides = [_side("Left", box.left), _side("Right", box.right)]
    keep = f"Keep {', '.join(box.keep)}" if box.keep else ""
    inside = "" if box.extrapolate else "Extrapolate false"
    return [*_functions(box.functions), box.predicate or "", f"Size {box.size}", *sides, keep, inside]


def _number(box: Number) -> list[str]:
    group_by = _group_by(box.group_by) if box.group_by else ""
    start = f"Start {box.start}" if box.start else ""
    return [box.attribute, group_by, start, _optional("Forget", box.forget)]


def _unnest(box: Unnest) -> list[str]:
    keep_empty = "KeepEmpty" if box.keep_empty else ""
    return [f"{box.array} -> {box.attribute}", _optional("Position", box.position), keep_empty]


def _parameters(box: Box) -> list[str]:
    """The parameters of a box that the papers do not have, by name; default values are omitted."""
    defaults = {f.name: f.default for f in fields(box)}  # type: ignore[arg-type]
    given = {name: vars(box)[name] for name, value in defaults.items() if vars(box)[name] != value}
    return [_parameter(name, value) for name, value in given.items()]


def _parameter(name: str, value: object) -> str:
    word = "".join(part.capitalize() for part in name.split("_"))
    if isinstance(value, Order):
        return f"{word} {order_text(value)}"
    if isinstance(value, tuple):
        return f"{word} {', '.join(part if isinstance(part, str) else ' = '.join(part) for part in value)}"
    return f"{word} {value}"


_PARAMETERS: dict[type[Box], Callable[[Any], list[str]]] = {
    Filter: lambda box: list(box.predicates),
    Map: lambda box: [f"{name} = {text}" if name != text else name for name, text in box.attributes],
    Union: lambda box: [],
    BSort: lambda box: [f"Assuming {order_text(box.order)}", *(f"Then {key}" for key in box.then)],
    WSort: lambda box: [*box.by, f"Timeout {box.timeout}"],
    Aggregate: _aggregate,
    Top: lambda box: [f"{box.n} by {', '.join(box.by)}", *_aggregate(box.windows)[1:]],
    Tumble: _tumble,
    Slide: _slide,
    XSection: _xsection,
    Join: _join,
    AsOf: _asof,
    Resample: _resample,
    Number: _number,
    Unnest: _unnest,
    Drop: lambda box: [f"Rate {box.rate}"],
}
