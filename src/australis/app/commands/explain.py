"""`australis explain`: a network as a tree, a picture, Mermaid text or JSON; or how it would run on Spark."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.tree import Tree

from australis.algebra.form import to_json
from australis.algebra.network import Network, Ref
from australis.app import running, showing
from australis.app.options import (
    DISCIPLINES,
    WAYS,
    RootOptions,
    find_network,
    functions_option,
    import_python,
)
from australis.app.pictures import draw_mermaid, draw_svg, network_tree, notation_of
from australis.errors import EngineError, Problem
from australis.rewrite.improve import RULES, Improved, improve

FORMATS = ("tree", "svg", "mermaid", "json")
_EXTENSIONS = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid", ".json": "json", ".txt": "tree"}
_WIDTH_OF_FILES = 120
_PARTITIONS = 2


@click.command()
@click.argument("net", metavar="[NET]", required=False)
@functions_option
@click.option("--root", metavar="DIR", help="Show what runs on a root, with its drop boxes, instead of NET.")
@click.option(
    "--catalog",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of the catalogue of a root that is a URI.",
)
@click.option(
    "--format", "picture", type=click.Choice(FORMATS), help="Default: by the name of --output, else tree."
)
@click.option("--output", "-o", metavar="FILE", help="Write there instead of to the terminal.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--physical", is_flag=True, help="Show how it would run on Spark: superboxes, stages, state.")
@click.option("--optimised", is_flag=True, help="Show it as the optimiser would begin with it, and why.")
@click.option("--discipline", type=click.Choice(DISCIPLINES), help="For --physical. Default: superbox.")
@click.option("--way", type=click.Choice(WAYS), help="For --physical. Default: fused.")
@click.option("--partitions", type=click.IntRange(min=1), help="For --physical. Default: 2.")
def command(
    net: str | None,
    function_files: tuple[str, ...],
    root: str | None,
    catalog: Path | None,
    picture: str | None,
    output: str | None,
    as_json: bool,
    physical: bool,
    optimised: bool,
    **settings: Any,
) -> None:
    """Show a network: boxes in the papers' notation, arcs with their schemas; or its plan on Spark.

    With --root it shows the network that runs there, as it runs. The root may be in use.

    \b
    Examples:
      australis explain examples/soldiers.yaml
      australis explain examples/intrusion.py:network --output intrusion.svg
      australis explain examples/stocks.yaml --format mermaid
      australis explain examples/stocks.yaml --physical --discipline box
      australis explain examples/plant.yaml --optimised
      australis explain --root root
    """
    live = None if root is None else RootOptions(root, catalog)
    _check(net, live, physical=physical, optimised=optimised)
    network = _network(net, live, function_files)
    improved = improve(network, rules=RULES if optimised else ())
    chosen = _chosen(picture, output, as_json)
    if physical:
        text = _physical(improved.network, chosen, settings, to_terminal=output is None)
    else:
        _refuse_settings(settings)
        text = _drawn(improved, chosen, to_terminal=output is None)
    if optimised and chosen == "tree":
        text += _rewrites(improved)
    if live is not None and chosen == "tree":
        text += _optimised(live)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise EngineError(Problem(output, f"cannot be written: {error.strerror or error}")) from None


def _check(net: str | None, live: RootOptions | None, *, physical: bool, optimised: bool) -> None:
    """Refuse options that cannot be combined."""
    if (net is None) == (live is None):
        raise click.UsageError("what is to be shown? Either NET, or what runs on --root DIR")
    if live is not None and physical:
        raise click.UsageError("--root shows the boxes of a root, and --physical how a network would run")
    if live is not None and optimised:
        raise click.UsageError("--root shows a network as it runs, and --optimised how one would begin")


def _network(net: str | None, live: RootOptions | None, function_files: tuple[str, ...]) -> Network:
    """The network of a file, or that of a root as it runs."""
    if net is not None:
        return find_network(net, function_files, as_written=True)
    assert live is not None
    for name in function_files:
        import_python(name)
    return running.network_of(live)


def _chosen(picture: str | None, output: str | None, as_json: bool) -> str:
    if as_json and picture not in (None, "json"):
        raise click.UsageError(f"--json is --format json, not --format {picture}")
    return "json" if as_json else picture or _format_of(output)


def _drawn(improved: Improved, chosen: str, *, to_terminal: bool) -> str:
    if chosen == "tree":
        return _tree(network_tree(improved.network), to_terminal=to_terminal)
    return _json(improved) if chosen == "json" else _PICTURES[chosen](improved.network)


def _rewrites(improved: Improved) -> str:
    """What was done to a network, in sentences."""
    lines = [f"{number}. {rewrite.says}" for number, rewrite in enumerate(improved.applied, 1)]
    return "\n".join(["", *(lines or ["No rule finds anything to improve."]), ""])


def _optimised(root: RootOptions) -> str:
    """What the optimiser did while the network ran, in sentences, and what it gained."""
    done = running.optimisations_of(root)
    lines = []
    for number, each in enumerate(done, 1):
        before, after = each["cost_before"], each["cost_after"]
        gain = f"{before / after:.2f} times as fast by what was measured" if after else ""
        lines += [f"{number}. {gain}", *(f"   {says}" for says in each["says"])]
    return "\n".join(["", "The optimiser:", *lines, ""]) if lines else ""


def _physical(network: Network, chosen: str, settings: Mapping[str, Any], *, to_terminal: bool) -> str:
    made = showing.physical_plan_of(
        network,
        settings["discipline"] or DISCIPLINES[0],
        settings["way"] or WAYS[0],
        settings["partitions"] or _PARTITIONS,
    )
    if chosen == "tree":
        return _tree(showing.physical_tree(network, made), to_terminal=to_terminal)
    if chosen == "json":
        return json.dumps(made.as_dict(), indent=2, ensure_ascii=False) + "\n"
    raise click.UsageError(f"--physical is a tree or JSON, not {chosen}")


def _refuse_settings(settings: Mapping[str, Any]) -> None:
    for name, value in settings.items():
        if value is not None:
            raise click.UsageError(f"--{name} is for --physical: add it")


def _format_of(output: str | None) -> str:
    if output is None:
        return "tree"
    suffix = Path(output).suffix.lower()
    if suffix not in _EXTENSIONS:
        known = f"{', '.join(_EXTENSIONS)}, or --format"
        raise click.UsageError(f"--output {output}: its name has no known extension; expected {known}")
    return _EXTENSIONS[suffix]


def _tree(tree: Tree, *, to_terminal: bool) -> str:
    """The tree as text, in colours and as wide as the terminal, if there is one."""
    on_terminal = to_terminal and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if on_terminal else _WIDTH_OF_FILES
    text = StringIO()
    console = Console(file=text, width=width, force_terminal=on_terminal, highlight=False, emoji=False)
    console.print(tree)
    # Rich pads lines with blanks, which are only in the way in a file.
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _json(improved: Improved) -> str:
    """The network's JSON form, with what is derived from it: order of boxes, schemas, marks, notation."""
    network = improved.network
    explained: dict[str, Any] = {
        "network": to_json(network),
        "order": list(network.order),
        "notation": {box_id: str(notation_of(node.box)) for box_id, node in network.boxes.items()},
        "schemas": {str(ref): schema.as_dict() for ref, schema in network.schemas.items()},
    }
    if marks := {str(ref): sorted(marked) for ref, marked in network.marked.items() if marked}:
        explained["marks"] = marks
    if late := _late_outputs(network):
        explained["late_outputs"] = late
    if improved.applied:
        explained["rewrites"] = [{"rule": each.rule, "says": each.says} for each in improved.applied]
    return json.dumps(explained, indent=2, ensure_ascii=False) + "\n"


def _late_outputs(network: Network) -> dict[str, str]:
    """The streams of late tuples, and the stream for which the tuples of each are late."""
    found = {}
    for box_id, node in network.boxes.items():
        late = node.box.late_ports
        for number, port in enumerate(late, node.box.outputs - len(late)):
            found[str(Ref(box_id, number))] = str(node.sources[port])
    return found


_PICTURES = {"svg": draw_svg, "mermaid": draw_mermaid}
