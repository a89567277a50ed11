"""`australis grant`: what nodes of other participants may run at this participant's nodes."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from australis.algebra.boxes import BOXES
from australis.algebra.spans import microseconds
from australis.app import running
from australis.app.options import (
    Duration,
    Size,
    as_json_option,
    log_options,
    node_address_options,
    take_asked_node,
    take_named_node,
)
from australis.app.showing import print_columns
from australis.cluster.grants import Grant, Limits, Signed, Withdrawal, examined, read_signed, signed
from australis.cluster.identity import Credentials, Seals
from australis.engine.sources import parse_rate
from australis.errors import ClusterError, Problem

_OFFERED = tuple(kind for kind, box in BOXES.items() if not box.system and box.arity[0] < 2)
_identity_option = click.option(
    "--identity",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The identity of a node of the participant that grants.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Let nodes of other participants put boxes behind outputs, so that only what they need crosses over.

    A grant is a file that a node of the granting participant has signed: give it to its holders, who name it
    in cluster.grants. It can be withdrawn; then the boxes go.

    \b
    Examples:
      australis grant new 'lab/*' --behind trades --identity a -o trades.grant
      australis grant show trades.grant
      australis grant withdraw trades.grant --identity a --node http://127.0.0.1:8400
      australis grant list --node http://127.0.0.1:8400
    """


@command.command(name="new")
@click.argument("holders", metavar="NODE...", nargs=-1, required=True)
@click.option(
    "--behind", "outputs", multiple=True, required=True, metavar="NAME", help="An output. Repeatable."
)
@_identity_option
@click.option(
    "-o",
    "--out",
    "file",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file of the grant.",
)
@click.option(
    "--box",
    "boxes",
    multiple=True,
    type=click.Choice(_OFFERED),
    default=("filter", "map"),
    help="A box that is offered. Repeatable. Default: filter and map.",
)
@click.option("--function", "functions", multiple=True, metavar="NAME", help="Offer only these functions.")
@click.option(
    "--at", "nodes", multiple=True, metavar="NODE", help="Where. Default: all nodes of the participant."
)
@click.option(
    "--for",
    "span",
    metavar="SPAN",
    type=Duration(),
    default="30 days",
    show_default=True,
    help="For how long it holds.",
)
@click.option(
    "--pieces", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many at each node."
)
@click.option(
    "--length",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="How many boxes each piece may have.",
)
@click.option(
    "--rate",
    metavar="N/s",
    help="How many tuples may leave each, such as 1000/s or 1M/min.",
)
@click.option(
    "--state",
    type=Size(),
    metavar="SIZE",
    help="What states and waiting tuples of each may take, such as 10MB.",
)
@click.option(
    "--cores",
    type=click.FloatRange(0, min_open=True),
    metavar="N",
    help="The part of a core that each may use, such as 0.2.",
)
@click.option(
    "--renew",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Take the place of an earlier grant: withdrawing this one withdraws that as well.",
)
@as_json_option("the grant")
def new(
    holders: Sequence[str],
    outputs: Sequence[str],
    identity: Path,
    file: Path,
    boxes: Sequence[str],
    functions: Sequence[str],
    nodes: Sequence[str],
    span: str,
    pieces: int,
    length: int,
    rate: str | None,
    state: int | None,
    cores: float | None,
    renew: Path | None,
    as_json: bool,
) -> None:
    """Grant nodes, or patterns of them, to put boxes behind outputs of this participant.

    \b
    Examples:
      australis grant new 'lab/*' --behind trades --identity a -o trades.grant
      australis grant new lab/b --behind 'trades*' --box filter --box tumble --function count --identity a
        --rate 1000/s --cores 0.2 --state 10MB --for '90 days' -o trades.grant
    """
    credentials = Credentials.load(identity)
    now, home = time.time_ns() // 1000, credentials.name.participant
    before = None if renew is None else _granted(renew)
    grant = Grant(
        id=secrets.token_hex(16) if before is None else before.id,
        serial=now if before is None else max(now, before.serial + 1),
        granter=home,
        nodes=tuple(nodes) or (f"{home}/*",),
        holders=tuple(holders),
        outputs=tuple(outputs),
        begins=now,
        expires=now + microseconds(span),
        boxes=tuple(boxes),
        functions=tuple(functions) or ("*",),
        limits=Limits(pieces, length, None if rate is None else parse_rate(rate), state, cores),
    )
    # What the command line admits may still be too long.
    made = read_signed(signed(grant, credentials).data, str(file))
    file.write_bytes(made.data)
    _tell(grant, as_json, f"{file} has the grant {grant.id}")


