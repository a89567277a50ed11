"""`australis forget`: deletes what a root keeps for a consumer that will not return."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from australis.app.options import RootOptions, as_json_option, root_options
from australis.engine import deliver


@click.command()
@click.argument("consumer", metavar="CONSUMER")
@root_options
@click.option("--of", "output", metavar="OUTPUT", help="As a consumer of this output only. Default: of all.")
@as_json_option("what was deleted")
def command(consumer: str, output: str | None, as_json: bool, **options: Any) -> None:
    """Forget a consumer of a root: what was kept for it alone is deleted.

    CONSUMER is a file that `australis run --root` wrote, or the name that a subscriber gave. An output whose
    last consumer is forgotten keeps everything again. No node may have the root open.

    \b
    Examples:
      australis forget alarms.csv --root root
      australis forget dashboard --of alarms --root root
      australis forget dashboard --root root --json
    """
    root = RootOptions.take(options)
    forgotten = deliver.forget(root.root, consumer, output=output, catalog=root.catalog)
    if as_json:
        click.echo(json.dumps([asdict(each) for each in forgotten], indent=2))
        return
    for each in forgotten:
        click.echo(f"{consumer} is forgotten as a consumer of {each.output}: {each.tuples:,} tuples deleted")
