"""`australis forget`: deletes what a root keeps for a consumer that will not return."""

from __future__ import annotations

from pathlib import Path

import click

from australis.app.options import functions_option, import_python
from australis.engine import deliver


@click.command()
@click.argument("root", metavar="ROOT")
@click.argument("consumer", metavar="CONSUMER")
@click.option("--output", metavar="NAME", help="Of this output only. Default: of all that it reads.")
@click.option(
    "--catalog",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of the catalogue of a root that is a URI.",
)
@functions_option
def command(
    root: str, consumer: str, output: str | None, catalog: Path | None, function_files: tuple[str, ...]
) -> None:
    """Forget a consumer of a root: what was kept for it alone is deleted.

    CONSUMER is a file that `australis run --root` wrote, or the name that a subscriber gave. An output whose
    last consumer is forgotten keeps everything again. No node may have the root open.

    \b
    Examples:
      australis forget root alarms.csv
      australis forget root dashboard --output alarms
    """
    for name in function_files:
        import_python(name)
    for each in deliver.forget(root, consumer, output=output, catalog=catalog):
        click.echo(f"{consumer} is forgotten as a consumer of {each.output}: {each.tuples:,} tuples deleted")
