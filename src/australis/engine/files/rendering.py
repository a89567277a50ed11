"""Converts values to text: whole tables at once, as the bytes of CSV or of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.types import DataType
from australis.engine.files.rows import one_chunk
from australis.errors import EngineError, Problem

# ISO 8601 has four digits for the year; times outside that range have no text that could be read back.
_FIRST_MICROSECOND = -62_135_596_800_000_000
_LAST_MICROSECOND = 253_402_300_799_999_999


class Rendered(Protocol):
    """A column to render: a field of a schema, or a hidden one."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> DataType: ...


def csv_header(schema: Iterable[Rendered], delimiter: str) -> bytes:
    return (delimiter.join(field.name for field in schema) + "\n").encode()


def csv_rows(table: pa.Table, schema: Iterable[Rendered], delimiter: str) -> bytes:
    """The rows of a table as CSV: NULL is empty, a text is quoted only where necessary."""
    columns = [_csv_column(one_chunk(table[field.name]), field.type, delimiter) for field in schema]
    return _rows(pc.binary_join_element_wise(*columns, delimiter))


def json_rows(table: pa.Table, schema: Iterable[Rendered]) -> bytes:
    """The rows of a table as JSON lines; NULL is null, and numbers that JSON cannot represent are strings."""
    parts: list[object] = []
    for index, field in enumerate(schema):
        parts += [
            f"{'{' if index == 0 else ','}{json.dumps(field.name)}:",
            _json_column(one_chunk(table[field.name]), field.type),
        ]
    return _rows(pc.binary_join_element_wise(*parts, "}", ""))


def _rows(texts: pa.Array) -> bytes:
    """The texts as lines: Arrow stores the texts of a column one after another, so its buffer is the file."""
    lines = pc.binary_join_element_wise(texts, "\n", "")
    if not len(lines):
        return b""
    return bytes(lines.cast(pa.large_binary()).buffers()[2][: _size(lines)])


def _size(lines: pa.Array) -> int:
    return int(pc.sum(pc.binary_length(lines)).as_py())


def value_texts(column: pa.Array, data_type: DataType) -> pa.Array:
    """Every value as a text that reads back as the same value."""
    if data_type.name == "timestamp":
        return _moments(column)
    if data_type.name == "double":
        return _doubles(column)
    return column.cast(pa.string())


def _moments(column: pa.Array) -> pa.Array:
    """ISO 8601 in UTC; whole seconds have no fraction."""
    bounds = pc.min_max(column.cast(pa.int64())).as_py()
    if bounds["min"] is not None and (
        bounds["min"] < _FIRST_MICROSECOND or bounds["max"] > _LAST_MICROSECOND
    ):
        raise EngineError(
            Problem("", "a timestamp lies outside the years 1 to 9999", "Parquet, which can hold it")
        )
    texts = column.cast(pa.timestamp("us")).cast(pa.string())
    texts = pc.binary_join_element_wise(pc.binary_replace_slice(texts, 10, 11, "T"), "Z", "")
    return pc.replace_substring(texts, ".000000Z", "Z")


def _doubles(column: pa.Array) -> pa.Array:
    texts = column.cast(pa.string())
    for arrow_text, text in (("nan", "NaN"), ("inf", "Infinity"), ("-inf", "-Infinity")):
        texts = pc.if_else(pc.equal(texts, arrow_text), text, texts)
    return texts


def _csv_column(column: pa.Array, data_type: DataType, delimiter: str) -> pa.Array:
    texts = value_texts(column, data_type)
    if data_type.name == "string":
        special = pc.match_substring_regex(texts, f'^$|["\r\n{delimiter}]')
        if pc.any(special).as_py():
            doubled = pc.replace_substring(texts, '"', '""')
            texts = pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), texts)
    return texts.fill_null("")


def _json_column(column: pa.Array, data_type: DataType) -> pa.Array:
    texts = value_texts(column, data_type)
    if data_type.name == "string":
        texts = _escaped(texts)
    elif data_type.name == "timestamp":
        texts = pc.binary_join_element_wise('"', texts, '"', "")
    elif data_type.name == "double":
        texts = _quoted_where(texts, pc.invert(pc.is_finite(column)))
    return texts.fill_null("null")


def _quoted_where(texts: pa.Array, mask: pa.Array) -> pa.Array:
    if not pc.any(mask).as_py():
        return texts
    return pc.if_else(mask, pc.binary_join_element_wise('"', texts, '"', ""), texts)


def _escaped(texts: pa.Array) -> pa.Array:
    """JSON strings; each distinct text with a character that needs escaping is written by Python."""
    quoted = pc.binary_join_element_wise('"', texts, '"', "")
    special = pc.match_substring_regex(texts, r'["\\\x00-\x1f]').fill_null(False)
    if not pc.any(special).as_py():
        return quoted
    written = [json.dumps(text, ensure_ascii=False) for text in texts.filter(special).to_pylist()]
    return pc.replace_with_mask(quoted, special, pa.array(written, pa.string()))
