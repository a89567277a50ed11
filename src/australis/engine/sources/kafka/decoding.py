"""Messages as tuples: what their values, keys, headers and places say, in whole columns."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from australis.algebra.schema import Field, Schema
from australis.engine.files import (
    Batch,
    JsonObjects,
    Rejected,
    as_json,
    convert,
    null_faults,
    unsound_rows,
    without,
)
from australis.engine.kafka import Address, avro_codec

JSON, AVRO, TEXT, BASE64 = "json", "avro", "text", "base64"
VALUES = (JSON, AVRO, TEXT, BASE64)
_PLACES = {"partition": ("int", "long"), "offset": ("long",), "timestamp": ("timestamp",)}
_SHOWN_BYTES = 4096
Columns = dict[str, pa.Array]
Faults = dict[int, str]


class Message(Protocol):
    """A message as the client library has it."""

    def value(self) -> bytes | None: ...
    def key(self) -> bytes | None: ...
    def headers(self) -> Sequence[tuple[str, bytes | None]] | None: ...
    def partition(self) -> int | None: ...
    def offset(self) -> int | None: ...
    def timestamp(self) -> tuple[int, int]: ...


class Values(Protocol):
    """How values are read: columns of the attributes that they have, NULL for faults and for no value."""

    def columns(self, values: Sequence[bytes | None]) -> tuple[Columns, Faults]: ...


@dataclass(frozen=True)
class _Json:
    objects: JsonObjects

    def columns(self, values: Sequence[bytes | None]) -> tuple[Columns, Faults]:
        return self.objects.columns(values)


@dataclass(frozen=True)
class _Avro:
    schema: Schema
    codec: Any

    def columns(self, values: Sequence[bytes | None]) -> tuple[Columns, Faults]:
        records, faults = self.codec.records(values)
        found = {each.name: self._column(each, records, faults) for each in self.schema}
        return found, faults

    def _column(self, field: Field, records: Sequence[Mapping[str, Any] | None], faults: Faults) -> pa.Array:
        values = [None if record is None else record.get(field.name) for record in records]
        try:
            return pa.array(values, field.type.arrow)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            # Some value does not fit: they are looked at one by one.
            return pa.array(
                [self._fitting(field, *each, faults) for each in enumerate(values)], field.type.arrow
            )

    def _fitting(self, field: Field, place: int, value: object, faults: Faults) -> object:
        try:
            pa.array([value], field.type.arrow)
            return value
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            # It is rejected with this reason.
            faults.setdefault(place, f"{value!r} in attribute {field.name} is no {field.type}")
            return None


@dataclass(frozen=True)
class _Bytes:
    name: str
    as_base64: bool

    def columns(self, values: Sequence[bytes | None]) -> tuple[Columns, Faults]:
        if self.as_base64:
            texts = [None if each is None else base64.b64encode(each) for each in values]
            return {self.name: pa.array(texts, pa.binary()).cast(pa.string())}, {}
        return _texts(self.name, values)


def _texts(name: str, values: Sequence[bytes | None]) -> tuple[Columns, Faults]:
    """Bytes as texts, if they are UTF-8."""
    texts = pa.array(values, pa.binary()).view(pa.string())
    faults = unsound_rows({name: texts})
    if faults:
        sound = [None if place in faults else each for place, each in enumerate(values)]
        texts = pa.array(sound, pa.binary()).view(pa.string())
    return {name: texts}, faults


@dataclass(frozen=True)
class Decoder:
    """Reads messages as tuples of a schema."""

    address: Address
    schema: Schema
    timezone: str
    values: Values | None
    key: str | None
    headers: Mapping[str, str]
    """The attribute of each header."""
    places: Mapping[str, str]
    """The attribute of the partition, the offset and the time, if they are asked for."""
    skips_tombstones: bool

    def batch(self, messages: Sequence[Message]) -> Batch:
        """The tuples of messages, and those that are none."""
        if self.skips_tombstones:
            messages = [each for each in messages if each.value() is not None]
        values = [each.value() for each in messages]
        columns, faults = self.values.columns(values) if self.values else ({}, {})
        if self.key is not None:
            self._text_column(self.key, [each.key() for each in messages], "key", columns, faults)
        for header, name in self.headers.items():
            found = [_header(each, header) for each in messages]
            self._text_column(name, found, f"header {header}", columns, faults)
        for place, name in self.places.items():
            columns[name] = _place_column(place, messages).cast(self.schema[name].type.arrow)
        for row, reason in null_faults(self.schema, columns).items():
            faults.setdefault(row, reason)
        table = pa.table([columns[name] for name in self.schema.names], self.schema.arrow)
        rejected = tuple(self._rejected(messages[row], reason) for row, reason in sorted(faults.items()))
        return Batch(without(table, faults), rejected)

    def _text_column(
        self, name: str, given: Sequence[bytes | None], what: str, columns: Columns, faults: Faults
    ) -> None:
        """A key or a header as a column: its text, in the type of the attribute."""
        texts, unsound = _texts(name, given)
        for row in unsound:
            faults.setdefault(row, f"its {what} is not UTF-8")
        found = convert(texts[name], self.schema[name].type, self.timezone)
        for row in found.bad_rows:
            text = texts[name][row].as_py()
            faults.setdefault(row, f"its {what}, {text!r}, is no {self.schema[name].type}")
        columns[name] = found.column

    def _rejected(self, message: Message, reason: str) -> Rejected:
        place = f"{self.address.name}, partition {message.partition()}, offset {message.offset()}"
        return Rejected(
            f"{place}: {reason}", as_json({"key": _shown(message.key()), "value": _shown(message.value())})
        )


def _shown(value: bytes | None) -> str | None:
    return None if value is None else value[:_SHOWN_BYTES].decode("utf-8", "backslashreplace")


def _header(message: Message, name: str) -> bytes | None:
    """The last header of a name, as Kafka's own client gives it."""
    found = [value for header, value in message.headers() or () if header == name]
    return found[-1] if found else None


