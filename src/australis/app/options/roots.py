"""The options that say which root a command is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from australis.app.options.networks import functions_option, import_python

Command = TypeVar("Command", bound=Callable[..., Any])
ROOT = "AUSTRALIS_ROOT"

_ROOT_HELP = f"The root of the node, as of `australis run --root`. Default: ${ROOT}."
_OTHERS = (
    click.option(
        "--catalog",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="The folder of the catalogue of a root that is a URI.",
    ),
    functions_option,
)


_MISSING = f"Missing option '--root' (or set {ROOT})."


class _RootOption(click.Option):
    """The option --root, which an environment variable can stand for."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        if self.value_is_missing(value) and not ctx.resilient_parsing:
            raise click.UsageError(_MISSING, ctx)
        return super().process_value(ctx, value)


def root_options(command: Command) -> Command:
    """The options --root, --catalog and --functions, for a command that needs a root."""
    for option in reversed(_OTHERS):
        command = option(command)
    return click.option(
        "--root", cls=_RootOption, metavar="DIR", envvar=ROOT, required=True, help=_ROOT_HELP
    )(command)


def root_argument(command: Command) -> Command:
    """The same options, for a command about a whole root: the root may be given without --root."""

    @wraps(command)
    def call(*args: Any, root: str | None, place: str | None, **options: Any) -> Any:
        if root is not None and place is not None and not _is_from_environment("root"):
            raise click.UsageError(f"two roots are given, {place} and {root}: leave one out")
        if place is None and root is None:
            raise click.UsageError(_MISSING)
        return command(*args, root=place or root, **options)

    for option in reversed(_OTHERS):
        call = option(call)
    call = click.option("--root", metavar="DIR", envvar=ROOT, help=_ROOT_HELP)(call)
    return click.argument("place", metavar="", required=False)(call)  # type: ignore[return-value]


def _is_from_environment(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.ENVIRONMENT


def as_json_option(what: str) -> Callable[[Command], Command]:
    """The option --json of a command that otherwise reports in a sentence what it did."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what} as JSON.")


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
