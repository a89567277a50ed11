"""How the files of an input are written, where their names do not say it: headers, separators, NULL words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from australis.algebra.expr import nearest
from australis.algebra.guards import guard, is_a, shown
from australis.algebra.schema import Schema
from australis.errors import AlgebraError, Problem

BLANKS = "blanks"
"""The separator that is any run of spaces and tabs."""

Columns = tuple[str, ...] | tuple[tuple[str, str], ...]
"""The names of all columns in their order, or pairs of an attribute and the column that holds it."""

_OPTIONS: dict[str, tuple[str, ...]] = {
    "csv": ("header", "separator", "quote", "nulls", "columns"),
    "zeek": ("columns",),
    "jsonl": (),
    "parquet": (),
}
KINDS = tuple(_OPTIONS)
_LINE_ENDS = frozenset("\r\n")
_SEPARATOR = f"a character such as ';' or '|', several such as '::', or '{BLANKS}' for spaces and tabs"


@dataclass(frozen=True)
class FileFormat:
    """The format of an input's files; what is left out follows from a file's name, as if there were none.

    >>> FileFormat("csv", header=False, separator="|", columns=("sid", "time", "pos"))
    FileFormat(kind='csv', header=False, separator='|', quote=None, nulls=(), columns=('sid', 'time', 'pos'))
    >>> FileFormat("csv", separator="")
    Traceback (most recent call last):
    australis.errors.AlgebraError: separator: is ''; expected a character such as ';' or '|', several ...
    """

    kind: str
    header: bool = True
    """Whether the first line of a CSV file names its columns."""
    separator: str | None = None
    """What separates fields; if None, a tab in files named .tsv, and a comma in others."""
    quote: str | None = None
    """The character around fields that contain a separator, or none if empty; if None, a double quote where
    the separator is one character."""
    nulls: Sequence[str] = ()
    """Fields that are NULL if they are not in quotes, besides the empty one."""
    columns: Columns | Sequence[str] | Mapping[str, str] = ()
    """Without a header, the names of the columns; with one, the columns of attributes with other names."""

    def __post_init__(self) -> None:
        guard(self.kind, str, "", f"one of {', '.join(KINDS)}")
        if self.kind not in KINDS:
            raise AlgebraError(Problem("", f"is {shown(self.kind)}", f"one of {', '.join(KINDS)}"))
        if problems := [*self._kind_problems(), *_option_problems(self)]:
            raise AlgebraError(problems)
        object.__setattr__(self, "nulls", tuple(self.nulls))
        given = self.columns
        columns = tuple(given.items()) if isinstance(given, Mapping) else tuple(given)
        object.__setattr__(self, "columns", columns)

    def __str__(self) -> str:
        return json.dumps(self.as_json(), ensure_ascii=False)

    @property
    def options(self) -> dict[str, Any]:
        """What is said besides the kind."""
        return {f.name: getattr(self, f.name) for f in fields(self)[1:] if getattr(self, f.name) != f.default}

    def as_json(self) -> Any:
        """The form of a document: the kind, or an object of the kind and its options."""
        found = self.options
        if "nulls" in found:
            found["nulls"] = list(self.nulls)
        if "columns" in found:
            found["columns"] = dict(self.renamed) if self.renamed else list(self.order)
        return {self.kind: found} if found else self.kind

    @property
    def order(self) -> tuple[str, ...]:
        """The names of all columns, if they are given."""
        return tuple(name for name in self.columns if isinstance(name, str))

    @property
    def renamed(self) -> tuple[tuple[str, str], ...]:
        """The attributes whose column has another name, with that name."""
        return tuple(pair for pair in self.columns if not isinstance(pair, str))

    @property
    def quotes(self) -> str:
        """The quote in effect; empty if there is none."""
        if self.quote is not None:
            return self.quote
        return '"' if self.separator is None or _is_one(self.separator) else ""

    def _kind_problems(self) -> Iterator[Problem]:
        for name in self.options:
            if name not in _OPTIONS[self.kind]:
                known = ", ".join(_OPTIONS[self.kind]) or "no options"
                yield Problem(name, f"is not an option of {self.kind}", known)


def file_format_of(given: FileFormat | str | Mapping[str, Any]) -> FileFormat:
    """The format that a document or a program gives: `zeek`, or `{csv: {header: false}}`.

    >>> file_format_of({"csv": {"headr": False}})
    Traceback (most recent call last):
    australis.errors.AlgebraError: csv.headr: unknown option (perhaps 'header'); expected one of header, ...
    """
    if isinstance(given, FileFormat | str):
        return FileFormat(given) if isinstance(given, str) else given
    if not is_a(given, Mapping) or len(given) != 1:
        raise AlgebraError(Problem("", f"is {shown(given)}", f"{', '.join(KINDS)}, or one with its options"))
    ((kind, options),) = given.items()
    if kind not in _OPTIONS:
        raise AlgebraError(Problem("", f"is {shown(kind)}", f"one of {', '.join(KINDS)}"))
    guard({} if options is None else options, Mapping, str(kind), "an object of options")
    for name in options or {}:
        if name not in _OPTIONS[kind]:
            raise AlgebraError(_unknown_option(kind, str(name)))
    try:
        return FileFormat(kind, **(options or {}))
    except AlgebraError as error:
        raise error.under(str(kind)) from None


def _unknown_option(kind: str, name: str) -> Problem:
    known = _OPTIONS[kind]
    meant = nearest(name, known)
    perhaps = f" (perhaps {meant!r})" if meant else ""
    expected = f"one of {', '.join(known)}" if known else f"none: {kind} has no options"
    return Problem(f"{kind}.{name}", f"unknown option{perhaps}", expected)


def _option_problems(given: FileFormat) -> Iterator[Problem]:
    if not is_a(given.header, bool):
        yield Problem("header", f"is {shown(given.header)}", "true or false")
    if given.separator is not None and not _is_separator(given.separator):
        yield Problem("separator", f"is {shown(given.separator)}", _SEPARATOR)
    elif given.quote is not None:
        yield from _quote_problems(given.quote, given.separator)
    yield from _text_problems("nulls", given.nulls, "a list of texts such as ['-', 'NA']")
    yield from _column_problems(given)


def _is_separator(separator: object) -> bool:
    return isinstance(separator, str) and bool(separator) and not _LINE_ENDS & set(separator)


def _is_one(separator: str) -> bool:
    """Whether a separator is one byte."""
    return len(separator) == 1 and separator.isascii()


def _quote_problems(quote: object, separator: str | None) -> Iterator[Problem]:
    is_quote = isinstance(quote, str) and (not quote or (_is_one(quote) and quote not in _LINE_ENDS))
    if not is_quote or (quote and quote == separator):
        what = "is the separator, too" if quote and quote == separator else f"is {shown(quote)}"
        yield Problem("quote", what, "another character than the separator, or '' for none")
    elif quote and separator is not None and not _is_one(separator):
        what = f"is {quote!r}, but quotes are read only with a separator of one character"
        yield Problem("quote", what, "none, or another separator")


def _text_problems(path: str, texts: object, expected: str) -> Iterator[Problem]:
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        yield Problem(path, f"is {shown(texts)}", expected)
        return
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            hint = f": {text!r} in quotes" if isinstance(text, int | float) else ""
            yield Problem(f"{path}[{index}]", f"is {shown(text)}", f"a text{hint}")


def _column_problems(given: FileFormat) -> Iterator[Problem]:
    columns, has_names = given.columns, given.kind == "zeek" or given.header is not False
    pairs = list(columns.items()) if isinstance(columns, Mapping) else list(_pairs(columns))
    if pairs:
        yield from _text_problems("columns", [text for pair in pairs for text in pair], "texts")
        if not has_names:
            yield Problem("columns", "names columns of a file without a header", "a list of all columns")
    elif not isinstance(columns, Mapping):
        yield from _text_problems("columns", columns, "a list, or an object from attribute to column")
        if columns and has_names:
            what = "lists columns, but the file names them itself"
            yield Problem("columns", what, "header: false, or an object from attribute to column")


def _pairs(columns: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(columns, Sequence) and not isinstance(columns, str):
        yield from (pair for pair in columns if isinstance(pair, tuple) and len(pair) == 2)


def format_problems(given: FileFormat, schema: Schema) -> Iterator[Problem]:
    """The problems of a format for an input with a schema."""
    path = f"{given.kind}.columns"
    for attribute, _ in given.renamed:
        if attribute not in schema:
            known = ", ".join(schema.names)
            yield Problem(f"{path}.{attribute}", f"unknown attribute {attribute!r}", f"one of {known}")
    if order := given.order:
        if missing := [each.name for each in schema if each.name not in order and not each.optional]:
            what = f"lacks the attribute{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
            yield Problem(path, what, "all columns of the file in their order, each attribute among them")
        yield from (
            Problem(path, f"has the attribute {name} more than once", "each attribute once")
            for name in schema.names
            if order.count(name) > 1
        )
