"""Tables as bodies of answers: JSON, JSON lines, CSV or Arrow, a part at a time."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Any

import pyarrow as pa
from fastapi.responses import StreamingResponse

from australis.engine.files import csv_header, csv_rows, json_rows
from australis.service.fanout import columns_of


class Form(StrEnum):
    """How an answer has its tuples."""

    JSON = "json"
    """An array of objects."""
    NDJSON = "ndjson"
    """An object a line."""
    CSV = "csv"
    """With a header; NULL is an empty field."""
    ARROW = "arrow"
    """The streaming format of Arrow IPC."""


MEDIA_TYPES = {
    Form.JSON: "application/json",
    Form.NDJSON: "application/x-ndjson",
    Form.CSV: "text/csv",
    Form.ARROW: "application/vnd.apache.arrow.stream",
}

TUPLES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Tuples, with `#ts` and `#seq`",
        "content": {
            MEDIA_TYPES[Form.JSON]: {"schema": {"type": "array", "items": {"type": "object"}}},
            MEDIA_TYPES[Form.NDJSON]: {"schema": {"type": "string"}},
            MEDIA_TYPES[Form.CSV]: {"schema": {"type": "string"}},
            MEDIA_TYPES[Form.ARROW]: {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
"""The answer of a route that streams tuples."""


def streamed(
    tables: Iterable[pa.Table], schema: pa.Schema, form: Form, headers: dict[str, str] | None = None
) -> StreamingResponse:
    """An answer with the rows of tables, each written when it is there; `schema` is for none at all."""
    return StreamingResponse(encoded(tables, schema, form), media_type=MEDIA_TYPES[form], headers=headers)


def encoded(tables: Iterable[pa.Table], schema: pa.Schema, form: Form) -> Iterator[bytes]:
    """The rows of tables as bytes, table by table.

    >>> rows = pa.table({"a": [1, 2], "b": ["x", None]})
    >>> b"".join(encoded([rows, rows.slice(0, 1)], rows.schema, Form.JSON))
    b'[{"a":1,"b":"x"},\\n{"a":2,"b":null},\\n{"a":1,"b":"x"}]'
    """
    return _ENCODERS[form](tables, schema)


def _json(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[bytes]:
    before = b"["
    for lines in _ndjson(tables, schema):
        # A line break in a text is escaped, so each one here ends a row.
        yield before + lines[:-1].replace(b"\n", b",\n")
        before = b",\n"
    yield b"]" if before != b"[" else b"[]"


def _ndjson(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[bytes]:
    columns = columns_of(schema)
    yield from (json_rows(table, columns) for table in tables if table.num_rows)


def _csv(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[bytes]:
    columns = columns_of(schema)
    yield csv_header(columns, ",")
    yield from (csv_rows(table, columns, ",") for table in tables if table.num_rows)


def _arrow(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[bytes]:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        for table in tables:
            writer.write_table(table)
            yield _taken(sink)
    yield _taken(sink)


def _taken(sink: io.BytesIO) -> bytes:
    found = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return found


_ENCODERS: dict[Form, Callable[[Iterable[pa.Table], pa.Schema], Iterator[bytes]]] = {
    Form.JSON: _json,
    Form.NDJSON: _ndjson,
    Form.CSV: _csv,
    Form.ARROW: _arrow,
}
