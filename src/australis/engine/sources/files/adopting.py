"""Which Parquet files can become segments as they are."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from australis.algebra.schema import Field, Schema
from australis.algebra.store import FileFormat
from australis.engine.files import first_unsound, open_reader

_CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD")
"""The compressions that pyarrow and Spark both read."""


def adoptable_rows(path: str, schema: Schema, format: FileFormat | None = None) -> int | None:
    """The number of rows of a Parquet file whose columns need no conversion; None if any does.

    A file without the schema's attributes is refused, as by its reader. One that leaves out an attribute, as
    it may, is read: a segment has every attribute.
    """
    with open_reader(path, schema, format=format):
        metadata = pq.read_metadata(path)
    found = metadata.schema.to_arrow_schema()
    is_same = all(each.name in found.names and _is_same(found.field(each.name), each) for each in schema)
    if not (is_same and _is_readable(metadata) and _has_no_nulls(metadata, schema)):
        return None
    with pq.ParquetFile(path) as file:
        return int(metadata.num_rows) if first_unsound(file, schema) is None else None


def _is_same(given: pa.Field, wanted: Field) -> bool:
    return bool(given.type == wanted.type.arrow)


def _is_readable(metadata: pq.FileMetaData) -> bool:
    groups = (metadata.row_group(index) for index in range(metadata.num_row_groups))
    return all(
        group.column(index).compression in _CODECS for group in groups for index in range(group.num_columns)
    )


def _has_no_nulls(metadata: pq.FileMetaData, schema: Schema) -> bool:
    """Whether the file's metadata shows that there is no NULL where none is allowed."""
    names = [metadata.schema.column(index).name for index in range(metadata.num_columns)]
    needed = [names.index(field.name) for field in schema if field.optional or not field.nullable]
    return all(
        _null_count(metadata.row_group(group).column(index)) == 0
        for group in range(metadata.num_row_groups)
        for index in needed
    )


def _null_count(column: pq.ColumnChunkMetaData) -> int | None:
    statistics = column.statistics
    return statistics.null_count if statistics is not None and statistics.has_null_count else None
