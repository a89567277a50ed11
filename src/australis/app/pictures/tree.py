"""A network as a tree for the terminal: inputs, below them the boxes that read them, and so on."""

from __future__ import annotations

from rich.text import Text
from rich.tree import Tree

from australis.algebra.network import Network, Ref
from australis.app.pictures.notation import (
    SIDES,
    notation_of,
    port_text,
    progress_notation,
    quality_notation,
    remark,
    stream_text,
)


def network_tree(network: Network) -> Tree:
    """The whole network; a box with several inputs is shown below the first, and its name below the others.

    Each stream has its schema and its marks; one of a box with several outputs also the number of its port.
    """
    return _Drawing(network).tree()


class _Drawing:
    def __init__(self, network: Network) -> None:
        self._network = network
        self._drawn: set[str] = set()

    def tree(self) -> Tree:
        network = self._network
        head = Text.assemble(
            (network.name, "bold"), f": {network.description}" if network.description else ""
        )
        root = Tree(head, guide_style="dim")
        # Tables come last: a join is shown below its stream.
        for name, given in sorted(network.inputs.items(), key=lambda item: item[1].table):
            kind = "stored table" if given.table else "input"
            kind += f" in {given.store}" if given.store else ""
            kind += f"\n{progress_notation(given.progress)}" if given.progress else ""
            label = _label(name, kind, "cyan", stream_text(network, Ref(name)))
            self._add_readers(root.add(label), Ref(name))
        return root

    def _add_readers(self, stream_tree: Tree, ref: Ref) -> None:
        """Add what reads a stream, and where its history is kept."""
        network = self._network
        for name, point in network.connection_points.items():
            if point.at == ref:
                kept = "" if point.history is None else f", history {point.history}"
                stream_tree.add(Text.assemble(("● ", "bold"), f"connection point {name}{kept}"))
        for box_id, port in network.consumers[ref]:
            self._box(stream_tree, box_id, port)
        for name, output in network.outputs.items():
            if output.source == ref:
                graphs = "" if output.quality is None else f"\n{quality_notation(output.quality)}"
                stream_tree.add(Text.assemble(_label(name, "output", "green"), (graphs, "dim")))

    def _box(self, parent: Tree, box_id: str, port: int) -> None:
        node = self._network.boxes[box_id]
        side = SIDES[port] if node.box.arity == (2, 2) else f"input {port}"
        if box_id in self._drawn:
            parent.add(Text.assemble((box_id, "bold"), f" ({side}, see above)"))
            return
        self._drawn.add(box_id)
        where = f" ({side})" if len(node.sources) > 1 else ""
        schemas = "" if node.box.outputs > 1 else stream_text(self._network, Ref(box_id))
        what = "\n".join(text for text in (str(notation_of(node.box)), remark(node)) if text)
        style = "red" if remark(node) else "default"
        tree = parent.add(_label(f"{box_id}{where}", what, style, schemas))
        if node.box.outputs == 1:
            self._add_readers(tree, Ref(box_id))
            return
        for number in range(node.box.outputs):
            self._port(tree, Ref(box_id, number))

    def _port(self, tree: Tree, ref: Ref) -> None:
        read = bool(self._network.consumers[ref]) or any(
            o.source == ref for o in self._network.outputs.values()
        )
        read = read or any(point.at == ref for point in self._network.connection_points.values())
        if read:
            name = port_text(self._network.boxes[ref.id].box, ref.port)
            late = "" if name == str(ref.port) else f", {name}"
            label = Text.assemble(
                (f"port {ref.port}{late} ", "bold"), (stream_text(self._network, ref), "dim")
            )
            self._add_readers(tree.add(label), ref)


def _label(name: str, what: str, style: str, schema: str = "") -> Text:
    lines = [(name, f"bold {style}"), ": ", what]
    return Text.assemble(*lines, *([("\n" + schema, "dim")] if schema else []))  # type: ignore[arg-type]
