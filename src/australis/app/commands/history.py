"""`australis history`: what a connection point keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import click
import pyarrow as pa

from australis.algebra.schema import Schema
from australis.algebra.spans import microseconds
from australis.app import asking, running, showing
from australis.app.options import (
    NodeAddress,
    point_schema,
    progress_option,
    reaching_options,
    take_reached,
)
from australis.engine import wall_clock
from australis.engine.files import STANDARD_STREAM, format_of
from australis.errors import AlgebraError


@click.command()
@click.argument("point", metavar="NAME")
@reaching_options
@click.option("--where", metavar="EXPRESSION", help="Only tuples that satisfy this predicate.")
@click.option("--since", metavar="TIME", help="Only what arrived since: 2h ago, or 2026-03-01T12:00.")
@click.option("--until", metavar="TIME", help="Only what arrived before.")
@click.option("--columns", metavar="A,B", help="Only these attributes.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="The first N tuples.")
@click.option("--output", "-o", metavar="FILE", help=".csv, .tsv, .jsonl or .parquet; '-' is JSON lines.")
@click.option("--files", is_flag=True, help="Print the Parquet files instead, for DuckDB, pandas or Spark.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines, also on a terminal; of --files a list.")
@progress_option
def command(
    point: str,
    where: str | None,
    since: str | None,
    until: str | None,
    columns: str | None,
    limit: int | None,
    output: str | None,
    files: bool,
    as_json: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Print what a connection point keeps, in the order in which it came. A node may have the root open.

    A TIME is so long ago (90s, 2h, 3d), or a moment; one without a zone is of the network's time zone. A
    predicate on the storage key, and times, are looked up; any other predicate reads all.

    \b
    Examples:
      australis history pos --since 2h --root root
      australis history pos --where "car = 17 AND speed > 80" --columns car,speed --root root
      australis history pos --since 1d --output yesterday.parquet --root root
      australis history pos --files --root root
      australis history pos --since 2h --node https://node.example:8400
    """
    given = take_reached(options)
    if isinstance(given, NodeAddress):
        _print_remote(given, point, where, since, until, columns, limit, output, files, as_json)
        return
    root = running.for_reading(given)
    network = running.network_of(root)
    schema = point_schema(network, point)
    if output is not None and output != STANDARD_STREAM:
        format_of(output)
    if files:
        _print_files(asking.history_files(root, point), as_json)
        return
    names = _columns(columns, schema)
    now, zone = wall_clock(), ZoneInfo(network.timezone)
    is_file = output not in (None, STANDARD_STREAM)
    with (
        running.stoppable() as stop,
        showing.show_steps("Reading", wanted=progress if is_file else False) as bar,
    ):
        tables = asking.history_of(
            root,
            point,
            where=where,
            since_us=_moment(since, now, zone),
            until_us=_moment(until, now, zone),
            columns=names,
            limit=limit,
        )
        kept = schema if names is None else Schema(tuple(schema[name] for name in names))
        with asking.open_destination({point: kept}, output, limit, as_json=as_json) as target:
            target.is_whole_only = True
            asking.deliver(((point, _noted(table, bar.advance)) for table in tables), target, stop)


def _print_remote(
    address: NodeAddress,
    point: str,
    where: str | None,
    since: str | None,
    until: str | None,
    columns: str | None,
    limit: int | None,
    output: str | None,
    files: bool,
    as_json: bool,
) -> None:
    """Print what a node at an address keeps; its files are elsewhere."""
    if files:
        raise click.UsageError("--files are those of a root of this machine, and not for --node")
    with running.stoppable() as stop, running.RemoteNode(address) as node:
        network = node.client.network()
        schema = point_schema(network, point)
        names, now, zone = _columns(columns, schema), wall_clock(), ZoneInfo(network.timezone)
        kept = schema if names is None else Schema(tuple(schema[name] for name in names))
        begin, end = _moment(since, now, zone), _moment(until, now, zone)
        table = node.client.history(point, where, since=begin, until=end, columns=names, limit=limit)
        with asking.open_destination({point: kept}, output, limit, as_json=as_json) as target:
            target.is_whole_only = True
            asking.deliver(((point, each) for each in (table,)), target, stop)


def _noted(table: pa.Table, read: Callable[[int], None]) -> pa.Table:
    read(table.num_rows)
    return table


def _print_files(files: list[str], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(files, indent=2))
    elif files:
        click.echo("\n".join(files))
    else:
        click.echo("No file holds history of it so far.", err=True)


def _columns(columns: str | None, schema: Schema) -> list[str] | None:
    if columns is None:
        return None
    names = [name.strip() for name in columns.split(",")]
    for name in names:
        if name not in schema:
            raise click.UsageError(f"--columns: there is no {name!r}; there is {', '.join(schema.names)}")
    return names


def _moment(text: str | None, now_us: int, zone: ZoneInfo) -> int | None:
    """A time in microseconds since 1970, given as how long ago or as a moment.

    >>> berlin = ZoneInfo("Europe/Berlin")
    >>> _moment("2s", 5_000_000, berlin), _moment("1970-01-01T01:00:01", 0, berlin)
    (3000000, 1000000)
    """
    if text is None:
        return None
    try:
        return now_us - microseconds(text)
    except AlgebraError:
        # Then it is a moment, or refused below.
        pass
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"{text!r} is no time: try 90s, 2h, 3d or 2026-03-01T12:00") from None
    since = (found if found.tzinfo else found.replace(tzinfo=zone)) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
