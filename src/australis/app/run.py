"""`australis run`: files of tuples through a network."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import combinations, product
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from australis.algebra.network import QUARANTINE, Network
from australis.app.cli import INTERRUPTED
from australis.app.engines import DEFAULT_ENGINE, ENGINES, start
from australis.app.networks import find_network, network_arguments
from australis.app.stopping import Stop, stoppable
from australis.app.summary import Summary
from australis.app.turns import Plan, run, stopped_clock, wall_clock
from australis.engine.files import STANDARD_STREAM, Reader, Writer, open_reader, open_writer

DEFAULT_BATCH = 10_000


@click.command()
@network_arguments
@click.option(
    "--input", "-i", "inputs", multiple=True, metavar="NAME=FILE", help="A file for an input. Repeatable."
)
@click.option(
    "--output", "-o", "outputs", multiple=True, metavar="NAME=FILE", help="A file for an output. Repeatable."
)
@click.option(
    "--engine",
    type=click.Choice(list(ENGINES)),
    default=DEFAULT_ENGINE,
    show_default=True,
    help="kernels is vectorised and fast; reference takes tuple by tuple, and says what is right.",
)
@click.option("--flush", is_flag=True, help="At the end close all windows and empty all buffers, in order.")
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=DEFAULT_BATCH,
    show_default=True,
    help="How many tuples an input brings when it is its turn.",
)
@click.option(
    "--clock",
    type=click.Choice(["wall", "stopped"]),
    default="wall",
    show_default=True,
    help="Local time, for timeouts: that of this machine, or none passes and no timeout fires.",
)
@click.option(
    "--format",
    "stream_format",
    type=click.Choice(["csv", "tsv", "jsonl"]),
    default="csv",
    show_default=True,
    help="The format of '-', standard input and output.",
)
@click.option("--strict", is_flag=True, help="Fail at the first row that would be quarantined.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON to standard output.")
@click.pass_context
def command(
    ctx: click.Context,
    net: str,
    function_files: tuple[str, ...],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    engine: str,
    flush: bool,
    batch: int,
    clock: str,
    stream_format: str,
    strict: bool,
    as_json: bool,
) -> None:
    """Run files of tuples through a network.

    The name of a file tells its format: .csv and .tsv with a header, .jsonl, .ndjson and .json with one
    object a line, .parquet; the text formats also as .gz. '-' is standard input or output. A timestamp
    without a zone is a local time of the network's time zone; an empty field of a CSV file is NULL, and "" is
    an empty string.

    Stored tables are read first. Then the inputs take turns in the order in which the network declares them,
    each with --batch tuples; a pipe brings what is there, at most so many. Rows that do not fit go to the
    output `quarantine`, with the line and the reason. Outputs appear under their names when the run is over,
    or not at all.

    \b
    Examples:
      australis run soldiers.yaml -i reports=reports.csv -o alarms=alarms.csv --flush
      australis run platoons.yaml -i x=x.parquet -i y=y.jsonl.gz -o pairs=pairs.parquet -o quarantine=bad.csv
      zcat reports.csv.gz | australis run soldiers.yaml -i reports=- -o alarms=- --format csv > alarms.csv
      australis run rules.json --functions my_functions.py -i events=events.csv -o found=found.csv --json
    """
    network = find_network(net, function_files)
    sources = _named_files(inputs, list(network.inputs), "input")
    targets = _named_files(outputs, [*network.outputs, QUARANTINE], "output")
    _check_files(network, sources, targets, as_json)
    now = wall_clock if clock == "wall" else stopped_clock()
    try:
        with stoppable() as stop, _reading(network, sources, stream_format) as readers:
            started = start(engine, network)
            with _writing(network, targets, stream_format, stop) as writers:
                plan = Plan(network, started, readers, writers, batch, flush, strict, now)
                summary = _run(plan, engine, targets, stop)
    except KeyboardInterrupt:
        click.echo("australis: interrupted; no output was written", err=True)
        ctx.exit(INTERRUPTED)
    _tell(summary, as_json)


def _named_files(options: tuple[str, ...], known: list[str], kind: str) -> dict[str, str]:
    """The files of NAME=FILE options by name."""
    files: dict[str, str] = {}
    for option in options:
        name, equals, path = option.partition("=")
        if not equals or not path:
            raise click.UsageError(f"--{kind} {option}: expected NAME=FILE")
        if name not in known:
            raise click.UsageError(
                f"--{kind} {option}: there is no {kind} {name!r}; there is {', '.join(known)}"
            )
        if name in files:
            raise click.UsageError(f"--{kind} {name} is given twice: {files[name]} and {path}")
        files[name] = path
    return files


def _check_files(
    network: Network, sources: Mapping[str, str], targets: Mapping[str, str], as_json: bool
) -> None:
    missing = [name for name in network.inputs if name not in sources]
    if missing:
        files = " ".join(f"--input {name}=FILE" for name in missing)
        raise click.UsageError(f"no file for {', '.join(missing)}: add {files}")
    _check_once("input", list(sources.values()))
    _check_once("output", list(targets.values()))
    for source, target in product(sources.values(), targets.values()):
        if _same_file(source, target):
            raise click.UsageError(f"{target} is an input and cannot be an output, too")
    if as_json and STANDARD_STREAM in targets.values():
        raise click.UsageError("--json prints to standard output, so no --output can be '-'")


def _check_once(kind: str, paths: list[str]) -> None:
    for first, second in combinations(paths, 2):
        if first == second or _same_file(first, second):
            raise click.UsageError(f"{second} stands for more than one {kind}")


def _same_file(first: str, second: str) -> bool:
    """Whether two names lead to one file, by whatever spelling or link; streams and devices are no files."""
    if STANDARD_STREAM in (first, second):
        return False
    one, other = Path(first).resolve(), Path(second).resolve()
    if one.is_file() and other.is_file():
        return one.samefile(other)
    return one == other and not one.exists()


@contextmanager
def _reading(network: Network, sources: Mapping[str, str], stream_format: str) -> Iterator[dict[str, Reader]]:
    """The opened inputs; a file that is not there or lacks a column is found before anything runs."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(
                open_reader(
                    sources[name], given.schema, timezone=network.timezone, stream_format=stream_format
                )
            )
            for name, given in network.inputs.items()
        }


