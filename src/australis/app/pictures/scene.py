"""A network laid out for drawing: every shape in its position, groups as frames around their boxes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from australis.algebra.network import Network, Ref
from australis.app.pictures.coordinates import Drawing, Point, draw
from australis.app.pictures.layers import Edge, Item, has_loop
from australis.app.pictures.shapes import Shape, label_of, label_width, shapes_of

FRAME_TOP, FRAME_SIDE = 26.0, 18.0


@dataclass(frozen=True)
class Wire:
    """A stream on its way to one reader. Only its last piece, at the reader itself, has an arrowhead."""

    ref: Ref
    points: tuple[Point, ...]
    has_head: bool
    label: str = ""


@dataclass(frozen=True)
class Frame:
    """A group, which contains its boxes."""

    group: str
    corner: Point
    width: float
    height: float


@dataclass
class Scene:
    """Everything to be drawn."""

    width: float = 0.0
    height: float = 0.0
    shapes: list[tuple[Shape, Point]] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)

    def outlet(self, ref: Ref) -> Point:
        """Where a stream leaves its box or input."""
        found = next(item for item in self.shapes if item[0].name == ref.id and item[0].kind != "output")
        shape, (x, y) = found
        return (x + shape.width, y + shape.outlets[ref.port])


@dataclass(frozen=True)
class _End:
    """One end of a wire: a shape and the number of its inlet or outlet."""

    shape: str
    port: int


@dataclass(frozen=True)
class _Part:
    """The inside of a group, laid out, with the heights at which streams enter and leave it."""

    drawing: Drawing
    frame: Item
    inside: Mapping[str, _Part | Shape]
    refs: Mapping[Edge, Ref]
    entering: tuple[Ref, ...]
    leaving: tuple[Ref, ...]


def scene_of(network: Network) -> Scene:
    """Lay out a network."""
    layout = _Layout(network)
    part = layout.part("")
    scene = Scene(part.drawing.width, part.drawing.height)
    _collect(scene, network, part, (0.0, 0.0))
    return scene


class _Layout:
    """Lays out groups from the inside out: from outside, a group is one item."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._shapes = shapes_of(network)
        self._dissolved: set[str] = set()
        self._wires = list(_wires(network))

    def part(self, group: str) -> _Part:
        """The inside of a group, or of the whole network."""
        members = self._members(group)
        inside = {name: self._inside(name) for name in members}
        refs = self._arcs(group, inside)
        if has_loop(list(inside), [arc for arc in refs if arc.source in inside and arc.target in inside]):
            # Streams leave a group and return: it cannot be drawn as one item.
            self._dissolved |= {name.removeprefix("group:") for name in members if name.startswith("group:")}
            return self.part(group)
        return self._drawn(inside, refs)

    def _drawn(self, inside: dict[str, _Part | Shape], refs: dict[Edge, Ref]) -> _Part:
        entering = tuple(dict.fromkeys(ref for arc, ref in refs.items() if arc.source.startswith("enter ")))
        leaving = tuple(dict.fromkeys(ref for arc, ref in refs.items() if arc.target.startswith("leave ")))
        items = [
            *(Item(f"enter {ref}", pin="first") for ref in entering),
            *(_item(name, found) for name, found in inside.items()),
            *(Item(f"leave {ref}", pin="last") for ref in leaving),
        ]
        labels = {
            (arc.source, arc.outlet): label_width(self._network, ref)
            for arc, ref in refs.items()
            if isinstance(inside.get(arc.source), Shape)
        }
        drawing = draw(items, list(refs), labels)
        frame = _frame(drawing, entering, leaving)
        return _Part(drawing, frame, inside, refs, entering, leaving)

    def _inside(self, name: str) -> _Part | Shape:
        return self.part(name.removeprefix("group:")) if name.startswith("group:") else self._shapes[name]

    def _members(self, group: str) -> list[str]:
        """The shapes and groups directly inside a group, in the order of the network."""
        found = (self._member(name, group) for name in self._shapes)
        return list(dict.fromkeys(name for name in found if name is not None))

    def _member(self, shape: str, group: str) -> str | None:
        """What contains a shape, seen from a group: the shape itself, a subgroup, or nothing."""
        kind, _, path = shape.partition(":")
        parents = path.split(".")[:-1] if kind == "box" else []
        chain = [".".join(parents[: depth + 1]) for depth in range(len(parents))]
        chain = [name for name in chain if name not in self._dissolved]
        if not group:
            return f"group:{chain[0]}" if chain else shape
        if group not in chain:
            return None
        below = chain[chain.index(group) + 1 :]
        return f"group:{below[0]}" if below else shape

    def _arcs(self, group: str, inside: Mapping[str, _Part | Shape]) -> dict[Edge, Ref]:
        """The wires of a group between its members, its left border and its right border."""
        found: dict[Edge, Ref] = {}
        for ref, start, end in self._wires:
            source, target = self._member(start.shape, group), self._member(end.shape, group)
            if source == target:
                continue
            outlet = _port(inside.get(source or ""), start.port, ref, "leaving")
            inlet = _port(inside.get(target or ""), end.port, ref, "entering")
            found[Edge(source or f"enter {ref}", outlet, target or f"leave {ref}", inlet)] = ref
        return found


