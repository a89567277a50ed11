"""`australis move`: lets boxes run at another node, while everything runs."""

from __future__ import annotations

import json
from typing import Any

import click

from australis.app import running, showing
from australis.app.options import (
    as_json_option,
    log_options,
    node_address_options,
    progress_option,
    take_asked_node,
)


@click.command()
@click.argument("boxes", metavar="BOX...", nargs=-1, required=True)
@click.argument("to", metavar="NODE")
@node_address_options
@as_json_option("how it went")
@progress_option
@log_options
def command(boxes: tuple[str, ...], to: str, as_json: bool, progress: bool | None, **options: Any) -> None:
    """Move boxes, or groups of boxes, from a node to another one, with their states.

    The states are copied while the boxes run. Then the boxes stop, for as long as the rest takes, and go on
    at the other node. Inputs, outputs and subscribers stay where they are: links lead to the boxes and back.
    Nothing is lost, and nothing comes twice.

    If the move fails before the boxes have stopped, nothing has changed. If the other node is lost after
    that, the boxes go on there when it is back.

    \b
    Examples:
      australis move detect lab/b --node http://127.0.0.1:8400
      australis move filter count lab/b --json
    """
    with (
        running.RemoteNode(take_asked_node(options), stays=True) as node,
        showing.show_steps(f"Moving {', '.join(boxes)} to {to}", wanted=progress),
    ):
        found = node.client.move(boxes, to)
    if as_json:
        click.echo(json.dumps(found))
    elif found["state"] == "taken":
        click.echo(f"{', '.join(found['boxes'])} run at {found['to']} now{_pause(found)}")
    else:
        click.echo(
            f"{', '.join(found['boxes'])} have left, and begin at {found['to']} when it answers:"
            f" {found['problem']}"
        )


def _pause(found: dict[str, Any]) -> str:
    """For how long they have stood still, as far as that is known."""
    if found["stood_still_ms"] is None:
        return ""
    sent = found["bytes_ahead"] + found["bytes_after"]
    return f", after a pause of {found['stood_still_ms']:,.0f} ms ({sent:,} bytes of states)"
