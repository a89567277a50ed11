"""`australis verify`: whether the files of a root are what its catalogue says, with nothing changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from australis.app.exit_codes import FAILED
from australis.app.options import functions_option, import_python
from australis.app.showing import statistics_tables as shown
from australis.engine import observe
from australis.engine.observe import Verification

_ORPHANS_SHOWN = 5


@click.command()
@click.argument("root", metavar="ROOT")
@click.option(
    "--catalog",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of the catalogue, if it is not in the root.",
)
@click.option("--quick", is_flag=True, help="Compare sizes and footers only, and read no tuples and states.")
@click.option("--empty-trash", is_flag=True, help="If nothing is wrong, delete what is in the trash.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@functions_option
@click.pass_context
def command(
    ctx: click.Context,
    root: str,
    catalog: Path | None,
    quick: bool,
    empty_trash: bool,
    as_json: bool,
    function_files: tuple[str, ...],
) -> None:
    """Verify a root at rest: every file against the catalogue, and both against each other.

    Files that the catalogue names must be there, with the bytes, rows, numbers and checksums that it knows.
    Root and catalogue must belong together and be of the same time. Consumers must be within the log, and
    the files that they wrote as they were left. Orphans, which a crash leaves, are no fault.

    Nothing is changed, except by --empty-trash. No node may have the root open. The exit code is 1 if
    anything is wrong.

    \b
    Examples:
      australis verify root
      australis verify root --quick --json | jq .findings
      australis verify s3://bucket/root --catalog catalog
      australis verify root --empty-trash
    """
    for name in function_files:
        import_python(name)
    with _progress() as heard:
        found = observe.verify(root, catalog=catalog, quick=quick, heard=heard)
    deletes = empty_trash and not found.findings
    deleted = observe.empty_trash(root, catalog=catalog) if deletes else 0
    if as_json:
        click.echo(json.dumps(found.as_dict() | {"deleted": deleted}, indent=2))
    else:
        click.echo("\n".join(_lines(root, found)))
        if empty_trash:
            told = f"{_count(deleted, 'file')} deleted from the trash" if deletes else "the trash is kept"
            click.echo(told)
    if found.findings:
        ctx.exit(FAILED)


def _lines(root: str, found: Verification) -> Iterator[str]:
    """What is wrong, or that nothing is, and what there is."""
    yield from map(str, found.findings)
    told = _count(len(found.findings), "finding") if found.findings else "nothing is wrong"
    yield f"{root}: {told}"
    if not found.version:
        return
    ended = "stopped in order" if found.is_closed else "the last node did not stop in order"
    yield f"  {_count(found.files, 'file')}, {shown.size(found.bytes)}, {_count(found.tuples, 'tuple')}"
    yield f"  catalogue version {found.version}, {found.commits:,} commits, epoch {found.epoch}; {ended}"
    if found.orphans:
        names = ", ".join(found.orphans[:_ORPHANS_SHOWN])
        more = ", ..." if len(found.orphans) > _ORPHANS_SHOWN else ""
        size = f"{_count(len(found.orphans), 'orphan')}, {shown.size(found.orphan_bytes)}"
        yield f"  {size}, moved to the trash at the next start: {names}{more}"
    if found.trash:
        size = f"{_count(found.trash, 'file')}, {shown.size(found.trash_bytes)}"
        yield f"  in the trash: {size}; deleted after a day"


def _count(number: int, noun: str) -> str:
    """How many of something.

    >>> _count(1, "file"), _count(2_000, "file")
    ('1 file', '2,000 files')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, which is gone at the end."""
    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("verifying"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("verifying", total=None)
        yield lambda done, files: bar.update(task, completed=done, total=files)
