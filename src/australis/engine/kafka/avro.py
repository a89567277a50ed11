"""Tuples as Avro records, and records as tuples; the schema is that of the attributes, or from a file."""

from __future__ import annotations

import importlib
import io
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from australis.algebra.schema import Field, Schema
from australis.algebra.types import DataType
from australis.engine.kafka.address import Address
from australis.errors import EngineError, Problem

_MAGIC, _FRAME = 0, struct.Struct(">bI")
"""What a registry's serialisers write before a record: a zero, and the number of its schema."""
_TYPES: dict[str, Any] = {
    "int": "int",
    "long": "long",
    "double": "double",
    "string": "string",
    "boolean": "boolean",
    "timestamp": {"type": "long", "logicalType": "timestamp-micros"},
}


def record_of(schema: Schema, name: str = "tuple") -> dict[str, Any]:
    """The Avro schema of tuples.

    >>> from australis.algebra.schema import parse_schema
    >>> record_of(parse_schema("n int not null"))["fields"]
    [{'name': 'n', 'type': 'int'}]
    """
    return {"type": "record", "name": name, "fields": [_field(each) for each in schema]}


def _field(field: Field) -> dict[str, Any]:
    found = _type(field.type)
    # One that may be left out is written as other nodes write it, who always have it.
    return {"name": field.name, "type": ["null", found] if field.nullable and not field.optional else found}


def _type(given: DataType) -> Any:
    if given.is_decimal:
        return {
            "type": "bytes",
            "logicalType": "decimal",
            "precision": given.precision,
            "scale": given.scale,
        }
    return _TYPES[given.name]


def _load() -> Any:
    try:
        return importlib.import_module("fastavro")
    except ImportError:
        what = "fastavro is not installed, which reads and writes Avro"
        raise EngineError(Problem("avro", what, "pip install 'australis[kafka]'")) from None


@dataclass(frozen=True)
class AvroCodec:
    """Reads and writes records; with `framed`, each begins with the number of its schema."""

    schemas: Mapping[int, Any]
    """The parsed schemas by their numbers; one that has none is 0."""
    framed: bool

    def records(self, values: Sequence[bytes | None]) -> tuple[list[dict[str, Any] | None], dict[int, str]]:
        """The record of each value, and which are none, each with the reason."""
        read = _load().schemaless_reader
        found: list[dict[str, Any] | None] = []
        faults: dict[int, str] = {}
        for place, value in enumerate(values):
            try:
                found.append(None if value is None else self._record(value, read))
            except Exception as error:
                faults[place] = f"is no Avro record: {_said(error)}"
                found.append(None)
        return found, faults

    def _record(self, value: bytes, read: Callable[..., Any]) -> dict[str, Any]:
        number, body = 0, value
        if self.framed:
            if len(value) < _FRAME.size:
                raise ValueError("it is shorter than the number of a schema")
            magic, number = _FRAME.unpack_from(value)
            if magic != _MAGIC or number not in self.schemas:
                raise ValueError(f"it begins with {magic}, schema {number}, which is none that is known")
            body = value[_FRAME.size :]
        stream = io.BytesIO(body)
        record = read(stream, self.schemas[number], None)
        if stream.tell() != len(body):
            raise ValueError(f"{len(body) - stream.tell()} bytes are left over")
        if not isinstance(record, dict):
            raise ValueError("its schema is not a record's")
        return record

    def texts(self, table: pa.Table) -> list[bytes]:
        """The tuples of a table as records, in the schema with the highest number."""
        write, number = _load().schemaless_writer, max(self.schemas)
        schema, frame = self.schemas[number], _FRAME.pack(_MAGIC, number) if self.framed else b""
        found = []
        for row in table.to_pylist():
            stream = io.BytesIO()
            stream.write(frame)
            write(stream, schema, row)
            found.append(stream.getvalue())
        return found


def _said(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def avro_codec(address: Address, schema: Schema) -> AvroCodec:
    """The codec that the options of an address ask for.

    `schema=FILE.avsc` is a schema, `schemas=FILE.json` maps the numbers of a registry to schemas; without
    either it is that of the attributes.
    """
    options = address.options
    if "schema" in options and "schemas" in options:
        raise address.problem("both schema and schemas are given", "one of the two")
    if "schemas" in options:
        path = options["schemas"]
        known = _read(path)
        if not isinstance(known, dict) or not all(str(each).isdecimal() for each in known) or not known:
            raise EngineError(Problem(path, "is no file of schemas", '{"1": {...}, "2": {...}}'))
        return AvroCodec({int(number): _parsed(path, each) for number, each in known.items()}, True)
    path = options.get("schema", "")
    given = _read(path) if path else record_of(schema, address.topic.replace(".", "_").replace("-", "_"))
    return AvroCodec({0: _parsed(path or address.name, given)}, False)


def _read(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise EngineError(Problem(path, f"cannot be read: {error}", "a file of Avro schemas")) from None


def _parsed(path: str, given: Any) -> Any:
    try:
        # A registry keeps schemas as texts.
        given = json.loads(given) if isinstance(given, str) and given.lstrip().startswith("{") else given
        return _load().parse_schema(given)
    except EngineError:
        raise
    except Exception as error:
        raise EngineError(Problem(path, f"is no Avro schema: {_said(error)}", "one of a record")) from error
