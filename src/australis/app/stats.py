"""`australis stats`: what the catalogue of a root tells of boxes, queues and outputs."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from australis.app import shown
from australis.app.networks import functions_option, import_python

if TYPE_CHECKING:
    from australis.engine.statistics import Statistics

_WIDTH_OF_FILES = 120


@click.command()
@click.argument("root", metavar="ROOT", type=click.Path(path_type=Path))
@functions_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON; with --watch, a line for each look.")
@click.option("--watch", is_flag=True, help="Look again every second, until Ctrl-C.")
@click.option(
    "--every", type=click.FloatRange(min=0.1), default=1.0, show_default=True, help="For --watch: seconds."
)
def command(root: Path, function_files: tuple[str, ...], as_json: bool, watch: bool, every: float) -> None:
    """Print the statistics of a root: what went through each box, what waits, how late outputs are.

    ROOT is the folder of `australis run --root`, or of --catalog. It may be in use: nothing is locked, and
    what is shown is what was committed by then. A network that names functions of yours needs --functions.

    \b
    Examples:
      australis stats root
      australis stats root --json | jq .outputs
      australis stats root --watch
    """
    for name in function_files:
        import_python(name)
    if watch:
        _watch(root, as_json, every)
    elif as_json:
        click.echo(json.dumps(_look(root).as_dict(), indent=2))
    else:
        _console().print(_picture(_look(root)))


def _look(root: Path) -> Statistics:
    found: Statistics = importlib.import_module("australis.engine.looking").look(root)
    return found


def _console() -> Console:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH_OF_FILES
    return Console(highlight=False, width=width)


def _watch(root: Path, as_json: bool, seconds: float) -> None:
    """Look until Ctrl-C, which is the way to end it and no error."""
    pause = threading.Event()
    try:
        if as_json or not sys.stdout.isatty():
            while True:
                found = _look(root)
                click.echo(json.dumps(found.as_dict())) if as_json else _console().print(_picture(found))
                pause.wait(seconds)
        with Live(_picture(_look(root)), console=_console(), auto_refresh=False) as view:
            while not pause.wait(seconds):
                view.update(_picture(_look(root)), refresh=True)
    except KeyboardInterrupt:
        return


def _picture(statistics: Statistics) -> RenderableType:
    waiting = sum(each.queue for each in statistics.superboxes.values())
    head = Text.assemble((statistics.network, "bold"), f": {waiting:,} tuples wait")
    parts: list[RenderableType] = [
        head,
        Text(),
        shown.boxes(statistics.boxes),
        Text(),
        shown.outputs(statistics.outputs),
        Text(),
        shown.superboxes(statistics),
    ]
    if statistics.quality is not None:
        total = f"utility {statistics.quality.utility:.2f} of {statistics.quality.most:g}"
        over = f" over {statistics.quality.window_s} s"
        parts += [Text(), Text(total + over), shown.qualities(statistics.quality, statistics.shed)]
    standing = [each for each in statistics.dropboxes if each.until is None]
    if standing:
        parts += [Text(), shown.dropboxes(standing)]
    if any(statistics.arcs.values()):
        parts += [Text(), shown.arcs(statistics.arcs)]
    return Group(*parts)
