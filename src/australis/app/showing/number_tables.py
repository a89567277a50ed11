"""Tables of numbers and of texts in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def print_table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, names: int) -> None:
    """A table whose first columns are names, and the others numbers."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, header in enumerate(headers):
        table.add_column(header, justify="left" if place < names else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console(highlight=False, width=80).print(table)


def print_columns(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Texts in columns, which fold where the terminal is narrow."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    Console(highlight=False).print(table)
