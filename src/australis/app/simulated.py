"""What all simulations of `australis simulate` do: show how far they are, and hand out what they found."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import click


class Report(Protocol):
    """What a simulation found."""

    def as_dict(self) -> dict[str, Any]: ...


class Teller(Protocol):
    """The module that shows the reports of a simulation."""

    def plots(self, report: Any) -> Mapping[str, str]: ...

    def printed(self, report: Any) -> None: ...


@contextmanager
def progress(length: int) -> Iterator[Any]:
    """A bar on a terminal; elsewhere it stays out of the way."""
    with click.progressbar(length=length, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        yield bar


def hand_out(report: Report, teller: Teller, *, as_json: bool, plot: Path | None) -> None:
    """Write the pictures of a report where they are wanted, and print it."""
    if plot is not None:
        plot.mkdir(parents=True, exist_ok=True)
        for name, text in teller.plots(report).items():
            (plot / name).write_text(text)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2))
    else:
        teller.printed(report)
