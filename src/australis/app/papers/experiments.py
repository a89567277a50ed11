"""What all simulations of `australis simulate` do: show their progress, and print or draw their results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from australis.app import running, showing
from australis.app.options import progress_option

Command = TypeVar("Command", bound=Callable[..., Any])


class Report(Protocol):
    """The results of a simulation."""

    def as_dict(self) -> dict[str, Any]: ...


class Teller(Protocol):
    """The module that prints and draws the reports of a simulation."""

    def plots(self, report: Any) -> Mapping[str, str]: ...

    def print_report(self, report: Any) -> None: ...


@contextmanager
def experiment(name: str, steps: int, wanted: bool | None) -> Iterator[Callable[[int], None]]:
    """An experiment of so many steps, which shows how far it is and can be ended at any time."""
    with running.stoppable(), showing.show_steps(f"Simulating {name}", steps, wanted=wanted) as shown:
        yield shown.advance


def hand_out(report: Report, teller: Teller, *, as_json: bool, plot: Path | None) -> None:
    """Write the pictures of a report to the given directory, and print it."""
    if plot is not None:
        with running.stoppable(), showing.show_steps("Drawing"):
            pictures = teller.plots(report)
        for name, text in pictures.items():
            (plot / name).write_text(text)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2))
    else:
        teller.print_report(report)


@dataclass(frozen=True)
class Sizes:
    """How large a part of an experiment is: to try it in seconds, and as the pages show it."""

    quick: Any
    full: Any

    def __str__(self) -> str:
        return f"[default: {_shown(self.quick)}; with --full {_shown(self.full)}]"


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else f"{value}"


def full_option(**sizes: Sizes) -> Callable[[Command], Command]:
    """The option --full, which sets every size that is not given."""

    def given(command: Command) -> Command:
        @wraps(command)
        def call(*args: Any, full: bool, **options: Any) -> Any:
            for name, size in sizes.items():
                if not options[name] and options[name] != 0:
                    options[name] = size.full if full else size.quick
            return command(*args, **options)

        help_text = "The whole experiment, as the pages show it; it takes minutes."
        return click.option("--full", is_flag=True, help=help_text)(call)  # type: ignore[return-value]

    return given


def spread_options(what: str) -> Callable[[Command], Command]:
    """The options --processes and --spark of a simulation that runs jobs in parallel."""

    def given(command: Command) -> Command:
        spark = click.option(
            "--spark",
            metavar="MASTER",
            help="Run them as tasks of this Spark master instead, for example local[2].",
        )
        processes = click.option(
            "--processes",
            type=click.IntRange(min=1),
            default=os.cpu_count() or 1,
            help=f"How many {what} at a time.  [default: one for each core]",
        )
        return processes(spark(command))

    return given


def _make_directory(_: click.Context, __: click.Parameter, directory: Path | None) -> Path | None:
    """A directory that exists; if it cannot be made, the user learns it before a simulation of minutes."""
    if directory is not None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.BadParameter(f"{directory} cannot be made: {error.strerror}.") from error
    return directory


def ending_options(pictures: str) -> Callable[[Command], Command]:
    """The options --json, --plot and --progress: how a simulation shows what it found, and how far it is."""

    def given(command: Command) -> Command:
        plot = click.option(
            "--plot",
            type=click.Path(file_okay=False, writable=True, path_type=Path),
            callback=_make_directory,
            help=f"Write {pictures} into this directory, as SVG.",
        )
        return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(
            plot(progress_option(command))
        )

    return given
