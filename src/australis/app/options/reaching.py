"""The options that say which node a command is about: by its root on this machine, or by its address."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from australis.app.options.networks import functions_option
from australis.app.options.roots import ROOT, RootOptions
from australis.client import CA, NODE, Place

Command = TypeVar("Command", bound=Callable[..., Any])

_TWO = "a root and a node are given: leave one out"
_NODE_OPTIONS = (
    click.option("--node", metavar="URL", envvar=NODE, help=f"The node at an address. Default: ${NODE}."),
    click.option(
        "--token-file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="A file with the token for --node. Default: $AUSTRALIS_TOKEN has it.",
    ),
    click.option(
        "--ca", metavar="FILE", envvar=CA, help="The certificates to trust, for --node https://. PEM."
    ),
)
_ROOT_OPTIONS = (
    click.option("--root", metavar="DIR", envvar=ROOT, help=f"The root of the node. Default: ${ROOT}."),
    click.option(
        "--catalog",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="The folder of the catalogue of a root that is a URI.",
    ),
    functions_option,
)


@dataclass(frozen=True)
class NodeAddress:
    """A node by its address."""

    place: Place

    @property
    def root(self) -> str:
        """How it is called in a sentence."""
        return self.place.url


def node_address_options(command: Command) -> Command:
    """The options --node, --token-file and --ca, for a command about a node somewhere else."""
    for option in reversed(_NODE_OPTIONS):
        command = option(command)
    return command


def reaching_options(command: Command) -> Command:
    """The same options, and --root for a node of this machine."""
    for option in reversed((*_ROOT_OPTIONS, *_NODE_OPTIONS)):
        command = option(command)
    return command


def reaching_argument(command: Command) -> Command:
    """The same options, for a command about a whole root: the root may be given without --root."""

    @wraps(command)
    def call(*args: Any, place: str | None, **options: Any) -> Any:
        if place is not None:
            others = {name: options[name] for name in ("root", "node") if is_by_hand(name)}
            if "root" in others:
                raise click.UsageError(f"two roots are given, {place} and {others['root']}: leave one out")
            if "node" in others:
                raise click.UsageError(_TWO)
            options |= {"root": place, "node": None}
        return command(*args, **options)

    argument = click.argument("place", metavar="", required=False)
    return argument(reaching_options(call))  # type: ignore[return-value]


def take_named_node(values: dict[str, Any]) -> NodeAddress | None:
    """Take a node's address out of a command's options; one that only the environment has does not count."""
    if not is_by_hand("node"):
        values["node"] = None
    return take_node(values)


def take_node(values: dict[str, Any]) -> NodeAddress | None:
    """Take the options of a node's address out of a command's."""
    url, file, ca = (values.pop(name) for name in ("node", "token_file", "ca"))
    if url is None:
        return None
    return NodeAddress(Place.of(url, _token_of(file), ca))


def take_asked_node(values: dict[str, Any]) -> NodeAddress:
    """Take a node's address out of the options of a command that cannot do without one."""
    address = take_node(values)
    if address is None:
        raise click.UsageError(f"Missing option '--node' (or set {NODE}).")
    return address


def take_places(values: dict[str, Any], urls: Mapping[str, str]) -> dict[str, NodeAddress]:
    """Nodes by name, each with the token and the certificates that are given for all of them."""
    if named := [name for name in ("root", "node") if is_by_hand(name)]:
        raise click.UsageError(f"--nodes names the nodes: leave out --{named[0]}")
    token, ca = _token_of(values["token_file"]), values["ca"]
    return {name: NodeAddress(Place.of(url, token, ca)) for name, url in urls.items()}


def take_reached(values: dict[str, Any]) -> RootOptions | NodeAddress:
    """Take the options out of a command's: what is on the command line wins over the environment."""
    by_hand = {name for name in ("root", "node") if is_by_hand(name)}
    if by_hand == {"root", "node"}:
        raise click.UsageError(_TWO)
    if values["root"] is None and values["node"] is None:
        raise click.UsageError(f"Missing option '--root' or '--node' (or set {ROOT} or {NODE}).")
    if by_hand == {"root"}:
        values["node"] = None
    elif by_hand != {"node"} and values["root"] is not None and values["node"] is not None:
        raise click.UsageError(f"{ROOT} and {NODE} are set: say --root or --node")
    address = take_node(values)
    if address is None:
        return RootOptions.take(values)
    RootOptions.take({**values, "root": ""})
    for name in ("root", "catalog", "function_files"):
        values.pop(name)
    return address


def is_by_hand(name: str) -> bool:
    """Whether the command line has a parameter, and not just the environment or a default."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def _token_of(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text().strip()
    except OSError as error:
        raise click.UsageError(f"--token-file {file}: {error.strerror}") from None
