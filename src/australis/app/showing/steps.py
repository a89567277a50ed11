"""How far longer work is, on standard error: a bar on a terminal; elsewhere lines, if they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

_LINE_SECONDS = 5.0
"""Lines are at least so far apart."""

Advance = Callable[[int], None]
"""Hears how many more steps are done."""


@contextmanager
def show_steps(what: str, total: int | None = None, *, wanted: bool | None = None) -> Iterator[Advance]:
    """Show how many of `total` steps are done, or only that the work runs if their number is not known.

    On a terminal a bar is drawn, which is gone at the end, unless `wanted` is false. Where there is none,
    lines are printed if `wanted` is true.
    """
    console = Console(stderr=True)
    if wanted is False or not (console.is_terminal or wanted):
        yield lambda count: None
    elif console.is_terminal:
        counts = [BarColumn(), MofNCompleteColumn()] if total is not None else []
        columns = [SpinnerColumn(), TextColumn("{task.description}"), *counts, TimeElapsedColumn()]
        with _Bar(*columns, console=console) as progress:
            task = progress.add_task(what, total=total)
            yield lambda count: progress.advance(task, count)
    else:
        yield _Lines(what, total).advance


class _Bar(Progress):
    """A bar that is gone at the end, and leaves what others write to standard output alone."""

    def __init__(self, *columns: ProgressColumn, console: Console) -> None:
        super().__init__(
            *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
        )


class _Lines:
    def __init__(self, what: str, total: int | None) -> None:
        self._what, self._total = what, total
        self._done, self._began = 0, time.monotonic()
        self._printed = self._began
        self._print(0.0)

    def advance(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if self._done == self._total or now - self._printed >= _LINE_SECONDS:
            self._printed = now
            self._print(now - self._began)

    def _print(self, seconds: float) -> None:
        of = "" if self._total is None else f" of {self._total:,}"
        click.echo(f"{self._what}: {self._done:,}{of} done, {seconds:.0f} s", err=True)
