"""The option of commands that may take longer than a few seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def progress_option(command: Command) -> Command:
    """The option --progress; None lets the terminal decide."""
    return click.option(
        "--progress/--no-progress",
        default=None,
        help="Show how far it is, on standard error. Default: only on a terminal.",
    )(command)
