"""CSV and TSV: read as text by Arrow, block by block, then converted; bad rows keep their line number."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as pacsv

from australis.algebra.schema import Schema
from australis.engine.files.blocks import RECORD_BYTES_MAX, cut_records
from australis.engine.files.growing import Idle
from australis.engine.files.reader import TextReader, check_columns
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
from australis.engine.files.texts import convert
from australis.errors import EngineError, Problem

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class CsvRecord:
    """A record of a block as it is in the file: the line it begins on, and its fields."""

    line: int
    fields: list[str]


class CsvReader(TextReader):
    """A CSV file with a header, whose columns are found by name."""

    def __init__(
        self,
        path: str,
        schema: Schema,
        timezone: str,
        delimiter: str = ",",
        growing: Idle | None = None,
    ) -> None:
        super().__init__(path, growing)
        self._schema, self._timezone, self._delimiter = schema, timezone, delimiter
        self._ragged = False
        try:
            self._header = self._read_header()
            self.notes = check_columns(path, schema, self._header, "the header")
        except BaseException:
            self.close()
            raise

    def batches(self) -> Iterator[Batch]:
        for line, block in self._source.blocks(cut_records(self._delimiter)):
            yield self._batch(line, block)

    def _read_header(self) -> list[str]:
        first = self._source.readline()
        if not first:
            raise EngineError(
                Problem(self._path, "is empty", f"a header with {', '.join(self._schema.names)}")
            )
        if first[:2] in _UTF16 or b"\0" in first:
            what = "is UTF-16" if first[:2] in _UTF16 else "is no text: its first line has a zero byte"
            raise EngineError(Problem(self._path, what, "a CSV file in UTF-8"))
        header = next(csv.reader(self._header_lines(first.removeprefix(_BOM)), delimiter=self._delimiter), [])
        self._hint_delimiter(header)
        return [name.strip() for name in header]

    def _header_lines(self, first: bytes) -> Iterator[str]:
        line = first
        while line:
            try:
                yield line.decode()
            except UnicodeDecodeError:
                raise EngineError(
                    Problem(self._path, "the header is not UTF-8", "a CSV file in UTF-8")
                ) from None
            line = self._source.readline()

    def _hint_delimiter(self, header: list[str]) -> None:
        if len(header) != 1 or header[0].strip() in self._schema:
            return
        for other, name in ((";", "';'"), ("\t", "tabs"), (",", "','"), ("|", "'|'")):
            if other != self._delimiter and set(header[0].split(other)) & set(self._schema.names):
                ours = "tabs" if self._delimiter == "\t" else repr(self._delimiter)
                raise EngineError(
                    Problem(self._path, f"the header is separated by {name}", f"fields separated by {ours}")
                )

    def _batch(self, line: int, block: bytes) -> Batch:
        self._ragged = False
        texts = self._parse(line, block)
        columns, faults = self._columns(texts)
        table = pa.table([columns[name] for name in self._schema.names], self._schema.arrow)
        if not self._ragged and not faults:
            return Batch(table)
        rejected = self._rejected(self._records(line, block), faults, texts.num_rows)
        return Batch(without(table, faults), rejected)

    def _options(self) -> tuple[pacsv.ParseOptions, pacsv.ConvertOptions]:
        """Read all columns as bytes; an empty field without quotes is NULL."""
        parsing = pacsv.ParseOptions(
            delimiter=self._delimiter,
            newlines_in_values=True,
            # In a file with one column an empty line is a NULL, elsewhere it is ignored.
            ignore_empty_lines=len(self._header) > 1,
            invalid_row_handler=self._skip_ragged,
        )
        wanted = [str(self._header.index(name)) for name in self._schema.names]
        conversion = pacsv.ConvertOptions(
            include_columns=wanted,
            column_types=dict.fromkeys(wanted, pa.binary()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        return parsing, conversion

    def _skip_ragged(self, row: pacsv.InvalidRow) -> str:
        self._ragged = True
        return "skip"

    def _parse(self, line: int, block: bytes) -> pa.Table:
        """The texts of the schema's columns."""
        names = [str(index) for index in range(len(self._header))]
        if len(names) > 1 and not block.strip(b"\r\n"):
            return pa.table({name: pa.array([], pa.binary()) for name in self._schema.names})
        parsing, conversion = self._options()
        whole = pacsv.ReadOptions(column_names=names, block_size=len(block) + 1)
        try:
            texts = pacsv.read_csv(pa.BufferReader(block), whole, parsing, conversion)
        except pa.ArrowInvalid as error:
            raise EngineError(Problem(self._path, f"is no CSV from line {line} on: {error}")) from None
        return texts.rename_columns(list(self._schema.names))

    def _columns(self, texts: pa.Table) -> tuple[dict[str, pa.Array], dict[int, str]]:
        """The typed columns, and the rows that do not fit, each with the first reason."""
        columns: dict[str, pa.Array] = {}
        faults: dict[int, str] = {}
        for field in self._schema:
            column, undecodable = _decoded(one_chunk(texts[field.name]))
            faults.update(dict.fromkeys(undecodable, f"attribute {field.name} is not UTF-8"))
            converted = convert(column, field.type, self._timezone)
            columns[field.name] = converted.column
            for row in converted.bad_rows:
                faults.setdefault(
                    row, f"{shown(column[row].as_py())} in attribute {field.name} is no {field.type}"
                )
        return columns, {**null_faults(self._schema, columns), **faults}

    def _records(self, line: int, block: bytes) -> Iterator[CsvRecord]:
        """Read the records of a block again, with their lines: only where something in it is wrong."""
        text = block.decode("utf-8", "backslashreplace")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self._delimiter)
        limit = csv.field_size_limit(RECORD_BYTES_MAX)
        try:
            before = 0
            for fields in reader:
                if fields or len(self._header) == 1:
                    yield CsvRecord(line + before, fields or [""])
                before = reader.line_num
        finally:
            csv.field_size_limit(limit)

    def _rejected(
        self, records: Iterator[CsvRecord], faults: dict[int, str], rows: int
    ) -> tuple[Rejected, ...]:
        rejected = []
        row = 0
        for record in records:
            count = len(record.fields)
            if count != len(self._header):
                fields = "field" if count == 1 else "fields"
                reason = f"has {count} {fields}, expected {len(self._header)}"
                rejected.append(self._reject(record.line, reason, record.fields))
                continue
            if row in faults:
                values = dict(zip(self._header, record.fields, strict=True))
                rejected.append(self._reject(record.line, faults[row], values))
            row += 1
        if row != rows:
            raise EngineError(
                Problem(self._path, f"its {rows} rows were read as {row} records", "well-placed quotes")
            )
        return tuple(rejected)

    def _reject(self, line: int, reason: str, values: object) -> Rejected:
        return Rejected(f"{place_of(self._path, 'line', line)}: {reason}", as_json(values))


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
