"""`australis token`: who may call a service."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from australis.service.access import Role, TokenFile
from australis.service.settings import read_settings

_ROLES = [role.value for role in Role]
_file_option = click.option(
    "--tokens",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file of tokens. Default: access.tokens of the settings.",
)


def _file(given: Path | None) -> TokenFile:
    path = given or read_settings(environment=os.environ).access.tokens
    if path is None:
        raise click.UsageError("which file of tokens? Add --tokens FILE, or access.tokens to australis.yaml")
    return TokenFile(path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Make, list and revoke the tokens of a service.

    A viewer reads; an operator also pushes, pauses and attaches queries; an owner also deploys and removes
    networks. A service that runs notices every change of the file.

    \b
    Examples:
      australis token new dashboard --role viewer --tokens tokens.json
      australis token list
      australis token revoke dashboard
    """


@command.command(name="new")
@click.argument("name", metavar="NAME")
@click.option(
    "--role", type=click.Choice([role.value for role in Role]), required=True, help="What its holder may do."
)
@click.option("--expires", metavar="SPAN", help="After how long it is refused, such as '90 days'.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@_file_option
def new(name: str, role: str, expires: str | None, as_json: bool, file: Path | None) -> None:
    """Make a token, and print it: the file keeps only a digest, so nobody can print it again.

    \b
    Examples:
      australis token new loader --role operator --tokens tokens.json
      australis token new guest --role viewer --expires '7 days'
    """
    made = _file(file).new(name, Role(role), expires)
    click.echo(json.dumps({"name": name, "role": role, "token": made}) if as_json else made)


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@_file_option
def list_tokens(as_json: bool, file: Path | None) -> None:
    """List the tokens: names, roles, when they were made and when they expire.

    \b
    Examples:
      australis token list
      australis token list --tokens tokens.json --json
    """
    found = [token.as_dict() for token in _file(file).read().values()]
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    for each in found:
        expires = f", expires {each['expires']}" if each["expires"] else ""
        click.echo(f"{each['name']}  {each['role']}  made {each['created']}{expires}")


@command.command(name="revoke")
@click.argument("name", metavar="NAME")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@_file_option
def revoke(name: str, as_json: bool, file: Path | None) -> None:
    """Revoke a token: services that use the file refuse it from the next call on.

    \b
    Examples:
      australis token revoke dashboard
      australis token revoke guest --tokens tokens.json
    """
    _file(file).revoke(name)
    click.echo(json.dumps({"revoked": name}) if as_json else f"{name} is revoked")
