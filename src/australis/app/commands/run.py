"""`australis run`: runs streams of tuples through a network."""

from __future__ import annotations

import json
from typing import Any

import click

from australis.algebra.network import QUARANTINE
from australis.app import running
from australis.app.exit_codes import FAILED, INTERRUPTED
from australis.app.options import (
    NodeOptions,
    check_files,
    check_inputs,
    find_network,
    format_option,
    grouped,
    log_options,
    named_files,
    named_formats,
    network_arguments,
    node_options,
    refuse_elsewhere,
)
from australis.app.running import ENGINES, SPARK
from australis.engine import wall_clock
from australis.engine.sources import DEFAULT_BATCH


@click.command(
    cls=grouped(
        Inputs=(
            "inputs",
            "input_formats",
            "stream_format",
            "batch",
            "strict",
            "follow",
            "rate",
            "speed",
            "by",
        ),
        Outputs=("outputs", "part_size", "part_every", "flush", "as_json"),
        Engine=("engine", "clock", "function_files"),
        Node=(
            "root",
            "catalog",
            "runner",
            "partitions",
            "train",
            "train_limit",
            "disk",
            "metrics",
            "control",
        ),
        Quality_of_service=("shed", "headroom", "fairness", "schedule", "discipline", "optimise"),
        Spark=("master", "worker_wait", "way"),
    )
)
@network_arguments
@click.option(
    "--input",
    "-i",
    "inputs",
    multiple=True,
    metavar="NAME=FILE",
    help="A file for an input, a folder of files, or generator:OPTIONS. Repeatable.",
)
@format_option
@click.option(
    "--output", "-o", "outputs", multiple=True, metavar="NAME=FILE", help="A file for an output. Repeatable."
)
@click.option(
    "--engine",
    type=click.Choice([SPARK, *ENGINES]),
    default=SPARK,
    show_default=True,
    help="spark is a node: it runs continuously, on Spark or by --runner light on processes of this machine, "
    "and loses nothing; kernels is the same in this process, for small files; "
    "reference takes tuple by tuple, and says what is right.",
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
@click.option(
    "--strict",
    is_flag=True,
    help="Fail with exit code 1 if a tuple is quarantined, late or shed; without --root write no output.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON to standard output.")
@node_options
@log_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    net: str,
    function_files: tuple[str, ...],
    inputs: tuple[str, ...],
    input_formats: tuple[str, ...],
    outputs: tuple[str, ...],
    engine: str,
    clock: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Run streams of tuples through a network.

    The name of a file tells its format: .csv and .tsv with a header, .jsonl, .ndjson and .json with one
    object a line, .log for Zeek logs, .parquet; the text formats also as .gz, inputs also as .bz2 and .zst
    and in .zip archives. '-' is standard input or output. The `format` of an input, or --input-format, says
    what a name does not: no header, another separator, words for NULL. A timestamp without a zone is a local
    time of the network's time zone; an empty field of a CSV file is NULL, and "" is an empty string.

    Stored tables are read first; inputs with a store need no --input. Then the inputs take turns in the order
    in which the network declares them, each with --batch tuples; a pipe brings what is there, at most so
    many. Rows that do not fit go to the output `quarantine`, with the file, the line and the reason.

    Without --root the outputs appear under their names when the run is over, or not at all. With it they grow
    during the run, and the next run resumes where this one stopped, each tuple once, however this one ended.
    Ctrl-C ends a run with --root once running trains finish; a second Ctrl-C ends it at once.

    \b
    Examples:
      australis run soldiers.yaml -i reports=reports.csv -o alarms=alarms.csv --flush
      australis run soldiers.yaml -i reports=incoming/ --follow --root root -o alarms=alarms.csv
      australis run soldiers.yaml -i reports=generator:seed=7,tuples=1m,sid=key(50) --rate 5000/s -o alarms=-
      zcat reports.csv.gz | australis run soldiers.yaml -i reports=- -o alarms=- --format csv > alarms.csv
      australis run soldiers.yaml -i reports=reports.csv -o alarms=alarms.csv --runner light
      australis run soldiers.yaml -i reports=r.txt --input-format 'reports={csv: {separator: ;}}'
      australis run rules.json --functions my_functions.py -i events=events.csv -o found=found.csv --json
    """
    network = find_network(net, function_files)
    sources = named_files(inputs, list(network.inputs), "input")
    targets = named_files(outputs, [*network.outputs, QUARANTINE], "output")
    check_files(network, sources, targets, as_json)
    node = NodeOptions.take(options)
    if engine != SPARK:
        refuse_elsewhere(ctx, engine, network, sources, targets)
    node.check(ctx, targets.values())
    check_inputs(network, sources, is_resumable=node.root is not None)
    now = wall_clock if clock == "wall" else running.stopped_clock()
    formats = named_formats(input_formats, network)
    job = running.RunRequest(
        network, sources, targets, now=now, is_timed=clock == "wall", formats=formats, **options
    )
    with running.stoppable() as stop:
        try:
            summary = _run(job, engine, node, stop, as_json)
        except (KeyboardInterrupt, SystemExit) as ended:
            click.echo(f"australis: interrupted; {_what_is_left(node)}", err=True)
            ctx.exit(INTERRUPTED if isinstance(ended, KeyboardInterrupt) else stop.code)
    _print(summary, as_json, in_one_line=node.follow)
    is_interrupted = summary.node is not None and summary.node.interrupted
    if is_interrupted:
        click.echo(f"australis: interrupted; {_what_is_left(node)}", err=True)
    _warn(summary)
    if is_interrupted:
        ctx.exit(stop.code)
    if job.strict and summary.losses:
        ctx.exit(FAILED)


def _run(
    job: running.RunRequest, engine: str, node: NodeOptions, stop: running.Stop, as_json: bool
) -> running.Summary:
    if engine != SPARK:
        return running.run_in_process(job, engine, stop)
    return running.run_on_node(job, node, stop, as_json=as_json)


def _what_is_left(node: NodeOptions) -> str:
    if node.root is None:
        return "no output was written"
    return f"everything received is safe in {node.root}; run the same command to continue"


def _warn(summary: running.Summary) -> None:
    """Report losses at the very end of a run, where nobody overlooks them."""
    losses = summary.losses
    if losses:
        click.secho(f"\n{losses.headline()}", err=True, fg="red", bold=True)
        for line in losses.lines():
            click.echo(line, err=True)


def _print(summary: running.Summary, as_json: bool, *, in_one_line: bool) -> None:
    if as_json:
        click.echo(json.dumps(summary.as_dict(), indent=None if in_one_line else 2, ensure_ascii=False))
        return
    for line in summary.lines():
        click.echo(line, err=True)
