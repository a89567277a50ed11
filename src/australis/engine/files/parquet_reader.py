"""Parquet: types are checked once, when the file is opened; rows for NULLs and bytes that are not text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from australis.algebra.schema import Schema
from australis.algebra.types import DataType
from australis.engine.files.reader import Reader, check_columns, there
from australis.engine.files.rows import Batch, Mark, Rejected, null_faults, place_of, without
from australis.engine.files.soundness import row_text, unsound_rows
from australis.errors import EngineError, Problem

BATCH_ROWS = 65_536
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}
_BITS = {"int": 32, "long": 64, "double": 53}


class ParquetReader(Reader):
    """A Parquet file whose columns hold the schema's attributes without loss."""

    def __init__(self, path: str, schema: Schema, timezone: str) -> None:
        self._path, self._schema, self._timezone = path, schema, timezone
        self._file = _open(path)
        self._rows_read = 0
        self._mark = Mark()
        try:
            found = self._file.schema_arrow
            wanted = there(schema, {name: name for name in schema.names}, found.names)
            self._names = list(wanted)
            self.notes = check_columns(path, wanted, found.names, "the Parquet file")
            self._check_types(found)
        except BaseException:
            self.close()
            raise

    def batches(self) -> Iterator[Batch]:
        try:
            for record_batch in self._record_batches():
                self._mark = Mark(self._rows_read, self._rows_read + 1)
                yield self._batch(record_batch)
                self._rows_read += record_batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise EngineError(Problem(self._path, f"is a damaged Parquet file: {error}")) from None

    def _record_batches(self) -> Iterator[pa.RecordBatch]:
        """The batches from the mark on; row groups are cut separately, so they do not depend on the mark."""
        row, first = 0, self._mark.offset
        for group in range(self._file.metadata.num_row_groups):
            rows = self._file.metadata.row_group(group).num_rows
            if row + rows > first:
                for batch in self._file.iter_batches(BATCH_ROWS, [group], self._names):
                    if row >= first:
                        yield batch
                    row += batch.num_rows
            else:
                row += rows

    @property
    def mark(self) -> Mark:
        return self._mark

    def resume(self, mark: Mark) -> None:
        self._mark, self._rows_read = mark, mark.offset

    def position(self) -> int:
        return self._rows_read

    @property
    def size(self) -> int | None:
        return int(self._file.metadata.num_rows)

    def close(self) -> None:
        self._file.close()

    def _check_types(self, found: pa.Schema) -> None:
        for field in (self._schema[name] for name in self._names):
            given = found.field(field.name).type
            if not fits(given, field.type):
                raise EngineError(
                    Problem(
                        self._path,
                        f"column {field.name!r} is {given}",
                        f"what a {field.type} can hold without loss",
                    )
                )

    def _batch(self, batch: pa.RecordBatch) -> Batch:
        columns = {f.name: pa.nulls(batch.num_rows, f.type.arrow) for f in self._schema}
        columns |= {
            name: column_of(batch.column(name), self._schema[name].type, self._timezone)
            for name in self._names
        }
        table = pa.table(list(columns.values()), self._schema.arrow)
        faults = {**null_faults(self._schema, columns), **unsound_rows(columns)}
        rejected = (self._rejected(columns, row, reason) for row, reason in sorted(faults.items()))
        return Batch(without(table, faults), tuple(rejected))

    def _rejected(self, columns: Mapping[str, pa.Array], row: int, reason: str) -> Rejected:
        place = place_of(self._path, "row", self._rows_read + row + 1)
        return Rejected(f"{place}: {reason}", row_text(columns, row, self._schema))


def column_of(column: pa.Array, wanted: DataType, timezone: str) -> pa.Array:
    """A column of a fitting Arrow type, as one of ours; times without a zone are local times."""
    if pa.types.is_timestamp(column.type):
        micros = column.cast(pa.timestamp("us", column.type.tz), safe=column.type.unit != "ns")
        if column.type.tz is None:
            micros = pc.assume_timezone(micros, timezone, ambiguous="earliest", nonexistent="latest")
        return micros.cast(wanted.arrow)
    if pa.types.is_integer(column.type) and wanted.is_decimal:
        column = column.cast(pa.decimal128(38, 0))
    return column.cast(wanted.arrow)


def fits(given: pa.DataType, wanted: DataType) -> bool:
    """Whether every value of an Arrow type is a value of ours.

    >>> from australis.algebra.types import INT, LONG
    >>> fits(pa.int32(), LONG), fits(pa.int64(), INT)
    (True, False)
    """
    if pa.types.is_dictionary(given):
        return fits(given.value_type, wanted)
    if pa.types.is_null(given) or given == wanted.arrow:
        return True
    if wanted.name == "string":
        return bool(pa.types.is_large_string(given) or pa.types.is_string_view(given))
    if wanted.name == "timestamp":
        return bool(pa.types.is_timestamp(given))
    return _number_fits(given, wanted)


def _number_fits(given: pa.DataType, wanted: DataType) -> bool:
    whole_digits = wanted.precision - wanted.scale
    if pa.types.is_integer(given):
        bits = int(given.bit_width) + int(pa.types.is_unsigned_integer(given))
        return (
            _DIGITS[given.bit_width] <= whole_digits
            if wanted.is_decimal
            else bits <= _BITS.get(wanted.name, 0)
        )
    if pa.types.is_decimal(given) and wanted.is_decimal:
        return int(given.scale) <= wanted.scale and int(given.precision - given.scale) <= whole_digits
    return bool(pa.types.is_floating(given)) and wanted.name == "double"


def _open(path: str) -> pq.ParquetFile:
    if not Path(path).exists():
        raise EngineError(Problem(path, "there is no such file"))
    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise EngineError(
            Problem(path, f"is no Parquet file: {error}", "one that was written to its end")
        ) from None
    except OSError as error:
        raise EngineError(Problem(path, f"cannot be read: {error.strerror or error}")) from None
