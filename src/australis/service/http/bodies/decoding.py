"""Bodies with tuples: JSON, JSON lines, CSV or Arrow become a table, without rows that do not fit."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.files import Rejected, stream_reader
from australis.errors import EngineError, ErrorCode, Problem, ServiceError
from australis.service.host import EXPANDS_MOST, check_size, too_large
from australis.service.http.bodies.compression import decompressed_bytes
from australis.service.http.bodies.json_lines import as_lines

JSON, NDJSON, CSV = "application/json", "application/x-ndjson", "text/csv"
ARROW = "application/vnd.apache.arrow.stream"
MEDIA_TYPES = (JSON, NDJSON, CSV, ARROW)
NAME = "body"
"""What the body is called in the reasons of the quarantine."""
_PLACE = re.compile(rf"{NAME}, (?:line|row) (\d+): ")


class Decoded(NamedTuple):
    """The tuples of a body, and the rows that are none."""

    table: pa.Table
    rejected: Sequence[Rejected]


def decode(body: bytes, media_type: str, schema: Schema, timezone: str, bytes_most: int) -> Decoded:
    """The tuples of a body in the types of an input; `bytes_most` is the largest body."""
    kind = media_type.partition(";")[0].strip().lower()
    try:
        if kind == ARROW:
            return Decoded(_arrow(body, bytes_most), ())
        if kind == JSON:
            return _lines(_as_lines(body), "jsonl", schema, timezone)
        if kind in (NDJSON, CSV):
            return _lines(body, "jsonl" if kind == NDJSON else "csv", schema, timezone)
    except EngineError as error:
        raise ServiceError(ErrorCode.INVALID_TUPLES, error.problem) from None
    what = f"is {media_type!r}" if media_type else "is not given"
    hint = f"one of {', '.join(MEDIA_TYPES)}"
    raise ServiceError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, Problem("content-type", what, hint))


def _lines(body: bytes, kind: str, schema: Schema, timezone: str) -> Decoded:
    if not body.strip():
        return Decoded(schema.arrow.empty_table(), ())
    with stream_reader(NAME, io.BytesIO(body), kind, schema, timezone) as reader:
        batches = list(reader.batches())
    table = pa.concat_tables([schema.arrow.empty_table(), *(each.table for each in batches)])
    return Decoded(table, [row for each in batches for row in each.rejected])


def _as_lines(body: bytes) -> bytes:
    """A JSON array of objects, or one object, as JSON lines."""
    try:
        return as_lines(body)
    except ValueError as error:
        raise _invalid(f"is no JSON: {error}") from None


def _arrow(body: bytes, bytes_most: int) -> pa.Table:
    """The batches of an Arrow stream, which are looked through: they come from elsewhere."""
    try:
        size = decompressed_bytes(body)
        if size > EXPANDS_MOST * bytes_most:
            raise too_large(NAME, f"has {size:,} bytes once it is decompressed", bytes_most)
        with pa.ipc.open_stream(body) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _invalid(f"is no Arrow stream: {error}") from None
    check_size(NAME, table, bytes_most)
    return table


def _invalid(what: str) -> ServiceError:
    return ServiceError(
        ErrorCode.INVALID_TUPLES, Problem(NAME, what, "a body of the media type that is given")
    )


def places(rejected: Sequence[Rejected]) -> list[dict[str, Any]]:
    """The rows of a body that are no tuples, each with its line, if it has one, and the reason.

    >>> places([Rejected("body, line 2: is no JSON: ...", "{")])
    [{'line': 2, 'reason': 'is no JSON: ...'}]
    """
    found = []
    for row in rejected:
        place = _PLACE.match(row.reason)
        line = int(place[1]) if place else None
        found.append({"line": line, "reason": row.reason[place.end() :] if place else row.reason})
    return found
