"""`australis doctor`: whether this machine can run a node, and what to do if not; changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import click

from australis.app.doctor import Examination, Status, examine
from australis.app.exit_codes import FAILED
from australis.app.options import ListenAddress, RunnerName, host_and_port
from australis.engine.runner import SPARK


@click.command()
@click.option("--root", metavar="DIR", envvar="AUSTRALIS_ROOT", help="The root that a node will use.")
@click.option(
    "--catalog",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of the catalogue of a root that is a URI.",
)
@click.option(
    "--runner",
    type=RunnerName(),
    metavar="RUNNER",
    default=SPARK,
    show_default=True,
    help="What will run the node's trains; a light one needs no Java.",
)
@click.option("--master", metavar="URL", help="The Spark master, such as spark://host:7077.")
@click.option(
    "--port",
    "ports",
    type=ListenAddress(),
    metavar="[HOST:]PORT",
    multiple=True,
    help="A port that the node will listen on, such as that of --metrics.",
)
@click.option("--quick", is_flag=True, help="Start no node.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    root: str | None,
    catalog: Path | None,
    runner: str,
    master: str | None,
    ports: tuple[str, ...],
    quick: bool,
    as_json: bool,
) -> None:
    """Check whether this machine can run a node: Python, memory, disk, ports, Java and Spark.

    Each line says how something is, and what to do unless it is well. At the end a node in a temporary root
    takes a tuple through. Nothing is changed. The exit code is 1 if anything failed; a node runs with
    warnings.

    \b
    Examples:
      australis doctor
      australis doctor --runner light --root root --port 9100
      australis doctor --quick --json | jq '.findings[] | select(.status != "ok")'
    """
    asked = Examination(runner, master, root, catalog, [host_and_port(each) for each in ports], quick)
    findings = []
    for finding in examine(asked):
        findings.append(finding)
        if not as_json:
            click.echo("\n".join(finding.lines()))
    is_fit = all(finding.status is not Status.FAILED for finding in findings)
    if as_json:
        click.echo(json.dumps({"fit": is_fit, "findings": [each.as_dict() for each in findings]}, indent=2))
    if not is_fit:
        ctx.exit(FAILED)
