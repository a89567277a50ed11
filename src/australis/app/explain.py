"""`australis explain`: a network as a tree on the terminal, as a picture, as Mermaid text, or as JSON."""

from __future__ import annotations

import json
import shutil
import sys
from io import StringIO
from pathlib import Path

import click
from rich.console import Console

from australis.algebra.form import to_json
from australis.algebra.network import Network
from australis.app.networks import find_network, network_arguments
from australis.app.pictures.mermaid import mermaid
from australis.app.pictures.notation import notation
from australis.app.pictures.svg import svg
from australis.app.pictures.tree import network_tree
from australis.errors import EngineError, Problem

FORMATS = ("tree", "svg", "mermaid", "json")
_EXTENSIONS = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid", ".json": "json", ".txt": "tree"}
_WIDTH_OF_FILES = 120


@click.command()
@network_arguments
@click.option(
    "--format", "picture", type=click.Choice(FORMATS), help="Default: by the name of --output, else tree."
)
@click.option("--output", "-o", metavar="FILE", help="Write there instead of to the terminal.")
def command(net: str, function_files: tuple[str, ...], picture: str | None, output: str | None) -> None:
    """Show a network: boxes in the papers' notation, arcs with their schemas.

    \b
    Examples:
      australis explain examples/soldiers.yaml
      australis explain examples/intrusion.py:network --output intrusion.svg
      australis explain examples/stocks.yaml --format mermaid
    """
    network = find_network(net, function_files)
    chosen = picture or _format_of(output)
    text = _tree(network, to_terminal=output is None) if chosen == "tree" else _PICTURES[chosen](network)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise EngineError(Problem(output, f"cannot be written: {error.strerror or error}")) from None


def _format_of(output: str | None) -> str:
    if output is None:
        return "tree"
    suffix = Path(output).suffix.lower()
    if suffix not in _EXTENSIONS:
        known = f"{', '.join(_EXTENSIONS)}, or --format"
        raise click.UsageError(f"--output {output}: its name tells no format; expected {known}")
    return _EXTENSIONS[suffix]


def _tree(network: Network, *, to_terminal: bool) -> str:
    """The tree as text, in colours and as wide as the terminal where there is one."""
    on_terminal = to_terminal and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if on_terminal else _WIDTH_OF_FILES
    text = StringIO()
    console = Console(file=text, width=width, force_terminal=on_terminal, highlight=False, emoji=False)
    console.print(network_tree(network))
    # Rich fills lines with blanks; on a page they are only in the way.
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _json(network: Network) -> str:
    """The network's form, with what follows from it: the order of boxes, the schemas, the notation."""
    explained = {
        "network": to_json(network),
        "order": list(network.order),
        "notation": {box_id: str(notation(node.box)) for box_id, node in network.boxes.items()},
        "schemas": {str(ref): schema.as_dict() for ref, schema in network.schemas.items()},
    }
    return json.dumps(explained, indent=2, ensure_ascii=False) + "\n"


_PICTURES = {"svg": svg, "mermaid": mermaid, "json": _json}
