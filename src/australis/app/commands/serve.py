"""`australis serve`: a node as a service, for other programs and machines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from australis.app.exit_codes import INTERRUPTED, TERMINATED
from australis.app.logs import log_to
from australis.app.options import ROOT, functions_option, import_python
from australis.service.serving import serve
from australis.service.settings import LogSettings, default_text, read_settings, variable_of

_VERBOSE = {"warning": 0, "info": 1, "debug": 2}
_NAMES = {
    "root": "node.root",
    "catalog": "node.catalog",
    "runner": "node.runner",
    "master": "node.master",
    "listen": "listen",
    "log_form": "logs.form",
    "log_file": "logs.file",
}
"""The setting of each option."""


_OPTIONS = (
    click.option(
        "--config",
        "file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="The settings. Default: australis.yaml in this folder, if there is one.",
    ),
    click.option(
        "--set",
        "assigned",
        metavar="KEY=VALUE",
        multiple=True,
        help="A setting, such as node.partitions=4. Repeatable.",
    ),
    click.option(
        "--root", metavar="DIR", envvar=ROOT, help=f"The root of the node: node.root. Default: ${ROOT}."
    ),
    click.option("--catalog", metavar="DIR", help="The folder of a URI's catalogue: node.catalog."),
    click.option("--runner", metavar="NAME", help="spark, light or light[4]: node.runner."),
    click.option("--master", metavar="URL", help="Where Spark runs: node.master."),
    click.option("--listen", metavar="HOST:PORT", help="Where HTTP is served: listen."),
    click.option(
        "--log", "log_form", type=click.Choice(["text", "json"]), help="The form of the log: logs.form."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print as JSON where it serves, in one line."),
    click.option(
        "--print-config", is_flag=True, help="Print a file with all settings and their defaults, and end."
    ),
    click.option("--log-file", metavar="FILE", help="Append the log to a file: logs.file."),
)


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@_options
@functions_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: Path | None,
    assigned: tuple[str, ...],
    function_files: tuple[str, ...],
    as_json: bool,
    print_config: bool,
    **options: Any,
) -> None:
    """Run a node as a service: HTTP, Arrow Flight and metrics, until SIGTERM or Ctrl-C.

    It starts on an empty root, or resumes the network of an existing one. Settings are read from a file, then
    from variables such as AUSTRALIS_SERVICE_NODE_ROOT, then from --set, then from the other options; of
    several values the last one counts.

    The first SIGTERM or Ctrl-C lets calls and trains end, and the exit code is 0; a second one ends them.

    \b
    Examples:
      australis serve --root root --runner light
      australis serve --config australis.yaml --set access.limits.rate=100
    """
    if print_config:
        click.echo(default_text(), nl=False)
        return
    environment = dict(os.environ)
    if ctx.get_parameter_source("root") is ParameterSource.ENVIRONMENT:
        # The variable of all commands ranks with those of the service, and below its own.
        environment.setdefault(variable_of("node.root"), options.pop("root"))
    given = {_NAMES[name]: value for name, value in options.items() if value is not None}
    settings = read_settings(file, environment=environment, assigned=assigned, options=given)
    for name in function_files:
        import_python(name)
    with ExitStack() as stack:
        stack.enter_context(_logging(settings.logs))
        ended = serve(settings, lambda url: click.echo(_told(url, as_json=as_json)))
    if ended is not None:
        ctx.exit(INTERRUPTED if ended.name == "SIGINT" else TERMINATED)


def _told(url: str, *, as_json: bool) -> str:
    return json.dumps({"url": url}) if as_json else f"australis: serves {url}"


def _logging(logs: LogSettings) -> Any:
    return log_to(_VERBOSE[logs.level], logs.form, None if logs.file is None else str(logs.file))
