"""The command `australis`: finds the subcommand, and turns errors into messages and exit codes."""

from __future__ import annotations

import importlib
import os
from typing import NamedTuple

import click

from australis.errors import AlgebraError, AustralisError

FAILED, REFUSED, OVERLOADED, INTERRUPTED = 1, 2, 3, 130
"""Exit codes: the run failed; the network or the arguments are wrong; a load is too much; Ctrl-C."""
TRACEBACK = "AUSTRALIS_TRACEBACK"
"""The variable that shows where an error that nobody expected comes from."""


class Place(NamedTuple):
    """Where a subcommand is, and its line in `australis --help`, for which it need not be loaded."""

    module: str
    summary: str


COMMANDS = {
    "check": Place(
        "australis.app.commands.check", "Say whether a network is valid, and what is wrong with it."
    ),
    "explain": Place(
        "australis.app.commands.explain", "Show a network: as a tree, a picture, Mermaid or JSON."
    ),
    "run": Place("australis.app.commands.run", "Run streams of tuples through a network."),
    "deploy": Place("australis.app.commands.deploy", "Run another network on a root, while it runs."),
    "query": Place("australis.app.commands.query", "Ask a running stream about its past, and what comes."),
    "detach": Place("australis.app.commands.detach", "Take an ad hoc query away."),
    "refresh": Place("australis.app.commands.refresh", "Read a stored table again, now."),
    "history": Place("australis.app.commands.history", "Print what a connection point keeps."),
    "stats": Place("australis.app.commands.stats", "Print what a root tells of boxes, queues and delays."),
    "forget": Place(
        "australis.app.commands.forget", "Keep nothing any more for a consumer that will not come back."
    ),
    "simulate": Place(
        "australis.app.commands.simulate", "Hold distributed policies against the papers' numbers."
    ),
    "demo": Place("australis.app.demo.story", "Watch a network find intruders in a stream of connections."),
}


class LazyGroup(click.Group):
    """A group whose subcommands are loaded when they are called: Arrow and numba take their time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name].module).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.summary) for name, place in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand; an error that Australis knows is a message, not a traceback."""
        try:
            return super().invoke(ctx)
        except AustralisError as error:
            click.echo(f"australis: {error}", err=True)
            ctx.exit(REFUSED if isinstance(error, AlgebraError) else FAILED)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            click.echo(f"australis: failed: {type(error).__name__}: {error}", err=True)
            click.echo(
                f"Set {TRACEBACK}=1 to see where. If it was not in a function of yours, it is our fault.",
                err=True,
            )
            ctx.exit(FAILED)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="australis")
def main() -> None:
    """Aurora-model stream networks: boxes and arrows, checked, drawn and run.

    \b
    Examples:
      australis check examples/soldiers.yaml
      australis explain examples/soldiers.yaml --physical
      australis run examples/soldiers.yaml --input reports=reports.csv --output alarms=alarms.csv --flush

    NET is a .json or .yaml file, or Python: FILE.py:NAME or MODULE:NAME.

    \b
    Exit codes: 0 all is well, 1 the run failed, 2 the network or the arguments are wrong, 3 a network is
    overloaded at the rates of check, 130 interrupted.
    """


if __name__ == "__main__":
    main()
