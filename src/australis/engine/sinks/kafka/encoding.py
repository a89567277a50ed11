"""Tuples as messages: values, keys, headers and times, made of whole columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.files import json_rows, one_chunk, value_texts
from australis.engine.kafka import Address, avro_codec

JSON, AVRO, TEXT = "json", "avro", "text"


class Values(Protocol):
    """How the values of messages are written."""

    def texts(self, table: pa.Table) -> Sequence[bytes | None]: ...


@dataclass(frozen=True)
class _Json:
    schema: Schema

    def texts(self, table: pa.Table) -> Sequence[bytes | None]:
        # No text of JSON has a line end in it.
        return json_rows(table, self.schema).split(b"\n")[:-1]


@dataclass(frozen=True)
class _Text:
    name: str

    def texts(self, table: pa.Table) -> Sequence[bytes | None]:
        return _bytes(table[self.name])


def _bytes(column: pa.ChunkedArray | pa.Array) -> list[bytes | None]:
    found: list[bytes | None] = column.cast(pa.binary()).to_pylist()
    return found


@dataclass(frozen=True)
class Encoder:
    """Writes tuples of a schema as messages."""

    schema: Schema
    values: Values
    key: str | None
    headers: Mapping[str, str]
    """The attribute of each header."""
    timestamp: str | None

    def messages(self, table: pa.Table) -> list[dict[str, Any]]:
        """The messages of a table, in its order."""
        plain = table.select(self.schema.names)
        columns: dict[str, Sequence[Any]] = {"value": self.values.texts(plain)}
        if self.key is not None:
            columns["key"] = self._texts(plain, self.key)
        if self.timestamp is not None:
            moments = one_chunk(plain[self.timestamp]).cast(pa.timestamp("ms", tz="UTC"), safe=False)
            # Without a time, a message has that of its writing: 0 stands for it.
            columns["timestamp"] = [
                max(0, each) for each in moments.cast(pa.int64()).fill_null(0).to_pylist()
            ]
        if self.headers:
            texts = {name: self._texts(plain, attribute) for name, attribute in self.headers.items()}
            columns["headers"] = [
                [(name, value) for name, value in zip(texts, row, strict=True) if value is not None]
                for row in zip(*texts.values(), strict=True)
            ]
        names = list(columns)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _texts(self, table: pa.Table, name: str) -> list[bytes | None]:
        return _bytes(value_texts(one_chunk(table[name]), self.schema[name].type))


def encoder(address: Address, schema: Schema) -> Encoder:
    """How the options of an address say that tuples are written."""
    options = address.options
    key, timestamp = options.get("key"), options.get("timestamp")
    for name in (key, timestamp, *address.headers.values()):
        if name is not None and name not in schema:
            raise address.problem(f"there is no attribute {name!r}", f"one of {', '.join(schema.names)}")
    if timestamp is not None and schema[timestamp].type.name != "timestamp":
        raise address.problem(f"timestamp is {timestamp!r}, a {schema[timestamp].type}", "a timestamp")
    taken = {key, timestamp, *address.headers.values()}
    return Encoder(schema, _values(address, schema, taken), key, address.headers, timestamp)


def _values(address: Address, schema: Schema, taken: set[str | None]) -> Values:
    form = address.option("value", JSON, (JSON, AVRO, TEXT))
    if form == JSON:
        return _Json(schema)
    if form == AVRO:
        return avro_codec(address, schema)
    rest = [field for field in schema if field.name not in taken]
    if len(rest) != 1 or rest[0].type.name != "string":
        what = (
            f"value=text writes one attribute, a string, and left are {', '.join(map(str, rest)) or 'none'}"
        )
        raise address.problem(what, "key=, timestamp= or header.NAME= for the others, or value=json")
    return _Text(rest[0].name)
