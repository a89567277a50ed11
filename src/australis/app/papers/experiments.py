"""What all simulations of `australis simulate` do: show their progress, and print or draw their results."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


class Report(Protocol):
    """The results of a simulation."""

    def as_dict(self) -> dict[str, Any]: ...


class Teller(Protocol):
    """The module that prints and draws the reports of a simulation."""

    def plots(self, report: Any) -> Mapping[str, str]: ...

    def print_report(self, report: Any) -> None: ...


@contextmanager
def progress(length: int) -> Iterator[Any]:
    """A progress bar on a terminal, nothing elsewhere."""
    with click.progressbar(length=length, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        yield bar


def hand_out(report: Report, teller: Teller, *, as_json: bool, plot: Path | None) -> None:
    """Write the pictures of a report to the given directory, and print it."""
    if plot is not None:
        for name, text in teller.plots(report).items():
            (plot / name).write_text(text)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2))
    else:
        teller.print_report(report)


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
    """The options --json and --plot for the results of a simulation."""

    def given(command: Command) -> Command:
        plot = click.option(
            "--plot",
            type=click.Path(file_okay=False, writable=True, path_type=Path),
            callback=_make_directory,
            help=f"Write {pictures} into this directory, as SVG.",
        )
        return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(plot(command))

    return given
