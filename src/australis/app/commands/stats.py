"""`australis stats`: the statistics of a root, from its catalogue: boxes, queues, outputs."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from australis.app import running
from australis.app.options import NodeAddress, RootOptions, reaching_argument, take_reached
from australis.app.showing import statistics_tables as shown
from australis.engine import observe
from australis.engine.ledger import Entry
from australis.engine.observe import Statistics

_WIDTH_OF_FILES = 120


@click.command()
@reaching_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON; with --watch, a line each time.")
@click.option("--watch", is_flag=True, help="Look again every second, until Ctrl-C.")
@click.option(
    "--every", type=click.FloatRange(min=0.1), default=1.0, show_default=True, help="For --watch: seconds."
)
@click.option("--shed", is_flag=True, help="All drop boxes that ever stood, and what each has shed.")
def command(as_json: bool, watch: bool, every: float, shed: bool, **options: Any) -> None:
    """Print the statistics of a root or a node: what went through each box, what waits, how late outputs are.

    For inputs with progress it shows how far their marks have come, and for each order by progress which
    input holds it back: that is why a window has no result yet.

    Where outputs have graphs it also shows what they got in the last seconds and what that is worth, and
    where drop boxes stand.

    The root may be in use: nothing is locked, and what is shown is what was committed by then. A network that
    names functions of yours needs --functions. `australis stats DIR` is the same as --root DIR.

    \b
    Examples:
      australis stats --root root
      australis stats --root root --json | jq .outputs
      australis stats --root root --watch
      australis stats --root root --shed
      australis stats --node https://node.example:8400 --watch
    """
    if shed and watch:
        raise click.UsageError("--shed is a list of all that was, and not for --watch")
    given = take_reached(options)
    if isinstance(given, NodeAddress):
        with running.RemoteNode(given) as node:
            _print(node.statistics, node.shed, as_json, shed, every if watch else None)
    else:
        _print(partial(_look, given), partial(_shed, given), as_json, shed, every if watch else None)


def _print(
    look: Callable[[], Statistics],
    drops: Callable[[], list[Entry]],
    as_json: bool,
    shed: bool,
    every: float | None,
) -> None:
    if shed:
        _print_shed(drops(), as_json)
    elif every is not None:
        _watch(look, as_json, every)
    elif as_json:
        click.echo(json.dumps(look().as_dict(), indent=2))
    else:
        _console().print(_picture(look()))


def _look(root: RootOptions) -> Statistics:
    """What a root has now: one in an object store is restored anew from the copies there."""
    with running.as_of_now(root) as given:
        return observe.look(_folder(given))


def _shed(root: RootOptions) -> list[Entry]:
    with running.as_of_now(root) as given:
        return observe.shed(_folder(given))


def _folder(root: RootOptions) -> Path:
    return root.catalog or Path(root.root)


def _print_shed(entries: list[Entry], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([asdict(each) for each in entries], indent=2))
    elif entries:
        _console().print(shown.dropboxes(entries, ended=True))
    else:
        click.echo("Nothing was ever shed.")


def _console() -> Console:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH_OF_FILES
    return Console(highlight=False, width=width)


def _watch(look: Callable[[], Statistics], as_json: bool, seconds: float) -> None:
    """Watch until Ctrl-C, which is the normal way to end it and not an error."""
    pause = threading.Event()
    try:
        if as_json or not sys.stdout.isatty():
            while True:
                found = look()
                click.echo(json.dumps(found.as_dict())) if as_json else _console().print(_picture(found))
                pause.wait(seconds)
        with Live(_picture(look()), console=_console(), auto_refresh=False) as view:
            while not pause.wait(seconds):
                view.update(_picture(look()), refresh=True)
    except KeyboardInterrupt:
        return


def _picture(statistics: Statistics) -> RenderableType:
    head = f": {statistics.waiting:,} tuples wait"
    parts: list[RenderableType] = [Text.assemble((statistics.network, "bold"), head)]
    room = shown.room(statistics)
    if room is not None:
        parts.append(room)
    parts += [Text(f"{name}: {state}") for name, state in statistics.tables.items()]
    if statistics.quality is not None:
        quality = statistics.quality
        parts += [Text(), shown.utility(quality), *shown.limits(quality), shown.qualities(quality)]
    if statistics.standing:
        parts += [Text(), shown.dropboxes(statistics.standing)]
    tables = [
        shown.boxes(statistics.boxes),
        shown.outputs(statistics.outputs),
        *([shown.marks(statistics.marks)] if statistics.marks else []),
        *([shown.orders(statistics.orders)] if statistics.orders else []),
        shown.superboxes(statistics),
        *([shown.arcs(statistics.arcs)] if any(statistics.arcs.values()) else []),
    ]
    return Group(*parts, *(each for table in tables for each in (Text(), table)))
