"""CSV and TSV: columns are found by the names in the header or, without one, by their order."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from australis.algebra.schema import Schema
from australis.algebra.store import FileFormat
from australis.engine.files.blocks import TextSource
from australis.engine.files.delimited.dialect import Dialect, separated
from australis.engine.files.delimited.records import DelimitedReader, Layout, csv_settings
from australis.engine.files.reader import check_columns, there
from australis.errors import EngineError, Problem

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"
_CSV = FileFormat("csv")
_IN_UTF8 = "a CSV file in UTF-8"
_WITHOUT_HEADER = "format: {csv: {header: false}} for a file without a header"


class CsvReader(DelimitedReader):
    """A CSV file, with a header unless its format says otherwise."""

    def __init__(
        self,
        source: TextSource,
        schema: Schema,
        timezone: str,
        dialect: Dialect,
        format: FileFormat | None = None,
    ) -> None:
        self._dialect, self._format = dialect, format or _CSV
        super().__init__(source, schema, timezone)

    def _prepared(self, line: int, block: bytes) -> bytes:
        return block.removeprefix(_BOM) if line == 1 else block

    def _find_layout(self) -> Layout:
        self._check_text(self._source.peek_line())
        return self._named_layout() if self._format.header else self._ordered_layout()

    def _named_layout(self) -> Layout:
        wanted = {name: name for name in self._schema.names} | dict(self._format.renamed)
        header = self._read_header()
        wanted = there(self._schema, wanted, header)
        # If the first line has none of the names, it is perhaps no header.
        hint = "" if set(header) & set(wanted.values()) else f", or {_WITHOUT_HEADER}"
        notes = check_columns(self._path, wanted, header, "the header", hint)
        return Layout(header, self._dialect, wanted, notes)

    def _ordered_layout(self) -> Layout:
        columns = self._format.order or self._schema.but_optional().names
        self._check_first(self._source.peek_line(), len(columns))
        wanted = there(self._schema, {name: name for name in self._schema.names}, columns)
        return Layout(columns, self._dialect, wanted)

    def _check_first(self, first: bytes, columns: int) -> None:
        """Refuse a file whose first record has another number of fields: all others would be rejected."""
        line = first.removeprefix(_BOM)
        if not line.strip() or (self._dialect.quote and self._dialect.quote.encode() in line):
            return
        # A first line that is no UTF-8 is one of the rows to reject.
        fields = self._fields(iter([line.decode("utf-8", "backslashreplace").encode()]))
        if len(fields) != columns:
            what = f"its first line has {len(fields)} field{'s'[: len(fields) != 1]}, separated by"
            what = f"{what} {self._dialect}, where the format has {columns}"
            raise EngineError(Problem(self._path, what, "columns: [...] with a name for each field"))

    def _fields(self, lines: Iterator[bytes]) -> list[str]:
        """The fields of the first record."""
        settings = csv_settings("\t", self._dialect.quote)

        def texts() -> Iterator[str]:
            for line in lines:
                block = separated(self._path, 1, line, self._dialect.separator)
                settings["delimiter"] = block.delimiter
                yield _text(block.data, self._path)

        first = texts()
        head = next(first, "")
        rest = (text for each in ((head,), first) for text in each)
        return next(csv.reader(rest, **settings), [])

    def _read_header(self) -> list[str]:
        if not self._source.peek_line():
            raise EngineError(
                Problem(self._path, "is empty", f"a header with {', '.join(self._schema.names)}")
            )
        header = self._fields(self._header_lines())
        self._hint_delimiter(header)
        return [name.strip() for name in header]

    def _check_text(self, first: bytes) -> None:
        if first[:2] in _UTF16 or b"\0" in first:
            what = "is UTF-16" if first[:2] in _UTF16 else "is no text: its first line has a zero byte"
            raise EngineError(Problem(self._path, what, _IN_UTF8))

    def _header_lines(self) -> Iterator[bytes]:
        line = self._source.readline().removeprefix(_BOM)
        while line:
            yield line
            line = self._source.readline()

    def _hint_delimiter(self, header: list[str]) -> None:
        if len(header) != 1 or header[0].strip() in self._schema:
            return
        for other, name in ((";", "';'"), ("\t", "tabs"), (",", "','"), ("|", "'|'")):
            if other != self._dialect.separator and set(header[0].split(other)) & set(self._schema.names):
                what, expected = f"the header is separated by {name}", f"fields separated by {self._dialect}"
                say = "\\t" if other == "\t" else other
                hint = f'{expected}, or format: {{csv: {{separator: "{say}"}}}}'
                raise EngineError(Problem(self._path, what, hint))


def _text(line: bytes, path: str) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise EngineError(Problem(path, "the header is not UTF-8", _IN_UTF8)) from None
