"""What all simulations of `australis simulate` do: show how far they are, and hand out what they found."""

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
    """What a simulation found."""

    def as_dict(self) -> dict[str, Any]: ...


class Teller(Protocol):
    """The module that shows the reports of a simulation."""

    def plots(self, report: Any) -> Mapping[str, str]: ...

    def print_report(self, report: Any) -> None: ...


@contextmanager
def progress(length: int) -> Iterator[Any]:
    """A bar on a terminal; elsewhere it stays out of the way."""
    with click.progressbar(length=length, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        yield bar


def hand_out(report: Report, teller: Teller, *, as_json: bool, plot: Path | None) -> None:
    """Write the pictures of a report where they are wanted, and print it."""
    if plot is not None:
        for name, text in teller.plots(report).items():
            (plot / name).write_text(text)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2))
    else:
        teller.print_report(report)


def spread_options(what: str) -> Callable[[Command], Command]:
    """The options --processes and --spark of a simulation that does many things at a time."""

    def given(command: Command) -> Command:
        spark = click.option(
            "--spark", metavar="MASTER", help="Run them as tasks of this Spark instead, say local[2]."
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
    """A directory that is there: who cannot have one is told before a simulation of minutes, not after."""
    if directory is not None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.BadParameter(f"{directory} cannot be made: {error.strerror}.") from error
    return directory


def ending_options(pictures: str) -> Callable[[Command], Command]:
    """The options --json and --plot, which say how a simulation hands out what it found."""

    def given(command: Command) -> Command:
        plot = click.option(
            "--plot",
            type=click.Path(file_okay=False, writable=True, path_type=Path),
            callback=_make_directory,
            help=f"Write {pictures} into this directory, as SVG.",
        )
        return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(plot(command))

    return given
