"""Separated fields: read as texts by Arrow, block by block, then converted; bad rows keep their line."""

from __future__ import annotations

import csv
import io
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from australis.algebra.schema import Field, Schema
from australis.engine.files.blocks import RECORD_BYTES_MAX, TextSource
from australis.engine.files.delimited.dialect import Dialect, RecordBlock, separated
from australis.engine.files.reader import TextReader
from australis.engine.files.rows import (
    Batch,
    Rejected,
    as_json,
    null_faults,
    one_chunk,
    place_of,
    shown,
    without,
)
from australis.engine.files.texts import Converted, convert
from australis.errors import EngineError, Problem


@dataclass(frozen=True)
class CsvRecord:
    """A record of a block as it is in the file: the line it begins on, and its fields."""

    line: int
    fields: list[str]


@dataclass(frozen=True)
class Layout:
    """The columns of a file, how they are written, and the column of each attribute."""

    columns: Sequence[str]
    dialect: Dialect
    wanted: Mapping[str, str]
    """Without an attribute that the file leaves out: it is NULL."""
    notes: tuple[str, ...] = ()

    @property
    def skips_empty_lines(self) -> bool:
        """In a file with one column an empty line is a NULL, elsewhere it is ignored."""
        return self.dialect.skips_empty_lines or len(self.columns) > 1


