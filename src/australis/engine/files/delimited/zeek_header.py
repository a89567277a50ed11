"""The header of a Zeek log: lines that begin with # and name separator, fields, types and special words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from australis.errors import EngineError, Problem

EXPECTED = "a Zeek log, which begins with #separator, #fields and #types"
_ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")
_LASTING = ("separator", "unset_field", "empty_field", "fields", "types")
"""What has to be the same in all headers of a file that several logs were written to."""


@dataclass
class ZeekHeader:
    """What the lines of a header say; a line that contradicts an earlier one is refused."""

    path: str
    separator: str = "\t"
    said: dict[str, tuple[str, int]] = field(default_factory=dict)
    """The text of each line by its first word, and its number."""

    def add(self, line: str, number: int) -> None:
        """Take one more line of the header, or of a later one."""
        word, text = self._parted(line)
        known = self.said.setdefault(word, (text, number))
        if word in _LASTING and known[0] != text:
            what = f"line {number}: #{word} differs from line {known[1]}"
            raise EngineError(Problem(self.path, what, "one log in a file, or logs with the same fields"))
        if word == "separator":
            self.separator = self._character(text, number)

    def _parted(self, line: str) -> tuple[str, str]:
        """The first word of a line, and the rest; only #separator is always followed by a space."""
        head = line.rstrip("\r\n").removeprefix("#")
        at = " " if head.startswith("separator ") else self.separator
        word, _, text = head.partition(at)
        return word, text

    def _character(self, text: str, number: int) -> str:
        found = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
        if len(found) != 1 or not found.isascii() or found in "\r\n":
            what = f"line {number}: the separator is {text!r}"
            raise EngineError(Problem(self.path, what, r"one character, such as \x09"))
        return found

    @property
    def is_whole(self) -> bool:
        return "fields" in self.said and "types" in self.said

    @property
    def columns(self) -> list[str]:
        return self._list("fields")

    @property
    def types(self) -> dict[str, str]:
        """The type of each column; nothing if the log does not say."""
        types = self._list("types")
        if types and len(types) != len(self.columns):
            what = f"line {self.said['types'][1]}: has {len(types)} types for {len(self.columns)} fields"
            raise EngineError(Problem(self.path, what, "a type for each field"))
        return dict(zip(self.columns, types, strict=True)) if types else {}

    @property
    def unset(self) -> str:
        return self.said.get("unset_field", ("-", 0))[0]

    @property
    def empty(self) -> str:
        return self.said.get("empty_field", ("(empty)", 0))[0]

    def check(self) -> None:
        """Refuse a header that does not name the fields."""
        if "fields" not in self.said or not any(self.columns):
            raise EngineError(Problem(self.path, "has no #fields line before its first row", EXPECTED))

    def _list(self, word: str) -> list[str]:
        return self.said[word][0].split(self.separator) if word in self.said else []


def column_named(attribute: str, columns: Iterable[str]) -> str:
    """The column for an attribute: its own name, or one with dots where the attribute has underscores.

    >>> column_named("id_orig_h", ["ts", "id.orig_h"]), column_named("ts", ["ts", "id.orig_h"])
    ('id.orig_h', 'ts')
    """
    known = list(columns)
    if attribute in known:
        return attribute
    return next((name for name in known if name.replace(".", "_") == attribute), attribute)
