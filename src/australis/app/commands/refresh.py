"""`australis refresh`: a stored table, or a stream of one, is read again now."""

from __future__ import annotations

from typing import Any

import click

from australis.app.options.roots import Place, root_options
from australis.errors import EngineError, Problem


@click.command()
@click.argument("name", metavar="INPUT")
@root_options
def command(name: str, **options: Any) -> None:
    """Read the store of an input again, now; tuples that are pushed from then on meet its new rows.

    \b
    Examples:
      australis refresh cars --root root
    """
    place = Place.taken(options)
    with place.served(lambda: _check(place, name)) as node:
        node.refresh(name)
    click.echo(f"{name} is read again")


def _check(place: Place, name: str) -> None:
    """Refuse an input that has no store, before Spark is started for it."""
    known = [each for each, given in place.network().inputs.items() if given.store is not None]
    if name not in known:
        expected = f"one of {', '.join(known)}" if known else "a network with stores"
        raise EngineError(Problem(place.root, f"there is no input {name!r} with a store", expected))
