"""What can be pushed, and the bytes that go over the wire for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from australis.client.wire import ARROW, JSON
from australis.errors import ErrorCode, Problem, ServiceError

BATCH_BYTES = 4 << 20
"""About how many bytes of Arrow are one batch over Flight."""
BODY_BYTES = 8 << 20
"""About how many bytes of Arrow go into one request."""
_EXPECTED = "a dictionary, a list of them, an Arrow table or batch, or a DataFrame of pandas or Polars"


@dataclass(frozen=True)
class Body:
    """Tuples as they are sent."""

    content: bytes
    media_type: str


@dataclass(frozen=True)
class Receipt:
    """What a node has made of tuples; they are durable."""

    accepted: int
    rejected: tuple[Mapping[str, Any], ...] = ()
    """The first that are no tuples of the input, with the reason; they are in the quarantine."""
    rejected_count: int = 0
    end: int | None = None
    """The end of the log after them."""
    repeated: bool = False
    """Whether they had been pushed before, and so changed nothing."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Receipt:
        """A receipt as the service describes it."""
        return cls(
            int(told["accepted"]),
            tuple(told.get("rejected") or ()),
            int(told.get("rejected_count") or 0),
            told.get("end"),
            bool(told.get("repeated", False)),
        )

    def __add__(self, other: Receipt) -> Receipt:
        ends = [end for end in (self.end, other.end) if end is not None]
        return Receipt(
            self.accepted + other.accepted,
            (*self.rejected, *other.rejected)[:100],
            self.rejected_count + other.rejected_count,
            max(ends, default=None),
            self.repeated and other.repeated,
        )


def as_table(pushed: object) -> pa.Table | None:
    """What was given as an Arrow table; None if it is dictionaries, whose types the node knows."""
    if isinstance(pushed, Mapping):
        return None
    if isinstance(pushed, pa.Table):
        return pushed
    if isinstance(pushed, pa.RecordBatch):
        return pa.Table.from_batches([pushed])
    if hasattr(pushed, "toArrow"):
        return pushed.toArrow()
    if type(pushed).__module__.partition(".")[0] == "pandas":
        return pa.Table.from_pandas(pushed, preserve_index=False)
    if hasattr(pushed, "__arrow_c_stream__"):
        return pa.table(pushed)
    if isinstance(pushed, Sequence) and not isinstance(pushed, str | bytes):
        return None
    problem = Problem("tuples", f"a {type(pushed).__name__} is no batch of tuples", _EXPECTED)
    raise ServiceError(ErrorCode.INVALID_TUPLES, problem)


def bodies(pushed: object, about: int = 0) -> Iterator[Body]:
    """The requests that carry what was given, in order, each of about so many bytes."""
    table = as_table(pushed)
    if table is None:
        yield Body(_as_json(pushed), JSON)
        return
    for part in slices(table, about or BODY_BYTES):
        yield Body(_as_arrow(part), ARROW)


def batches(table: pa.Table) -> list[pa.Table]:
    """A table in the batches that go over Flight, each of which is acknowledged."""
    return list(slices(table, BATCH_BYTES))


def slices(table: pa.Table, about: int) -> Iterator[pa.Table]:
    """A table in parts of about so many bytes; an empty table is one part.

    >>> [part.num_rows for part in slices(pa.table({"x": range(1000)}), 4000)]
    [500, 500]
    """
    parts = max(1, -(-table.nbytes // about))
    rows = max(1, -(-table.num_rows // parts))
    for begin in range(0, max(table.num_rows, 1), rows):
        yield table.slice(begin, rows)


def _as_json(pushed: object) -> bytes:
    try:
        # Times and decimals are texts in JSON, and the node makes them what they are.
        return json.dumps(pushed, default=str).encode()
    except (TypeError, ValueError) as error:
        problem = Problem("tuples", f"cannot be sent: {error}", _EXPECTED)
        raise ServiceError(ErrorCode.INVALID_TUPLES, problem) from None


def _as_arrow(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content
