"""JSON lines: one object per line, read by Arrow in blocks; near a bad line they are read line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pajson

from australis.algebra.expr import nearest
from australis.algebra.quarantine_text import null_reason
from australis.algebra.schema import Field, Schema
from australis.algebra.types import DataType
from australis.engine.files.blocks import TextSource, cut_lines
from australis.engine.files.reader import TextReader, ignored
from australis.engine.files.rows import Batch, Rejected, as_json, null_faults, one_chunk, place_of, shown
from australis.engine.files.texts import convert, parse_value
from australis.errors import EngineError, Problem

_BOM = b"\xef\xbb\xbf"
_SLOW_LINES = 256
_EXAMINED_LINES = 64
"""How many lines of a block are examined for fields that the schema does not have."""


class JsonObjects:
    """Objects as tuples of a schema. Attributes that an object lacks are NULL; others are ignored."""

    def __init__(self, schema: Schema, timezone: str) -> None:
        self._schema, self._timezone = schema, timezone
        # Arrow would read a time without a zone as UTC, so it leaves timestamps to `convert`.
        self._arrow = pa.schema(
            [
                (field.name, pa.string() if field.type.name == "timestamp" else field.type.arrow)
                for field in schema
            ]
        )

    def columns(self, texts: Sequence[bytes | None]) -> tuple[dict[str, pa.Array], dict[int, str]]:
        """The columns of texts of one object each, and which are no tuple; these, and None, are NULL."""
        places = [place for place, text in enumerate(texts) if text is not None]
        if len(places) == len(texts):
            return self._columns([text for text in texts if text is not None])
        found, faults = self._columns([text for text in texts if text is not None])
        rows = np.full(len(texts), -1)
        rows[places] = np.arange(len(places))
        taken = pa.array(rows, mask=rows < 0)
        spread = {name: column.take(taken) for name, column in found.items()}
        return spread, {places[place]: reason for place, reason in faults.items()}

    def _columns(self, texts: Sequence[bytes]) -> tuple[dict[str, pa.Array], dict[int, str]]:
        fast = self.fast(_as_lines(texts)) if texts else None
        if fast is not None and fast.num_rows == len(texts):
            return {name: one_chunk(fast[name]) for name in self._schema.names}, {}
        if len(texts) > _SLOW_LINES:
            return self._halves(texts)
        rows: list[dict[str, Any]] = []
        faults: dict[int, str] = {}
        for place, text in enumerate(texts):
            try:
                rows.append(self.row(text))
            except ValueError as error:
                faults[place] = str(error)
                rows.append({})
        return self.filled(rows), faults

    def _halves(self, texts: Sequence[bytes]) -> tuple[dict[str, pa.Array], dict[int, str]]:
        """What is read of many texts, in which something is wrong: half by half."""
        middle = len(texts) // 2
        first, faults = self._columns(texts[:middle])
        second, more = self._columns(texts[middle:])
        joined = {name: pa.concat_arrays([first[name], second[name]]) for name in first}
        return joined, faults | {place + middle: reason for place, reason in more.items()}

    def filled(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
        """The columns of rows; what a row lacks is NULL."""
        return {f.name: pa.array([row.get(f.name) for row in rows], f.type.arrow) for f in self._schema}

    def fast(self, block: bytes) -> pa.Table | None:
        """The tuples of a block, or None if anything in it needs a closer look."""
        lines = _lines_of_objects(block)
        if lines < 0:
            # Among them a block that begins with `null`, which would end the process within Arrow.
            return None
        options = pajson.ParseOptions(explicit_schema=self._arrow, unexpected_field_behavior="ignore")
        try:
            block.decode()
            whole = pajson.ReadOptions(block_size=len(block) + 1)
            texts = pajson.read_json(pa.BufferReader(block), whole, options).combine_chunks()
        except (pa.ArrowInvalid, UnicodeDecodeError):
            # The caller reads line by line, and finds out which are wrong.
            return None
        columns = {
            f.name: convert(one_chunk(texts[f.name]), f.type, self._timezone) for f in self._timestamps()
        }
        if texts.num_rows != lines or any(c.bad_rows for c in columns.values()):
            return None
        arrays = {
            f.name: columns[f.name].column if f.name in columns else one_chunk(texts[f.name])
            for f in self._schema
        }
        if null_faults(self._schema, arrays):
            return None
        return pa.table(list(arrays.values()), self._schema.arrow)

    def _timestamps(self) -> Iterator[Field]:
        return (field for field in self._schema if field.type.name == "timestamp")

    def row(self, line: bytes) -> dict[str, Any]:
        """The attributes of an object; raises ValueError if it is no tuple."""
        try:
            found = json.loads(line.decode(), parse_float=Decimal, object_pairs_hook=_unique)
        except UnicodeDecodeError:
            raise ValueError("is not UTF-8") from None
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"is no JSON: {error}") from None
        if not isinstance(found, dict):
            raise ValueError(f"is {shown(found)}, no JSON object")
        return {field.name: self._value(found.get(field.name), field) for field in self._schema}

    def _value(self, value: object, field: Field) -> object:
        if value is None:
            if not field.nullable:
                raise ValueError(null_reason(field.name))
            return None
        try:
            return _checked(value, field.type, self._timezone)
        except ValueError:
            text = str(value) if isinstance(value, Decimal) else shown(value)
            raise ValueError(f"{text} in attribute {field.name} {_misfit(value, field.type)}") from None


class JsonReader(TextReader):
    """A file of JSON objects, one per line. Attributes that an object lacks are NULL; others are ignored."""

    def __init__(self, source: TextSource, schema: Schema, timezone: str) -> None:
        super().__init__(source)
        self._schema, self._objects = schema, JsonObjects(schema, timezone)
        self._others: dict[str, str] = {}

    def batches(self) -> Iterator[Batch]:
        for line, block in self._source.blocks(cut_lines):
            if line == 1:
                block = block.removeprefix(_BOM)
                self._check_first(block)
            self._note_others(block)
            yield from self._halved(line, block)

    def _note_others(self, block: bytes) -> None:
        """Note fields that the schema does not have; in a long block only some objects are examined."""
        before = len(self._others)
        for line in _examined(block):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue  # the line will be rejected
            if isinstance(found, dict):
                self._note_fields(found)
        if len(self._others) > before:
            self.notes = ignored(self._path, "field", self._others)

    def _note_fields(self, found: Mapping[str, object]) -> None:
        unknown = [name for name in found if name not in self._schema and name not in self._others]
        if unknown:
            missing = [name for name in self._schema.names if name not in found]
            self._others |= {name: nearest(name, missing) for name in unknown}

    def _check_first(self, block: bytes) -> None:
        if block[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in block[:1000]:
            raise EngineError(Problem(self._path, "is no text in UTF-8", "JSON lines in UTF-8"))
        if block.lstrip()[:1] == b"[":
            raise EngineError(
                Problem(self._path, "is a JSON array", "JSON lines: one object a line, without brackets")
            )

    def _halved(self, line: int, block: bytes) -> Iterator[Batch]:
        """Read a block as a whole or, if something in it is wrong, half by half."""
        fast = self._objects.fast(block)
        if fast is not None:
            yield Batch(fast)
            return
        if block.count(b"\n") <= _SLOW_LINES:
            yield self._careful(line, block)
            return
        # With that many line ends one lies in the second half, unless the first line is longer than the rest.
        cut = block.find(b"\n", len(block) // 2) + 1 or block.rfind(b"\n", 0, len(block) // 2) + 1
        yield from self._halved(line, block[:cut])
        yield from self._halved(line + block.count(b"\n", 0, cut), block[cut:])

    def _careful(self, line: int, block: bytes) -> Batch:
        rows: list[dict[str, Any]] = []
        rejected = []
        for number, text in enumerate(block.split(b"\n"), line):
            if not text.strip():
                continue
            try:
                rows.append(self._objects.row(text))
            except ValueError as error:
                rejected.append(Rejected(f"{place_of(self._path, 'line', number)}: {error}", _as_json(text)))
        columns = list(self._objects.filled(rows).values())
        return Batch(pa.table(columns, self._schema.arrow), tuple(rejected))


def _as_lines(texts: Sequence[bytes]) -> bytes:
    """Texts as lines; a line end within one becomes a tab, which JSON allows in the same places."""
    block = b"\n".join(texts)
    if block.count(b"\n") == len(texts) - 1:
        return block
    return b"\n".join(text.strip().replace(b"\n", b"\t") for text in texts)


def _examined(block: bytes) -> Iterator[bytes]:
    """Some lines of a block, spread over all of it; all lines of a short one."""
    if block.count(b"\n") <= _EXAMINED_LINES:
        yield from block.split(b"\n")
        return
    end = 0
    for place in range(0, len(block), len(block) // _EXAMINED_LINES + 1):
        # Start with the first line that begins there or later, and was not examined before.
        start = max(end, block.find(b"\n", place - 1) + 1 if place else 0)
        end = block.find(b"\n", start) + 1 or len(block)
        yield block[start:end]


def _as_json(line: bytes) -> str:
    """The line itself if it is JSON, and otherwise its text as JSON."""
    text = line.decode("utf-8", "backslashreplace").strip()
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        # It is rejected, and shown as a text.
        return as_json(text)
    return text


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("names an attribute twice")
    return found


def _checked(value: object, data_type: DataType, timezone: str) -> object:
    """A JSON value as a value of a type; numbers that JSON cannot represent may be strings."""
    if isinstance(value, bool) or data_type.name == "boolean":
        if isinstance(value, bool) and data_type.name == "boolean":
            return value
        raise ValueError
    if data_type.name == "string":
        if not isinstance(value, str):
            raise ValueError
        value.encode()
        return value
    if isinstance(value, str):
        if data_type.is_integral or not value.strip():
            raise ValueError
        return parse_value(value, data_type, timezone)
    if data_type.name == "timestamp" or not isinstance(value, int | float | Decimal):
        raise ValueError
    return parse_value(str(value), data_type, timezone)


def _misfit(value: object, data_type: DataType) -> str:
    """Why a JSON value is no value of a type."""
    if isinstance(value, str) and data_type.is_integral:
        return "is a string; expected a JSON number"
    if isinstance(value, int | Decimal) and not isinstance(value, bool) and data_type.name == "timestamp":
        return "is a number; expected a timestamp as ISO 8601 text"
    return f"is no {data_type}"


def _lines_of_objects(block: bytes) -> int:
    """The number of lines, if each begins and ends with a brace; else -1.

    Arrow also accepts several objects on a line, or one over several lines. Between two lines that end and
    begin with a brace an object must end; so if there are as many objects as lines, each line is one object.
    """
    lines = block.count(b"\n") + (not block.endswith(b"\n"))
    begun = block.count(b"\n{") + block.startswith(b"{")
    ended = block.count(b"}\n") + block.count(b"}\r\n") + block.endswith(b"}")
    return lines if begun == ended == lines else -1
