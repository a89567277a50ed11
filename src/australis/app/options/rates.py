"""Rates on the command line: N/s for every input, or NAME=N/s for one."""

from __future__ import annotations

from collections.abc import Iterable

import click

from australis.algebra.network import Network

RATE_METAVAR = "[NAME=]N/s"


def rate_texts(network: Network, options: Iterable[str]) -> dict[str, str]:
    """The texts of rates by input; one without a name applies to every input without its own."""
    streams = [name for name, given in network.inputs.items() if not given.table]
    found: dict[str, str] = {}
    for option in options:
        name, equals, rate = option.rpartition("=")
        if equals:
            _check_input(network, name, option)
        if name in found:
            raise click.UsageError(f"--rate {name or option} is given twice")
        found[name] = rate
    general = found.pop("", None)
    return found if general is None else {**dict.fromkeys(streams, general), **found}


def _check_input(network: Network, name: str, option: str) -> None:
    if name not in network.inputs:
        known = ", ".join(name for name, given in network.inputs.items() if not given.table)
        raise click.UsageError(
            f"--rate {option}: there is no input {name!r}; the inputs are {known or 'none'}"
        )
    if network.inputs[name].table:
        raise click.UsageError(f"--rate {option}: {name!r} is a stored table, which has no rate")
