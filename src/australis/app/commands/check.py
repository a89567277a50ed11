"""`australis check`: whether a network is valid, and whether a machine can take its load."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from australis.algebra.form import SUFFIXES
from australis.algebra.network import Network
from australis.app import checking, running, showing
from australis.app.checking import CapacityQuestion, analysis_options
from australis.app.exit_codes import OVERLOADED, REFUSED
from australis.app.options import (
    NodeAddress,
    find_network,
    format_option,
    grouped,
    is_by_hand,
    named_files,
    named_formats,
    network_arguments,
    node_address_options,
    progress_option,
    take_named_node,
    with_formats,
)
from australis.errors import AlgebraError, Problem

_THERE = ("net", "node", "token_file", "ca", "as_json", "progress")
"""The parameters that --node leaves a meaning."""


@click.command(
    cls=grouped(
        Network=("function_files", "inputs", "input_formats"),
        Capacity=("rate", "capacity", "headroom", "train_ms"),
        Costs=("calibrate", "tuples", "rehearse", "root", "costs"),
        Node=("node", "token_file", "ca"),
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
@node_address_options
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

    With --node, the node at that address checks the network instead: with the functions that it has, and by
    what it lets a deployed network read. $AUSTRALIS_NODE does not count here.

    \b
    Examples:
      australis check examples/soldiers.yaml
      australis check examples/intrusion.py:network --json
      australis check soldiers.yaml --input reports=reports.jsonl
      australis check examples/soldiers.yaml --rate reports=20000/s
      australis check examples/soldiers.yaml --rate reports=1M/min --capacity 2 --headroom 0.8
      australis check soldiers.yaml --rate reports=20k/s --calibrate reports=reports.parquet
      australis check soldiers.yaml --rate reports=20k/s --root root --json
      australis check soldiers.yaml --node https://node.example:8400
    """
    node = take_named_node(options)
    if node is not None:
        _check_there(ctx, net, node, as_json)
        return
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


def _check_there(ctx: click.Context, net: str, address: NodeAddress, as_json: bool) -> None:
    """Let a node say whether it could run a network."""
    others = [name for name in ctx.params if name not in _THERE and is_by_hand(name)]
    if others:
        option = others[0].replace("_", "-")
        raise click.UsageError(f"--{option} is for networks that are checked here, and not for --node")
    with running.RemoteNode(address) as node:
        found = node.check(_as_deployed(net))
    if found.ok and not as_json:
        click.echo(f"{net} is valid on {address.root}")
    _report(found.problems, found.warnings, as_json)
    if not found.ok:
        ctx.exit(REFUSED)


def _as_deployed(net: str) -> Network | str:
    """What `deploy` would send, or the text of a file whose functions perhaps only the node has."""
    try:
        return find_network(net)
    except AlgebraError:
        if not (net.lower().endswith(SUFFIXES) and Path(net).is_file()):
            raise
        return Path(net).read_text(encoding="utf-8")


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
