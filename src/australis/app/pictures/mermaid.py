"""A network as Mermaid text, for Markdown pages."""

from __future__ import annotations

from collections.abc import Iterator

from australis.algebra.network import Network, Ref
from australis.app.pictures.notation import (
    notation_of,
    port_text,
    progress_notation,
    quality_notation,
    remark,
)


def draw_mermaid(network: Network) -> str:
    """A left-to-right flowchart."""
    return "\n".join(["flowchart LR", *_nodes(network), *_arcs(network), ""])


def _nodes(network: Network) -> Iterator[str]:
    for name, given in network.inputs.items():
        shape = ("[(", ")]") if given.table else ("([", "])")
        made = "" if given.progress is None else f"<br/>{_escaped(str(progress_notation(given.progress)))}"
        yield f'  {_id("in", name)}{shape[0]}"{_escaped(name)}{made}"{shape[1]}'
    yield from _boxes(network, "", "  ")
    for name, output in network.outputs.items():
        graphs = "" if output.quality is None else f"<br/>{_escaped(str(quality_notation(output.quality)))}"
        yield f'  {_id("out", name)}>"{_escaped(name)}{graphs}"]'
    for name in network.connection_points:
        yield f"  {_id('point', name)}(({_quoted('● ' + name)}))"


def _boxes(network: Network, prefix: str, indent: str) -> Iterator[str]:
    """The boxes under a path, groups as subgraphs."""
    seen = set()
    for box_id, node in network.boxes.items():
        if not box_id.startswith(prefix):
            continue
        head, dot, _ = box_id[len(prefix) :].partition(".")
        if not dot:
            texts = (box_id, str(notation_of(node.box)), remark(node))
            label = "<br/>".join(_escaped(text) for text in texts if text)
            yield f'{indent}{_id("box", box_id)}["{label}"]'
        elif head not in seen:
            seen.add(head)
            yield f"{indent}subgraph {_id('group', prefix + head)} [{_quoted(head)}]"
            yield from _boxes(network, f"{prefix}{head}.", indent + "  ")
            yield f"{indent}end"


def _arcs(network: Network) -> Iterator[str]:
    for ref in network.schemas:
        source = _id("in" if ref.id in network.inputs else "box", ref.id)
        for box_id, _ in network.consumers[ref]:
            yield f"  {source} -->|{_quoted(_arc_text(network, ref))}| {_id('box', box_id)}"
        for name, output in network.outputs.items():
            if output.source == ref:
                yield f"  {source} -->|{_quoted(_arc_text(network, ref))}| {_id('out', name)}"
        for name, point in network.connection_points.items():
            if point.at == ref:
                yield f"  {source} -.- {_id('point', name)}"


def _arc_text(network: Network, ref: Ref) -> str:
    node = network.boxes.get(ref.id)
    port = "" if node is None else port_text(node.box, ref.port)
    return (f"{port}: " if port else "") + ", ".join(network.schemas[ref].names)


def _id(kind: str, name: str) -> str:
    return f"{kind}_{name.replace('.', '__')}"


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Escape a text: Mermaid reads entities without the ampersand, and some signs have meanings."""
    signs = {"&": "#amp;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;", "`": "#96;", "|": "#124;"}
    return "".join(signs.get(sign, sign) for sign in text.replace("\n", " "))
