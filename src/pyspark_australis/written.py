"""Tuples on their way between Spark and a node: their Arrow types on both sides."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from australis.algebra.schema import Schema
from australis.client import Client
from pyspark_australis.options import refused

SEQ = "#seq"


def arrow_of(schema: Schema) -> pa.Schema:
    """The columns of what is read: the attributes, `#ts` and `#seq`."""
    return schema.arrow_with_ts.append(pa.field(SEQ, pa.int64(), False))


def batches_of(table: pa.Table, schema: StructType) -> Iterator[pa.RecordBatch]:
    """A table as Spark takes it: only the columns of its schema, with Spark's Arrow types."""
    wanted = to_arrow_schema(schema, timezone="UTC")
    missing = [name for name in wanted.names if name not in table.column_names]
    if missing:
        raise refused("schema", f"the node does not send {', '.join(missing)} any more", "a new query")
    yield from table.select(wanted.names).cast(wanted).to_batches()


def tables_of(
    client: Client, output: str, begin: int, end: int | None, *, fail_on_loss: bool
) -> Iterator[pa.Table]:
    """The tuples of an output from one number up to another, also if the node restarts meanwhile."""
    with client.subscribe(output, begin=begin, end=end, follow=False) as tables:
        for table in tables:
            _check_loss(output, tables.missed, fail_on_loss)
            yield table
        _check_loss(output, tables.missed, fail_on_loss)


def _check_loss(output: str, missed: tuple[object, ...], fail_on_loss: bool) -> None:
    if missed and fail_on_loss:
        what = f"does not have all tuples any more: {', '.join(map(str, missed))}"
        expected = "option('consumer', NAME), for which the node keeps them, or option('failOnLoss', 'false')"
        raise refused(output, what, expected)
