"""`australis detach`: an ad hoc query goes, with all that was kept for it."""

from __future__ import annotations

from typing import Any

import click

from australis.app.options.roots import Place, root_options
from australis.errors import EngineError, Problem


@click.command()
@click.argument("name", metavar="NAME")
@root_options
def command(name: str, **options: Any) -> None:
    """Take an ad hoc query away, whoever reads it; `australis query --list` has the names.

    \b
    Examples:
      australis detach speeders --root root
    """
    place = Place.taken(options)
    with place.served(lambda: _check(place, name)) as node:
        node.detach(name)
    click.echo(f"{name} is detached")


def _check(place: Place, name: str) -> None:
    """Refuse a query that is not there, before Spark is started for it."""
    known = place.record().queries
    if name not in known:
        expected = f"one of {', '.join(known)}" if known else "a root with queries"
        raise EngineError(Problem(place.root, f"there is no query {name!r}", expected))
