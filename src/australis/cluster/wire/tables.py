"""Tables on the wire: Arrow streams, read without trust in what they say."""

from __future__ import annotations

import pyarrow as pa

from australis.errors import ClusterError, Problem


def packed(table: pa.Table) -> pa.Buffer:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def unpacked(body: memoryview, schema: pa.Schema, rows: int) -> pa.Table:
    """The table in an Arrow stream, which must have this schema and so many rows, and be sound."""
    try:
        table = pa.ipc.open_stream(pa.py_buffer(body)).read_all()
        if not table.schema.equals(schema):
            raise _refused("tuples of another schema than it agreed to")
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise _refused(f"tuples that are damaged: {error}") from error
    if table.num_rows != rows:
        raise _refused(f"{table.num_rows:,} tuples and said {rows:,}")
    return table


def _refused(what: str) -> ClusterError:
    return ClusterError(Problem("", f"the other node sent {what}"))
