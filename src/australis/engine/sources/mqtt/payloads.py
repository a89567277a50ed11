"""Payloads of messages as tuples: JSON objects, rows of CSV, or the text of one attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import pyarrow.csv as pacsv

from australis.algebra.schema import Schema
from australis.engine.files import (
    Batch,
    JsonObjects,
    Rejected,
    as_json,
    convert,
    null_faults,
    one_chunk,
    unsound_rows,
    without,
)

JSON, CSV, TEXT = "json", "csv", "text"
FORMATS = (JSON, CSV, TEXT)
_SHOWN_BYTES = 4096
Columns = dict[str, pa.Array]
Faults = dict[int, str]


class Message(Protocol):
    """A message as the client library has it."""

    @property
    def topic(self) -> str: ...
    @property
    def payload(self) -> bytes: ...


@dataclass(frozen=True)
class Decoding:
    """How messages become tuples of a schema."""

    schema: Schema
    format: str
    timezone: str
    topic: str | None = None
    """The attribute that gets the topic of its message."""

    @property
    def rest(self) -> Schema:
        """The attributes that payloads have."""
        return Schema(tuple(field for field in self.schema if field.name != self.topic))

    def batch(self, messages: Sequence[Message]) -> Batch:
        """The tuples of messages, and those that are none."""
        payloads = [bytes(each.payload) for each in messages]
        columns, faults = self._columns(payloads) if len(self.rest) else ({}, {})
        if self.topic is not None:
            columns[self.topic] = pa.array([each.topic for each in messages], pa.string())
        for row, reason in null_faults(self.schema, columns).items():
            faults.setdefault(row, reason)
        # Columns of rejected rows may be NULL where the schema allows none, until they are left out.
        loose = pa.schema([field.with_nullable(True) for field in self.schema.arrow])
        table = pa.table([columns[name] for name in self.schema.names], loose)
        rejected = tuple(_rejected(messages[row], reason) for row, reason in sorted(faults.items()))
        return Batch(without(table, faults).cast(self.schema.arrow), rejected)

    def _columns(self, payloads: Sequence[bytes]) -> tuple[Columns, Faults]:
        if self.format == JSON:
            return JsonObjects(self.rest, self.timezone).columns(payloads)
        if self.format == CSV:
            return self._converted(*_fields(payloads, self.rest.names))
        return self._converted(*_texts(self.rest.names[0], payloads))

    def _converted(self, texts: Columns, faults: Faults) -> tuple[Columns, Faults]:
        columns: Columns = {}
        for field in self.rest:
            found = convert(texts[field.name], field.type, self.timezone)
            columns[field.name] = found.column
            for row in found.bad_rows:
                text = texts[field.name][row].as_py()
                faults.setdefault(row, f"{text!r} in attribute {field.name} is no {field.type}")
        return columns, faults


def _texts(name: str, payloads: Sequence[bytes | None]) -> tuple[Columns, Faults]:
    """Payloads as texts, if they are UTF-8."""
    texts = pa.array(payloads, pa.binary()).view(pa.string())
    faults = unsound_rows({name: texts})
    if faults:
        sound = [None if place in faults else each for place, each in enumerate(payloads)]
        texts = pa.array(sound, pa.binary()).view(pa.string())
    return {name: texts}, dict.fromkeys(faults, "is no text in UTF-8")


def _fields(payloads: Sequence[bytes], names: Sequence[str]) -> tuple[Columns, Faults]:
    """The fields of payloads that are each a row of CSV."""
    faults = _texts(names[0], payloads)[1]
    for row, text in enumerate(payloads):
        if row not in faults and (not text.strip() or b"\n" in text.strip() or b"\r" in text.strip()):
            faults[row] = "is not one row of CSV"
    blank = b"," * (len(names) - 1) or b'""'
    rows = [blank if row in faults else each.strip() for row, each in enumerate(payloads)]
    table = _read(rows, names)
    if table is None:
        # Some row has another number of fields: they are looked at one by one.
        for row, text in enumerate(rows):
            if _read([text], names) is None:
                faults[row] = f"has not {len(names)} fields of CSV"
        table = _read([blank if row in faults else each for row, each in enumerate(rows)], names)
    assert table is not None, "what is left was read row by row"
    return {name: one_chunk(table[name]) for name in names}, faults


def _read(rows: Sequence[bytes], names: Sequence[str]) -> pa.Table | None:
    """Rows of CSV as columns of texts; None if they are not as many rows of so many fields."""
    if not rows:
        return pa.table({name: pa.array([], pa.string()) for name in names})
    block = b"\n".join(rows) + b"\n"
    try:
        table = pacsv.read_csv(
            pa.BufferReader(block),
            pacsv.ReadOptions(column_names=list(names), block_size=len(block) + 1),
            pacsv.ParseOptions(ignore_empty_lines=False),
            pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        # The caller finds out which row it is.
        return None
    return table if table.num_rows == len(rows) else None


def _rejected(message: Message, reason: str) -> Rejected:
    payload = bytes(message.payload)[:_SHOWN_BYTES].decode("utf-8", "backslashreplace")
    return Rejected(f"topic {message.topic}: {reason}", as_json({"topic": message.topic, "payload": payload}))
