"""Options in groups: the help of a command with many options lists them by subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import click

_COMMON = {"Logging": ("verbose", "log_format", "log_file")}
_OTHERS = "Other options"


class GroupedCommand(click.Command):
    """A command whose help lists its options in groups, by the names of parameters; others come last."""

    groups: ClassVar[Mapping[str, Sequence[str]]] = {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
        shown = {option.name: option.get_help_record(ctx) for option in options}
        records = {name: record for name, record in shown.items() if record is not None}
        for title, names in {**self.groups, **_COMMON}.items():
            found = [records.pop(name) for name in names if name in records]
            if found:
                with formatter.section(title):
                    formatter.write_dl(found)
        with formatter.section(_OTHERS):
            formatter.write_dl(list(records.values()))


def grouped(**groups: Sequence[str]) -> type[GroupedCommand]:
    """The class of a command with some groups; `_` represents a space in their titles."""
    titled = {title.replace("_", " "): names for title, names in groups.items()}
    return type("Grouped", (GroupedCommand,), {"groups": titled})
