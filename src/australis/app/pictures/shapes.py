"""The shapes of a picture before they are placed: their sizes, their texts, where arcs connect."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from australis.algebra.network import Network, Node, Ref
from australis.app.pictures.charts import CHART_HEIGHT, Chart, charts_of, charts_width
from australis.app.pictures.notation import (
    notation_of,
    port_text,
    progress_notation,
    quality_notation,
    remark,
)

TITLE_SIZE, TEXT_SIZE, LABEL_SIZE = 13.0, 11.0, 9.5
LINE_HEIGHT = 15.0
PADDING = 10.0
PORT_WIDTH = 8.0
DOT_WIDTH = 20.0
# The greatest average letter width of the fonts that a viewer may have, as a fraction of the font size.
_TITLE_LETTER, _TEXT_LETTER = 0.68, 0.61
_LINE_CHARACTERS, _LINES_MAX, _TITLE_CHARACTERS, _LABEL_CHARACTERS = 36, 7, 30, 20
ELLIPSIS = "…"
_INDENT = "  "


@dataclass(frozen=True)
class Shape:
    """An input, a stored table, a box or an output."""

    kind: str
    name: str
    title: str
    lines: tuple[str, ...]
    tooltip: str
    width: float
    height: float
    inlets: tuple[float, ...]
    outlets: tuple[float, ...]
    inlet_texts: tuple[str, ...] = ()
    outlet_texts: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    """Graphs to its right, included in width and height."""

    @property
    def body_width(self) -> float:
        """The width without charts."""
        return self.width - charts_width(len(self.charts))

    @property
    def body_height(self) -> float:
        """The height without charts."""
        return _end_height(self.kind, self.lines) if self.charts else self.height


def shapes_of(network: Network) -> dict[str, Shape]:
    """Every shape of a network by `kind:name`, in the order of the network."""
    shapes = {f"input:{name}": _input(network, name) for name in network.inputs}
    shapes |= {f"box:{box_id}": _box(network, box_id) for box_id in network.boxes}
    return shapes | {f"output:{name}": _output(network, name) for name in network.outputs}


def label_of(network: Network, ref: Ref) -> str:
    """The attributes of a stream, shown where they change: after inputs and boxes that change them."""
    node = network.boxes.get(ref.id)
    if node is not None and network.schemas[ref].names == network.schemas[node.sources[0]].names:
        return ""
    return elided(", ".join(network.schemas[ref].names), _LABEL_CHARACTERS)


def label_width(network: Network, ref: Ref) -> float:
    """The straight length that the label of a stream and the dot of a connection point need."""
    label = label_of(network, ref)
    letters = len(label) * LABEL_SIZE * _TEXT_LETTER + 10.0 if label else 0.0
    return letters + (DOT_WIDTH if has_point(network, ref) else 0.0)


def has_point(network: Network, ref: Ref) -> bool:
    """Whether an arc is a connection point."""
    return any(point.at == ref for point in network.connection_points.values())


def is_read(network: Network, ref: Ref) -> bool:
    """Whether an arc begins here."""
    ends = [output.source for output in network.outputs.values()]
    ends += [point.at for point in network.connection_points.values()]
    return bool(network.consumers[ref]) or ref in ends


def elided(text: str, length: int) -> str:
    """A text cut to a length, with an ellipsis.

    >>> elided("time, price, volume", 12)
    'time, price…'
    """
    return text if len(text) <= length else text[: length - 1].rstrip(" ,") + ELLIPSIS


def _box(network: Network, box_id: str) -> Shape:
    node = network.boxes[box_id]
    described = notation_of(node.box)
    title = elided(box_id.rpartition(".")[2], _TITLE_CHARACTERS)
    lines = (described.name, *_wrapped(described.parameters), *_wrapped(_remarks(node)))
    width = max(96.0, _title_width(title), *(_text_width(line) for line in lines)) + 2 * PADDING
    read = [is_read(network, Ref(box_id, port)) for port in range(node.box.outputs)]
    ports = tuple(port_text(node.box, port) if is_on else "" for port, is_on in enumerate(read))
    width += (PORT_WIDTH if node.box.arity == (2, 2) else 0.0) + _port_width(ports)
    height = 2 * PADDING + LINE_HEIGHT * (1 + len(lines))
    sides = ("L", "R") if node.box.arity == (2, 2) else ()
    tooltip = "\n".join(text for text in (f"{box_id}: {described}", node.tag, node.description) if text)
    inlets, outlets = _spread(len(node.sources), height), _spread(node.box.outputs, height)
    return Shape("box", box_id, title, lines, tooltip, width, height, inlets, outlets, sides, ports)


def _port_width(texts: tuple[str, ...]) -> float:
    """The room that the names of output ports need."""
    if len(texts) == 1:
        return 0.0
    return max(PORT_WIDTH, *(len(text) * LABEL_SIZE * _TEXT_LETTER for text in texts))


def _remarks(node: Node) -> tuple[str, ...]:
    return tuple(remark(node).split("; ")) if remark(node) else ()


def _input(network: Network, name: str) -> Shape:
    given = network.inputs[name]
    kind, word = ("table", "stored table") if given.table else ("input", "input")
    stored = f" in {given.store}" if given.store else ""
    texts = (f"{word} {name} ({given.schema}){stored}", given.description)
    if given.progress is None:
        return _end(kind, name, texts)
    first, _, others = str(given.progress).partition(", ")
    lines = (f"progress {first}", others) if others else (f"progress {first}",)
    return _end(kind, name, (*texts, str(progress_notation(given.progress))), lines)


def _output(network: Network, name: str) -> Shape:
    """An output, with its weight and its graphs if it has any."""
    output = network.outputs[name]
    texts = (f"output {name} ({network.output_schema(name)})", output.description)
    if output.quality is None:
        return _end("output", name, texts)
    lines = (f"weight {output.quality.weight:g}",)
    return _end(
        "output", name, (*texts, str(quality_notation(output.quality))), lines, charts_of(output.quality)
    )


def _end(
    kind: str, name: str, texts: tuple[str, ...], lines: tuple[str, ...] = (), charts: tuple[Chart, ...] = ()
) -> Shape:
    title = elided(name, _TITLE_CHARACTERS)
    width = max(56.0, _title_width(title), *map(_text_width, lines)) + 2 * PADDING + 8.0
    width += charts_width(len(charts))
    height = max(_end_height(kind, lines), CHART_HEIGHT if charts else 0.0)
    tooltip, middle = "\n".join(text for text in texts if text), (height / 2,)
    return Shape(kind, name, title, lines, tooltip, width, height, middle, middle, charts=charts)


def _end_height(kind: str, lines: tuple[str, ...]) -> float:
    return (46.0 if kind == "table" else 32.0) + LINE_HEIGHT * len(lines)


def _wrapped(parameters: tuple[str, ...]) -> list[str]:
    """Each parameter on its own lines, not too long and not too many."""
    lines = []
    for parameter in parameters:
        lines += textwrap.wrap(parameter, _LINE_CHARACTERS, subsequent_indent=_INDENT) or [""]
    return (
        lines
        if len(lines) <= _LINES_MAX
        else [*lines[: _LINES_MAX - 1], f"{lines[_LINES_MAX - 1]} {ELLIPSIS}"]
    )


def _spread(count: int, height: float) -> tuple[float, ...]:
    """Positions spaced evenly down a side."""
    return tuple(height * (number + 1) / (count + 1) for number in range(count))


def indent_width(line: str) -> float:
    """The width of a line's indentation: viewers differ on leading blanks in a text."""
    return _text_width(line) - _text_width(line.lstrip())


def _title_width(text: str) -> float:
    return len(text) * TITLE_SIZE * _TITLE_LETTER


def _text_width(text: str) -> float:
    return len(text) * TEXT_SIZE * _TEXT_LETTER
