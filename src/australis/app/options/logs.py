"""The options of commands that run a node: what is logged, how and where."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from australis.app.logs import FORMATS, log_to

_OPTIONS = (
    click.option(
        "--verbose",
        "-v",
        count=True,
        help="Log what happens, to standard error; -vv also every train. Without it nothing is logged.",
    ),
    click.option(
        "--log",
        "log_format",
        type=click.Choice(FORMATS),
        help="The form of the log: lines of text, the default, or of JSON. Without -v only warnings.",
    ),
    click.option("--log-file", metavar="FILE", help="Append the log to a file. Without -v only warnings."),
)


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, and log while it runs."""

    @wraps(command)
    def call(*args: Any, verbose: int, log_format: str | None, log_file: str | None, **options: Any) -> Any:
        if not (verbose or log_format or log_file):
            return command(*args, **options)
        with log_to(verbose, log_format or FORMATS[0], log_file):
            return command(*args, **options)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call