def _place_column(place: str, messages: Sequence[Message]) -> pa.Array:
    if place == "partition":
        return pa.array([each.partition() for each in messages], pa.int64())
    if place == "offset":
        return pa.array([each.offset() for each in messages], pa.int64())
    moments = [each.timestamp() for each in messages]
    found = [moment if kind else None for kind, moment in moments]
    return pa.array(found, pa.timestamp("ms", tz="UTC"))


def decoder(address: Address, schema: Schema, timezone: str) -> Decoder:
    """How the options of an address say that messages are read."""
    key, headers = address.options.get("key"), address.headers
    places = {name: address.options[name] for name in _PLACES if name in address.options}
    taken = [*([key] if key else []), *headers.values(), *places.values()]
    for name in taken:
        if name not in schema:
            raise address.problem(f"there is no attribute {name!r}", f"one of {', '.join(schema.names)}")
        if taken.count(name) > 1:
            raise address.problem(f"the attribute {name!r} is filled twice", "another attribute")
    for place, name in places.items():
        if schema[name].type.name not in _PLACES[place]:
            what = f"the attribute {name!r} of the {place} is a {schema[name].type}"
            raise address.problem(what, " or ".join(_PLACES[place]))
    form = address.option("value", JSON, VALUES)
    if form in (TEXT, BASE64) or all(field.optional for field in schema if field.name not in taken):
        schema = schema.but_optional(*taken)
    rest = tuple(field for field in schema if field.name not in taken)
    values = _values(address, form, Schema(rest), timezone) if rest else None
    skips = address.option("tombstones", "tuples", ("tuples", "skip")) == "skip"
    return Decoder(address, schema, timezone, values, key, headers, places, skips)


def _values(address: Address, form: str, schema: Schema, timezone: str) -> Values:
    """How the values are read, of which the other attributes are made."""
    if form == JSON:
        return _Json(JsonObjects(schema, timezone))
    if form == AVRO:
        return _Avro(schema, avro_codec(address, schema))
    if len(schema) != 1 or schema.fields[0].type.name != "string":
        what = f"value={form} fills one attribute, a string, and left are ({schema})"
        raise address.problem(what, "key=, timestamp= or header.NAME= for the others, or value=json")
    return _Bytes(schema.fields[0].name, form == BASE64)
