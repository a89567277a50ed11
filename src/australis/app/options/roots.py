"""The options that say which root a command is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from australis.app.options.networks import functions_option, import_python

Command = TypeVar("Command", bound=Callable[..., Any])
ROOT = "AUSTRALIS_ROOT"

_OPTIONS = (
    click.option(
        "--root",
        metavar="DIR",
        envvar=ROOT,
        required=True,
        help=f"The root of the node, as of `australis run --root`. Default: ${ROOT}.",
    ),
    click.option(
        "--catalog",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="The folder of the catalogue of a root that is a URI.",
    ),
    functions_option,
)


def root_options(command: Command) -> Command:
    """The options --root, --catalog and --functions."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class RootOptions:
    """The values of the options: where a root and its catalogue are."""

    root: str
    catalog: Path | None = None

    @classmethod
    def take(cls, values: dict[str, Any]) -> RootOptions:
        """Take the options out of a command's, and import the functions that they name."""
        for name in values.pop("function_files"):
            import_python(name)
        return cls(values.pop("root"), values.pop("catalog"))
