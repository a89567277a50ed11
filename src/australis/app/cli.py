"""The command `australis`: finds the subcommand, and turns errors into messages and exit codes."""

from __future__ import annotations

import os

import click

from australis.app.commands import COMMANDS, load_command
from australis.app.exit_codes import FAILED, INTERRUPTED, REFUSED
from australis.errors import AlgebraError, AustralisError

TRACEBACK = "AUSTRALIS_TRACEBACK"
"""The variable that shows where an error that nobody expected comes from."""


class LazyGroup(click.Group):
    """A group whose subcommands are loaded when they are called: Arrow and numba take their time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand; an error that Australis knows is a message, not a traceback."""
        try:
            return super().invoke(ctx)
        except AustralisError as error:
            click.echo(f"australis: {error}", err=True)
            ctx.exit(REFUSED if isinstance(error, AlgebraError) else FAILED)
        except KeyboardInterrupt:
            # Before a run hears of signals, or in a command that has nothing to clean up.
            click.echo("australis: interrupted", err=True)
            ctx.exit(INTERRUPTED)
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
