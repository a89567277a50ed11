"""A network as SVG without a drawing library: legible on white and dark pages, without scripts or fonts."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from australis.algebra.network import ConnectionPoint, Network, Node
from australis.app.pictures.charts_svg import CHART_STYLE, drawn_charts
from australis.app.pictures.coordinates import Point
from australis.app.pictures.marks import digits, escaped, opened, spot, tag, text_at
from australis.app.pictures.notation import remark, stream_text
from australis.app.pictures.scene import Frame, Scene, Wire, scene_of
from australis.app.pictures.shapes import (
    DOT_WIDTH,
    LABEL_SIZE,
    LINE_HEIGHT,
    PADDING,
    PORT_WIDTH,
    TEXT_SIZE,
    TITLE_SIZE,
    Shape,
    has_point,
    indent_width,
)

_MARGIN = 20.0
_SANS = "system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', sans-serif"
_MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
# A medium grey stands out from white and black; shapes have a light background for dark letters.
_LINE, _INK, _QUIET = "#7d8590", "#1c2128", "#57606a"
_PAINTS = {
    "input": {"fill": "#d7f0dd", "stroke": "#2f855a"},
    "table": {"fill": "#d7f0dd", "stroke": "#2f855a"},
    "output": {"fill": "#fde3cf", "stroke": "#c2560c"},
    "stateless": {"fill": "#e3edfb", "stroke": "#3b6fb5"},
    "ordered": {"fill": "#efe6fb", "stroke": "#7c55b8"},
    "shed": {"fill": "#fbdcdc", "stroke": "#b83232"},
}
_STYLE = f"""<style>
text {{ font-family: {_SANS}; fill: {_INK}; }}
.title {{ font-size: {TITLE_SIZE}px; font-weight: 600; }}
.line, .kind {{ font-family: {_MONO}; font-size: {TEXT_SIZE}px; }}
.kind {{ font-weight: 700; fill: {_QUIET}; }}
.port {{ font-size: {LABEL_SIZE}px; fill: {_QUIET}; }}
.label {{ font-family: {_MONO}; font-size: {LABEL_SIZE}px; fill: {_LINE}; }}
.group {{ font-size: {TEXT_SIZE}px; font-weight: 600; fill: {_LINE}; }}
.wire {{ fill: none; stroke: {_LINE}; stroke-width: 1.5; }}
.frame {{ fill: {_LINE}; fill-opacity: 0.08; stroke: {_LINE}; stroke-dasharray: 5 4; }}
</style>
<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">\
<path d="M0 0 L10 5 L0 10 z" fill="{_LINE}"/></marker></defs>"""


def draw_svg(network: Network) -> str:
    """The picture of a network."""
    scene = scene_of(network)
    width, height = digits(scene.width + 2 * _MARGIN), digits(scene.height + 2 * _MARGIN)
    count = len(network.boxes)
    alternative = f"{network.name}: a network of {count} {'box' if count == 1 else 'boxes'}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" '
        f'viewBox="{spot((-_MARGIN, -_MARGIN))} {width} {height}" aria-label={quoteattr(alternative)}>',
        f"<title>{escaped(network.name)}</title>",
        _STYLE,
        *([CHART_STYLE] if any(shape.charts for shape, _ in scene.shapes) else []),
        *(line for frame in scene.frames for line in _frame(network, frame)),
        *(line for wire in scene.wires for line in _wire(network, wire)),
        *(_label(network, wire) for wire in _labelled(scene)),
        *(line for shape, place in scene.shapes for line in _shape(network, shape, place)),
        *_points(network, scene),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _frame(network: Network, frame: Frame) -> Iterator[str]:
    x, y = frame.corner
    group = network.groups.get(frame.group)
    texts = (frame.group, group.tag, group.description) if group else (frame.group,)
    yield opened("\n".join(text for text in texts if text))
    yield tag("rect", kind="frame", x=x, y=y, width=frame.width, height=frame.height, rx=10.0)
    yield text_at("group", x + 10, y + 17, frame.group.rpartition(".")[2]) + "</g>"


def _wire(network: Network, wire: Wire) -> Iterator[str]:
    yield opened(f"{wire.ref} {stream_text(network, wire.ref)}")
    head = {"marker-end": "url(#head)"} if wire.has_head else {}
    yield tag("path", kind="wire", d=_path(wire.points), **head) + "</g>"


def _path(points: tuple[Point, ...]) -> str:
    """Straight lines out of shapes and through columns, curves between columns."""
    steps = [f"M{spot(points[0])}"]
    for number, end in enumerate(points[1:], 1):
        start = points[number - 1]
        if number % 2 or start[1] == end[1]:
            steps.append(f"L{spot(end)}")
        else:
            middle = (start[0] + end[0]) / 2
            steps.append(f"C{spot((middle, start[1]))} {spot((middle, end[1]))} {spot(end)}")
    return " ".join(steps)


