"""`australis identity`: who a node is among other nodes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from australis.cluster.identity import (
    Authority,
    NodeName,
    certificates_in,
    new_node,
    node_name_of_request,
)

_json_option = click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
_days_option = click.option(
    "--days", type=click.IntRange(1, 36500), help="For how many days the certificate is valid."
)


def _tell(as_json: bool, text: str, **said: object) -> None:
    click.echo(json.dumps(said) if as_json else text)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Make and sign the certificates by which nodes know each other.

    A participant is whoever owns nodes; its authority signs the names of its nodes, and of no others. To
    trust the nodes of another participant, put its authority.pem into the folder authorities of a node.

    \b
    Examples:
      australis identity new lab --authority -o lab-authority
      australis identity new lab/a -o a --sign-with lab-authority
      australis identity show a
    """


@command.command(name="new")
@click.argument("name", metavar="NAME")
@click.option(
    "-o",
    "--out",
    "folder",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the key and what belongs to it.",
)
@click.option("--authority", "is_authority", is_flag=True, help="Make the authority of a participant.")
@click.option(
    "--sign-with",
    "authority",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Sign at once, where the authority's folder is at hand.",
)
@_days_option
@_json_option
def new(
    name: str, folder: Path, is_authority: bool, authority: Path | None, days: int | None, as_json: bool
) -> None:
    """Make the key of a node, PARTICIPANT/NODE, and a request for its certificate; or an authority.

    The private key never leaves its folder: give request.pem to whoever has the authority.

    \b
    Examples:
      australis identity new lab --authority -o lab-authority
      australis identity new lab/a -o a
      australis identity new lab/b -o b --sign-with lab-authority
    """
    validity = {} if days is None else {"days": days}
    if is_authority:
        if authority is not None:
            raise click.UsageError("an authority signs itself: leave out --sign-with")
        made = Authority.new(name, folder, **validity)
        _tell(as_json, f"{folder} has the authority of {made.participant}", name=name, folder=str(folder))
        return
    node = NodeName.parse(name)
    signer = None if authority is None else Authority.load(authority)
    request = new_node(node, folder)
    if signer is not None:
        signer.admit(folder, request, **validity)
        _tell(as_json, f"{folder} has the identity {node}", name=str(node), folder=str(folder), signed=True)
        return
    text = f"{folder} has a key for {node}; next: australis identity sign {folder} --authority DIR"
    _tell(as_json, text, name=str(node), folder=str(folder), signed=False)


@command.command(name="sign")
@click.argument("place", metavar="DIR|REQUEST", type=click.Path(path_type=Path))
@click.option(
    "--authority",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of the participant's authority.",
)
@_days_option
@_json_option
def sign(place: Path, authority: Path, days: int | None, as_json: bool) -> None:
    """Sign the request of a node: its folder then has a certificate, and the authority that it trusts.

    Of a request alone, the certificate and the folder authorities are written beside it: take them to the
    node's folder.

    \b
    Examples:
      australis identity sign a --authority lab-authority
      australis identity sign request.pem --authority lab-authority --days 90
    """
    folder = place if place.is_dir() else place.parent
    file = place / "request.pem" if place.is_dir() else place
    try:
        request = file.read_bytes()
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read: {error.strerror}") from error
    name = node_name_of_request(request, str(file))
    Authority.load(authority).admit(folder, request, **({} if days is None else {"days": days}))
    _tell(as_json, f"{folder} has the identity {name}", name=str(name), folder=str(folder), signed=True)


@command.command(name="show")
@click.argument("place", metavar="DIR|FILE", type=click.Path(path_type=Path, exists=True))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(place: Path, as_json: bool) -> None:
    """Show the certificates of a node, an authority or a file: names, who signed them, and until when.

    \b
    Examples:
      australis identity show a
      australis identity show lab-authority/authority.pem --json
    """
    found = certificates_in(place)
    if as_json:
        click.echo(json.dumps([each.as_dict() for each in found], indent=2))
        return
    for each in found:
        until = f"until {each.valid_until:%Y-%m-%d}"
        if each.valid_until < datetime.now(UTC):
            until = f"no longer valid since {each.valid_until:%Y-%m-%d}"
        signer = "an authority" if each.name == each.signed_by else f"signed by {each.signed_by}"
        click.echo(f"{each.name}  {signer}  {until}  {each.file}\n  SHA-256 {each.sha256}")