def _port(member: _Part | Shape | None, port: int, ref: Ref, direction: str) -> int:
    if isinstance(member, _Part):
        return (member.leaving if direction == "leaving" else member.entering).index(ref)
    return port if isinstance(member, Shape) else 0


def _wires(network: Network) -> Iterator[tuple[Ref, _End, _End]]:
    for ref in network.schemas:
        source = _End(f"input:{ref.id}" if ref.id in network.inputs else f"box:{ref.id}", ref.port)
        for box_id, port in network.consumers[ref]:
            yield ref, source, _End(f"box:{box_id}", port)
        for name, output in network.outputs.items():
            if output.source == ref:
                yield ref, source, _End(f"output:{name}", 0)


def _item(name: str, member: _Part | Shape) -> Item:
    if isinstance(member, Shape):
        return Item(name, member.width, member.height, member.inlets, member.outlets)
    frame = member.frame
    return Item(name, frame.width, frame.height, frame.inlets, frame.outlets)


def _frame(drawing: Drawing, entering: tuple[Ref, ...], leaving: tuple[Ref, ...]) -> Item:
    height = drawing.height + FRAME_TOP + FRAME_SIDE
    inlets = tuple(drawing.corners[f"enter {ref}"][1] + FRAME_TOP for ref in entering)
    outlets = tuple(drawing.corners[f"leave {ref}"][1] + FRAME_TOP for ref in leaving)
    width = drawing.width + (0.0 if leaving else FRAME_SIDE)
    return Item("", width, height, inlets or (0.0,), outlets or (0.0,))


def _collect(scene: Scene, network: Network, part: _Part, corner: Point) -> None:
    """Add a part and everything inside it to the scene, at its position."""
    for name, member in part.inside.items():
        place = _moved(part.drawing.corners[name], corner)
        if isinstance(member, Shape):
            scene.shapes.append((member, place))
            continue
        scene.frames.append(
            Frame(name.removeprefix("group:"), place, member.frame.width, member.frame.height)
        )
        _collect(scene, network, member, _moved(place, (0.0, FRAME_TOP)))
    for arc, ref in part.refs.items():
        points = tuple(_moved(point, corner) for point in part.drawing.ways[arc])
        has_head = isinstance(part.inside.get(arc.target), Shape)
        label = label_of(network, ref) if isinstance(part.inside.get(arc.source), Shape) else ""
        scene.wires.append(Wire(ref, points, has_head, label))


def _moved(point: Point, by: Point) -> Point:
    return (point[0] + by[0], point[1] + by[1])
