"""`australis check`: is a network valid, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterable

import click

from australis.algebra.network import Network
from australis.app.cli import REFUSED
from australis.app.networks import find_network, network_arguments
from australis.errors import AlgebraError, Problem


@click.command()
@network_arguments
@click.option("--json", "as_json", is_flag=True, help="Print valid, problems and warnings as JSON.")
@click.pass_context
def command(ctx: click.Context, net: str, function_files: tuple[str, ...], as_json: bool) -> None:
    """Say whether a network is valid, and what is wrong with it.

    Prints one line for a valid network, and a warning for what is allowed but probably not meant. Otherwise
    prints every problem found, with its path, its position in the text, and what was expected there, and
    exits with 2.

    \b
    Examples:
      australis check examples/soldiers.yaml
      australis check examples/intrusion.py:network --json
    """
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
    if not as_json:
        click.echo(_summary(network))
    _report((), warnings, as_json)


def _report(problems: Iterable[Problem], warnings: Iterable[Problem], as_json: bool) -> None:
    problems, warnings = tuple(problems), tuple(warnings)
    if as_json:
        answer = {
            "valid": not problems,
            "problems": [problem.as_dict() for problem in problems],
            "warnings": [warning.as_dict() for warning in warnings],
        }
        # Escapes, since a text may hold half a surrogate pair, and the terminal have an encoding of its own.
        click.echo(json.dumps(answer, indent=2))
        return
    for problem in problems:
        click.echo(problem, err=True)
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)


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
