"""`australis verify`: whether the files of a root are what its catalogue says; changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from australis.app import showing
from australis.app.exit_codes import FAILED
from australis.app.options import RootOptions, progress_option, root_argument
from australis.app.showing import statistics_tables as shown
from australis.engine import observe
from australis.engine.observe import Verification

_ORPHANS_SHOWN = 5


@click.command()
@root_argument
@click.option("--quick", is_flag=True, help="Compare sizes and footers only, and read no tuples and states.")
@click.option("--empty-trash", is_flag=True, help="If no problem is found, delete what is in the trash.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@progress_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    quick: bool,
    empty_trash: bool,
    as_json: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Verify a root at rest: every file against the catalogue, and both against each other.

    Files that the catalogue names must be there, with the bytes, rows, numbers and checksums that it knows.
    Root and catalogue must belong together and be of the same time. Consumers must be within the log, and
    the files that they wrote as they were left. Orphans, which a crash leaves, are no fault.

    Nothing is changed, except by --empty-trash. No node may have the root open. The exit code is 1 if
    anything is wrong. `australis verify DIR` is the same as --root DIR.

    \b
    Examples:
      australis verify --root root
      australis verify --root root --quick --json | jq .findings
      australis verify --root s3://bucket/root --catalog catalog
      australis verify --root root --empty-trash
    """
    given = RootOptions.take(options)
    root, catalog = given.root, given.catalog
    with showing.show_steps("Verifying", wanted=progress) as bar:
        found = observe.verify(root, catalog=catalog, quick=quick, heard=bar.move)
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
    """What is wrong, or that nothing is, and what the root has."""
    yield from map(str, found.findings)
    told = _count(len(found.findings), "finding") if found.findings else "no problems found"
    yield f"{root}: {told}"
    if not found.version:
        return
    ended = "shut down cleanly" if found.is_closed else "the last node did not shut down cleanly"
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