@command.command(name="show")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--identity",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Examine its seal by what this node trusts.",
)
@as_json_option("the grant")
def show(file: Path, identity: Path | None, as_json: bool) -> None:
    """Show a grant: for whom, where, what is offered, and within which limits.

    \b
    Examples:
      australis grant show trades.grant
      australis grant show trades.grant --identity b --json
    """
    found = read_signed(file.read_bytes(), str(file))
    told = ""
    if identity is not None:
        seals = Seals(Credentials.load(identity).authorities)
        told = f"signed by {examined(found, seals, time.time_ns() // 1000, str(file))}"
    _tell(_grant(found, file), as_json, told)


@command.command(name="withdraw")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@_identity_option
@click.option(
    "-o",
    "--out",
    "target",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the withdrawal there as well, for nodes that are not reached now.",
)
@node_address_options
@as_json_option("the withdrawal")
@log_options
def withdraw(file: Path, identity: Path, target: Path | None, as_json: bool, **options: Any) -> None:
    """Withdraw a grant: what it admits ends at the node, and at all nodes of the participant that it meets.

    FILE is the grant, or a withdrawal that was written before.

    \b
    Examples:
      australis grant withdraw trades.grant --identity a --node http://127.0.0.1:8400
      australis grant withdraw trades.grant --identity a -o trades.withdrawal
      australis grant withdraw trades.withdrawal --identity a --node https://node.example:8400
    """
    found = read_signed(file.read_bytes(), str(file), Grant | Withdrawal)
    if isinstance(found.said, Grant):
        grant = found.said
        said = Withdrawal(grant.id, grant.serial, grant.granter, time.time_ns() // 1000, grant.expires)
        found = signed(said, Credentials.load(identity))
    if target is not None:
        target.write_bytes(found.data)
    address = take_named_node(options) if target is not None else take_asked_node(options)
    if address is not None:
        with running.RemoteNode(address) as node:
            node.client.withdraw_grant(json.loads(found.data))
    if as_json:
        click.echo(found.data)
    else:
        click.echo(f"the grant {found.said.id} is withdrawn{'' if address else ' once nodes hear of it'}")


@command.command(name="list")
@node_address_options
@as_json_option("grants and pieces")
@log_options
def list_grants(as_json: bool, **options: Any) -> None:
    """List the grants that a node holds, and the pieces of others that run at it.

    \b
    Examples:
      australis grant list --node http://127.0.0.1:8400
      australis grant list --json
    """
    with running.RemoteNode(take_asked_node(options)) as node:
        found = node.client.cluster()
    if as_json:
        click.echo(json.dumps({key: found[key] for key in ("grants", "pieces")}))
        return
    grants = [
        (
            each["granter"],
            ", ".join(each["outputs"]),
            ", ".join(each["boxes"]),
            each["problem"] or each["expires"] or "",
        )
        for each in found["grants"]
    ]
    print_columns(("granted by", "outputs", "boxes", "until"), grants)
    click.echo()
    pieces = [
        (each["holder"], each["output"], each["boxes"], each["problem"] or f"{each['rate']:,.0f} tuples/s")
        for each in found["pieces"]
    ]
    print_columns(("piece of", "behind", "boxes", ""), pieces)


def _granted(file: Path) -> Grant:
    return _grant(read_signed(file.read_bytes(), str(file)), file)


def _grant(found: Signed, file: Path) -> Grant:
    if not isinstance(found.said, Grant):
        raise ClusterError(Problem(str(file), "is no grant", "what `australis grant new` has written"))
    return found.said


def _tell(grant: Grant, as_json: bool, head: str) -> None:
    """Print a grant."""
    limits = grant.limits
    if as_json:
        told = {name: getattr(grant, name) for name in grant.__struct_fields__ if name != "limits"}
        shown = {name: getattr(limits, name) for name in limits.__struct_fields__}
        click.echo(json.dumps({**told, "limits": shown}))
        return
    lines = [
        f"{', '.join(grant.holders)} may put boxes behind {', '.join(grant.outputs)}",
        f"of {', '.join(grant.nodes)} until {grant.expires_at:%Y-%m-%d %H:%M} UTC",
        f"boxes: {', '.join(grant.boxes)}; functions: {', '.join(grant.functions)}",
        f"at most {limits.pieces} pieces of {limits.boxes} boxes at each node, and for each "
        + ", ".join(
            [
                "any rate" if limits.rate is None else f"{limits.rate:,g} tuples/s",
                "any cost" if limits.cores is None else f"{limits.cores:g} of a core",
                "any state" if limits.state is None else f"{limits.state:,} bytes",
            ]
        ),
    ]
    click.echo("\n".join([*([head] if head else []), *lines]))
