"""`australis refresh`: a stored table, or a stream of one, is read again now."""

from __future__ import annotations

from typing import Any

import click

from australis.app.roots import Place, root_options


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
    reached = place.node()
    if reached is not None:
        with reached:
            reached.refresh(name)
    else:
        with place.opened() as node:
            node.refresh(name)
    click.echo(f"{name} is read again")
