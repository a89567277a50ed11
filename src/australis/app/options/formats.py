"""How the files of inputs are written, on the command line as in a network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import click

from australis.algebra.form import parse_yaml
from australis.algebra.network import Network
from australis.algebra.store import FileFormat, file_format_of
from australis.errors import AlgebraError

Command = TypeVar("Command", bound=Callable[..., Any])


def format_option(command: Command) -> Command:
    """The option --input-format."""
    return click.option(
        "--input-format",
        "input_formats",
        multiple=True,
        metavar="NAME=FORMAT",
        help="How the files of an input are written, in the words of its `format` in a network: conn=zeek, "
        "'pos={csv: {header: false, separator: blanks}}'. Repeatable.",
    )(command)


def named_formats(options: Iterable[str], network: Network) -> dict[str, FileFormat]:
    """The formats of NAME=FORMAT options by input.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("x", "a int").output("o")
    >>> named_formats(["x={csv: {separator: ;}}"], net.build())["x"].separator
    ';'
    """
    found: dict[str, FileFormat] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or not text:
            raise click.UsageError(f"--input-format {option}: expected NAME=FORMAT")
        if name not in network.inputs:
            known = ", ".join(network.inputs)
            raise click.UsageError(f"--input-format {option}: there is no input {name!r}; there is {known}")
        if name in found:
            raise click.UsageError(f"--input-format {name} is given twice")
        found[name] = _format(option, network, name, text)
    return found


def _format(option: str, network: Network, name: str, text: str) -> FileFormat:
    try:
        found = file_format_of(parse_yaml(text))
        replace(network.inputs[name], format=found)
    except AlgebraError as error:
        raise click.UsageError(f"--input-format {option}: {error}") from None
    return found


def with_formats(network: Network, formats: Mapping[str, FileFormat]) -> Network:
    """The network whose inputs have other formats than it says."""
    inputs = {name: replace(network.inputs[name], format=given) for name, given in formats.items()}
    return replace(network, inputs={**network.inputs, **inputs}) if inputs else network