def _labelled(scene: Scene) -> list[Wire]:
    """One wire for each label: streams with several readers are labelled once."""
    return list({(wire.ref, wire.points[0]): wire for wire in scene.wires if wire.label}.values())


def _label(network: Network, wire: Wire) -> str:
    x, y = wire.points[0]
    dot = DOT_WIDTH if has_point(network, wire.ref) else 0.0
    return text_at("label", x + 5 + dot, y - 5, wire.label)


def _shape(network: Network, shape: Shape, place: Point) -> Iterator[str]:
    yield opened(shape.tooltip)
    if shape.kind == "box":
        yield from _box(shape, place, _paint(network.boxes[shape.name]))
    else:
        yield from _end(shape, (place[0], place[1] + (shape.height - shape.body_height) / 2))
    yield "</g>"
    yield from drawn_charts(shape.charts, (place[0] + shape.body_width, place[1]))


def _paint(node: Node) -> str:
    if remark(node):
        return "shed"
    return "ordered" if node.box.ordered else "stateless"


def _box(shape: Shape, place: Point, paint: str) -> Iterator[str]:
    x, y = place
    yield tag("rect", x=x, y=y, width=shape.width, height=shape.height, rx=5.0, **_PAINTS[paint])
    left = x + PADDING + (PORT_WIDTH if shape.inlet_texts else 0)
    baseline = y + PADDING + 11
    yield text_at("title", left, baseline, shape.title)
    for number, line in enumerate(shape.lines, 1):
        kind, x_line = "kind" if number == 1 else "line", left + indent_width(line)
        yield text_at(kind, x_line, baseline + number * LINE_HEIGHT, line.lstrip())
    for text, down in zip(shape.inlet_texts, shape.inlets, strict=False):
        yield text_at("port", x + 4, y + down + 3, text)
    for text, down in zip(shape.outlet_texts, shape.outlets, strict=False):
        if text:
            yield text_at("port", x + shape.width - 4, y + down + 3, text, "end")


def _end(shape: Shape, place: Point) -> Iterator[str]:
    """Inputs are rounded, outputs point to the right, stored tables are cylinders."""
    x, y = place
    width, height, paint = shape.body_width, shape.body_height, _PAINTS[shape.kind]
    right, bottom = x + width, y + height
    middle, baseline = x + width / 2, y + (height - LINE_HEIGHT * len(shape.lines)) / 2 + 4.5
    if shape.kind == "input":
        yield tag("rect", x=x, y=y, width=width, height=height, rx=min(height / 2, 20.0), **paint)
    elif shape.kind == "output":
        corners = ((x, y), (right - 12, y), (right, y + height / 2), (right - 12, bottom), (x, bottom))
        yield tag("path", d=f"M{' L'.join(map(spot, corners))} z", **paint)
        middle -= 4
    else:
        lid, bow = 6.0, f"A{digits(width / 2)} 6 0 0"
        upper = f"M{spot((x, y + lid))} {bow} 1 {spot((right, y + lid))}"
        body = f"{upper} L{spot((right, bottom - lid))} {bow} 1 {spot((x, bottom - lid))} z"
        yield tag("path", d=body, **paint)
        yield tag("path", d=f"M{spot((x, y + lid))} {bow} 0 {spot((right, y + lid))}", **paint)
        baseline += 4
    yield text_at("title", middle, baseline, shape.title, "middle")
    for number, line in enumerate(shape.lines, 1):
        yield text_at("line", middle, baseline + number * LINE_HEIGHT, line, "middle")


def _points(network: Network, scene: Scene) -> Iterator[str]:
    """Connection points: dark dots on their arcs, or at the end of a stub if nothing reads the arc."""
    for name, point in network.connection_points.items():
        x, y = scene.outlet(point.at)
        yield opened(_point_text(name, point))
        if not any(wire.ref == point.at for wire in scene.wires):
            yield tag("path", kind="wire", d=f"M{spot((x, y))} L{spot((x + DOT_WIDTH / 2, y))}")
        ring = {"stroke": "#ffffff", "stroke-width": "1.5"}
        yield tag("circle", cx=x + DOT_WIDTH / 2, cy=y, r=5.0, fill=_INK, **ring)
        yield text_at("label", x + 5, y + 17, name) + "</g>"


def _point_text(name: str, point: ConnectionPoint) -> str:
    kept = "" if point.history is None else f"history {point.history}"
    key = "" if point.key is None else f"key {point.key}"
    texts = (f"connection point {name} at {point.at}", kept, key, point.description)
    return "\n".join(text for text in texts if text)
