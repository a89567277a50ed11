"""The progress of longer work, on standard error: a bar on a terminal; elsewhere lines, on request."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

_LINE_SECONDS = 5.0
"""The least time between lines."""


class Steps:
    """Counts the steps of some work; shows nothing."""

    def __init__(self, total: int | None = None) -> None:
        self._done, self._total = 0, total

    @property
    def counted(self) -> str:
        """How many are done, of how many."""
        return f"{self._done:,}" if self._total is None else f"{self._done:,} of {self._total:,}"

    def advance(self, count: int) -> None:
        """Count some more steps."""
        self.move(self._done + count, self._total)

    def move(self, done: int, total: int | None) -> None:
        """Set how many steps are done, and of how many; the total may become known later."""
        self._done, self._total = done, total
        self._show()

    def _show(self) -> None:
        """Show it."""


@contextmanager
def show_steps(what: str, total: int | None = None, *, wanted: bool | None = None) -> Iterator[Steps]:
    """Show how many of `total` steps are done, or only that the work is running if it is unknown.

    On a terminal a bar is drawn, which is erased at the end, unless `wanted` is false. Elsewhere, lines are
    printed if `wanted` is true.
    """
    console = Console(stderr=True)
    if wanted is False or not (console.is_terminal or wanted):
        yield Steps()
    elif console.is_terminal:
        texts = (TextColumn(f"{{task.{name}}}") for name in ("description", "fields[counted]"))
        # Standard output is left alone: what the work prints there must not become part of the bar.
        with Progress(
            SpinnerColumn(),
            BarColumn(),
            *texts,
            TimeElapsedColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        ) as progress:
            yield _Bar(progress, what, total)
    else:
        yield _Lines(what, total)


class _Bar(Steps):
    def __init__(self, progress: Progress, what: str, total: int | None) -> None:
        super().__init__(total)
        self._progress, self._task = progress, progress.add_task(what, total=total, counted="")

    def _show(self) -> None:
        self._progress.update(self._task, completed=self._done, total=self._total, counted=self.counted)


class _Lines(Steps):
    def __init__(self, what: str, total: int | None) -> None:
        super().__init__(total)
        self._what, self._began = what, time.monotonic()
        self._printed = float("-inf")
        self._show()

    def _show(self) -> None:
        now = time.monotonic()
        if self._done == self._total or now - self._printed >= _LINE_SECONDS:
            self._printed = now
            click.echo(f"{self._what}: {self.counted} done, {now - self._began:.0f} s", err=True)