class DelimitedReader(TextReader):
    """A file of records whose layout is found out when it is opened."""

    def __init__(self, source: TextSource, schema: Schema, timezone: str) -> None:
        super().__init__(source)
        self._schema, self._timezone = schema, timezone
        self._ragged = False
        try:
            self._layout = self._find_layout()
        except BaseException:
            self.close()
            raise
        self.notes = self._layout.notes

    @abstractmethod
    def _find_layout(self) -> Layout:
        """The layout of the file, by its first lines."""

    def _prepared(self, line: int, block: bytes) -> bytes:
        """The records of a block, with the line ends that it has."""
        return block

    def _converted(self, field: Field, texts: pa.Array) -> Converted:
        """The values of an attribute."""
        return convert(texts, field.type, self._timezone)

    def batches(self) -> Iterator[Batch]:
        dialect = self._layout.dialect
        for line, block in self._source.blocks(dialect.cut):
            data = self._prepared(line, block)
            yield self._batch(separated(self._path, line, data, dialect.separator))

    def _batch(self, block: RecordBlock) -> Batch:
        self._ragged = False
        texts = self._parse(block)
        columns, faults = self._columns(texts)
        table = pa.table([columns[name] for name in self._schema.names], self._schema.arrow)
        if not self._ragged and not faults:
            return Batch(table)
        rejected = self._rejected(self._records(block), faults, texts.num_rows)
        return Batch(without(table, faults), rejected)

    def _options(self, delimiter: str, *, is_text: bool) -> tuple[pacsv.ParseOptions, pacsv.ConvertOptions]:
        """Read all columns as bytes; an empty field without quotes is NULL."""
        dialect, columns = self._layout.dialect, list(self._layout.columns)
        parsing = pacsv.ParseOptions(
            delimiter=delimiter,
            quote_char=dialect.quote or False,
            newlines_in_values=True,
            ignore_empty_lines=self._layout.skips_empty_lines,
            invalid_row_handler=self._skip_ragged,
        )
        wanted = {str(columns.index(name)): pa.binary() for name in self._layout.wanted.values()}
        conversion = pacsv.ConvertOptions(
            include_columns=list(wanted),
            column_types=wanted,
            null_values=["", *(dialect.nulls if is_text else map(_in_latin, dialect.nulls))],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        return parsing, conversion

    def _skip_ragged(self, row: pacsv.InvalidRow) -> str:
        self._ragged = True
        return "skip"

    def _parse(self, block: RecordBlock) -> pa.Table:
        """The texts of the schema's columns."""
        columns = list(self._layout.columns)
        if self._layout.skips_empty_lines and not block.data.strip(b"\r\n"):
            return pa.table({name: pa.array([], pa.binary()) for name in self._schema.names})
        # Arrow cannot show a ragged row that is not UTF-8, and gives up; as Latin-1 all bytes are texts.
        is_text = _is_utf8(block.data)
        parsing, conversion = self._options(block.delimiter, is_text=is_text)
        names = [str(index) for index in range(len(columns))]
        data = block.data if is_text else block.data.decode("latin-1").encode()
        whole = pacsv.ReadOptions(column_names=names, block_size=len(data) + 1)
        try:
            texts = pacsv.read_csv(pa.BufferReader(data), whole, parsing, conversion)
        except pa.ArrowInvalid as error:
            raise EngineError(Problem(self._path, f"is no CSV from line {block.line} on: {error}")) from None
        found = {name: texts[str(columns.index(of))] for name, of in self._layout.wanted.items()}
        if not is_text:
            found = {name: _as_it_was(each) for name, each in found.items()}
        left_out = pa.chunked_array([pa.nulls(texts.num_rows, pa.binary())])
        return pa.table({name: found.get(name, left_out) for name in self._schema.names})

    def _columns(self, texts: pa.Table) -> tuple[dict[str, pa.Array], dict[int, str]]:
        """The typed columns, and the rows that do not fit, each with the first reason."""
        columns: dict[str, pa.Array] = {}
        faults: dict[int, str] = {}
        for field in self._schema:
            column, undecodable = _decoded(one_chunk(texts[field.name]))
            faults.update(dict.fromkeys(undecodable, f"attribute {field.name} is not UTF-8"))
            converted = self._converted(field, column)
            columns[field.name] = converted.column
            for row in converted.bad_rows:
                faults.setdefault(
                    row, f"{shown(column[row].as_py())} in attribute {field.name} is no {field.type}"
                )
        return columns, {**null_faults(self._schema, columns), **faults}

    def _records(self, block: RecordBlock) -> Iterator[CsvRecord]:
        """Read the records of a block again, with their lines: only where something in it is wrong."""
        text = block.data.decode("utf-8", "backslashreplace")
        reader = csv.reader(io.StringIO(text, newline=""), **csv_settings(block.delimiter, self._quote))
        limit = csv.field_size_limit(RECORD_BYTES_MAX)
        try:
            before = 0
            for fields in reader:
                if fields or not self._layout.skips_empty_lines:
                    yield CsvRecord(block.line + before, fields or [""])
                before = reader.line_num
        finally:
            csv.field_size_limit(limit)

    @property
    def _quote(self) -> str:
        return self._layout.dialect.quote

    def _rejected(
        self, records: Iterator[CsvRecord], faults: dict[int, str], rows: int
    ) -> tuple[Rejected, ...]:
        rejected = []
        row, expected = 0, len(self._layout.columns)
        for record in records:
            count = len(record.fields)
            if count != expected:
                fields = "field" if count == 1 else "fields"
                reason = f"has {count} {fields}, expected {expected}"
                rejected.append(self._reject(record.line, reason, record.fields))
                continue
            if row in faults:
                values = dict(zip(self._layout.columns, record.fields, strict=True))
                rejected.append(self._reject(record.line, faults[row], values))
            row += 1
        if row != rows:
            raise EngineError(
                Problem(self._path, f"its {rows} rows were read as {row} records", "well-placed quotes")
            )
        return tuple(rejected)

    def _reject(self, line: int, reason: str, values: object) -> Rejected:
        return Rejected(f"{place_of(self._path, 'line', line)}: {reason}", as_json(values))


def csv_settings(delimiter: str, quote: str) -> dict[str, Any]:
    """The same dialect for Python's reader."""
    if quote:
        return {"delimiter": delimiter, "quotechar": quote}
    return {"delimiter": delimiter, "quoting": csv.QUOTE_NONE}


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        # Its rows are sorted out one by one.
        return False
    return True


def _in_latin(text: str) -> str:
    """How a text of UTF-8 reads as Latin-1."""
    return text.encode().decode("latin-1")


def _as_it_was(column: pa.ChunkedArray) -> pa.Array:
    """A column of bytes that were read as Latin-1."""
    values = column.to_pylist()
    found = [None if each is None else each.decode().encode("latin-1") for each in values]
    return pa.array(found, pa.binary())


def _decoded(column: pa.Array) -> tuple[pa.Array, list[int]]:
    """A column of bytes as texts, and the rows whose bytes are not UTF-8; those are NULL."""
    try:
        return column.cast(pa.string()), []
    except pa.ArrowInvalid:
        # Some are not UTF-8: decode them one by one to find out which.
        texts = [_decode(value) for value in column.to_pylist()]
    bad = [
        row
        for row, (text, value) in enumerate(zip(texts, column.to_pylist(), strict=True))
        if text is None and value
    ]
    return pa.array(texts, pa.string()), bad


def _decode(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        # The caller reports the row.
        return None
