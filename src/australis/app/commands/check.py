"""`australis check`: whether a network is valid, and whether a machine can take its load."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click

from australis.algebra.network import Network
from australis.app import checking, showing
from australis.app.checking import CapacityQuestion, analysis_options
from australis.app.exit_codes import OVERLOADED, REFUSED
from australis.app.options import (
    find_network,
    format_option,
    grouped,
    named_files,
    named_formats,
    network_arguments,
    progress_option,
    with_formats,
)
from australis.errors import AlgebraError, Problem


@click.command(
    cls=grouped(
        Network=("function_files", "inputs", "input_formats"),
        Capacity=("rate", "capacity", "headroom", "train_ms"),
        Costs=("calibrate", "tuples", "root", "costs"),
    )
)
@network_arguments
@click.option(
    "--input",
    "-i",
    "inputs",
    multiple=True,
    metavar="NAME=FILE",
    help="Read the first 100,000 rows of a file for an input, and say what does not fit. Repeatable.",
)
@format_option
@click.option("--json", "as_json", is_flag=True, help="Print valid, problems and warnings as JSON.")
@analysis_options
@progress_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    net: str,
    function_files: tuple[str, ...],
    inputs: tuple[str, ...],
    input_formats: tuple[str, ...],
    as_json: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Say whether a network is valid, and what is wrong with it.

    Prints one line for a valid network, and a warning for what is allowed but probably not meant. Otherwise
    prints every problem found, with its path, its position in the text, and what was expected there, and
    exits with 2.

    With --input it reads rows of a file as well, and warns of fields that the schema does not have, of
    attributes that are NULL in every row, and of rows that would be quarantined.

    With --rate for every input it says as well whether a machine can take the load: what each box gets,
    emits, costs and needs, which one is the bottleneck, how much would have to be shed, and whether each
    output can be in the good zone of its delay graph. It exits with 3 if the network is overloaded. What
    boxes cost is measured here, with tuples that are made up or those of a file (--calibrate), or known
    from a node (--root).

    \b
    Examples:
      australis check examples/soldiers.yaml
      australis check examples/intrusion.py:network --json
      australis check soldiers.yaml --input reports=reports.jsonl
      australis check examples/soldiers.yaml --rate reports=20000/s
      australis check examples/soldiers.yaml --rate reports=1M/min --capacity 2 --headroom 0.8
      australis check soldiers.yaml --rate reports=20k/s --calibrate reports=reports.parquet
      australis check soldiers.yaml --rate reports=20k/s --root root --json
    """
    question = CapacityQuestion.asked(ctx, options)
    try:
        network = find_network(net, function_files)
        warnings = network.warnings()
    except AlgebraError as error:
        _report(error.problems, (), as_json)
        ctx.exit(REFUSED)
    except Exception as error:
        if as_json:
            _report([Problem(net, f"failed: {type(error).__name__}: {error}")], (), as_json)
        raise
    network = with_formats(network, named_formats(input_formats, network))
    files = named_files(inputs, list(network.inputs), "input")
    samples = checking.read_samples(network, files) if files else []
    warnings += tuple(warning for sample in samples for warning in sample.warnings)
    # Kernels are loaded only now, since that takes a while.
    answer = _analysed(network, question, progress) if question else None
    if not as_json:
        click.echo(_summary(network))
    _report((), warnings, as_json, answer, samples)
    if answer and answer.is_overloaded:
        ctx.exit(OVERLOADED)


def _analysed(network: Network, question: CapacityQuestion, progress: bool | None) -> checking.CapacityReport:
    with showing.show_steps("Measuring what boxes cost", wanted=progress):
        return checking.analyse_load(network, question)


def _report(
    problems: Iterable[Problem],
    warnings: Iterable[Problem],
    as_json: bool,
    answer: checking.CapacityReport | None = None,
    samples: Sequence[checking.Sample] = (),
) -> None:
    problems, warnings = tuple(problems), tuple(warnings)
    if as_json:
        said = {
            "valid": not problems,
            "problems": [problem.as_dict() for problem in problems],
            "warnings": [warning.as_dict() for warning in warnings],
            **({"samples": {each.input: each.as_dict() for each in samples}} if samples else {}),
            **({"analysis": answer.as_dict()} if answer else {}),
        }
        # Escapes, since a text may contain half a surrogate pair, and the terminal may have another encoding.
        click.echo(json.dumps(said, indent=2))
        return
    for problem in problems:
        click.echo(problem, err=True)
    for sample in samples:
        click.echo(
            f"{sample.input}: {sample.rows - sample.rejected:,} of {sample.rows:,} rows of {sample.file} fit"
        )
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    if answer:
        showing.show_capacity(answer)


def _summary(network: Network) -> str:
    parts = (
        _counted(sum(not given.table for given in network.inputs.values()), "input"),
        _counted(sum(given.table for given in network.inputs.values()), "stored table"),
        _counted(len(network.boxes), "box", "boxes"),
        _counted(len(network.outputs), "output"),
        _counted(len(network.connection_points), "connection point"),
    )
    return f"{network.name} is valid: {', '.join(part for part in parts if part)}"


def _counted(count: int, noun: str, plural: str = "") -> str:
    if not count:
        return ""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