@contextmanager
def _writing(
    network: Network, targets: Mapping[str, str], stream_format: str, stop: Stop
) -> Iterator[dict[str, Writer]]:
    """The opened outputs, which all get their names at the end, or leave nothing behind."""
    writers: dict[str, Writer] = {}
    try:
        for name, path in targets.items():
            with stop.deferred():
                writers[name] = open_writer(path, network.output_schema(name), stream_format=stream_format)
        yield writers
        for writer in writers.values():
            writer.finish()
        stop.too_late()
        for writer in writers.values():
            writer.publish()
    except BaseException:
        stop.too_late()
        for writer in writers.values():
            writer.discard()
        raise


def _run(plan: Plan, engine: str, targets: Mapping[str, str], stop: Stop) -> Summary:
    began = time.perf_counter()
    with _progress(plan.readers) as progressed:

        def heard(tuples: int) -> None:
            stop.check()
            progressed(tuples)

        tally = run(plan, heard)
    notes = tuple(note for reader in plan.readers.values() for note in reader.notes)
    seconds = time.perf_counter() - began
    return Summary(plan.network, engine, seconds, tally, targets, plan.engine.counters(), plan.flush, notes)


@contextmanager
def _progress(readers: Mapping[str, Reader]) -> Iterator[Callable[[int], None]]:
    """A bar on the terminal, by how much of the files was read; nothing where there is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda tuples: None
        return
    known = all(reader.size is not None for reader in readers.values())
    columns = (BarColumn(), TextColumn("{task.fields[tuples]:,} tuples"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("run", total=len(readers) if known else None, tuples=0)
        yield lambda tuples: progress.update(task, completed=_fraction(readers), tuples=tuples)


def _fraction(readers: Mapping[str, Reader]) -> float:
    return sum(reader.position() / reader.size for reader in readers.values() if reader.size)


def _tell(summary: Summary, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(summary.as_dict(), indent=2, ensure_ascii=False))
        return
    for line in summary.lines():
        click.echo(line, err=True)
