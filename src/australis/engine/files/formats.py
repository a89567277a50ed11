"""Which format a file has, by its name, and the reader and writer for it."""

from __future__ import annotations

from pathlib import Path

from australis.algebra.schema import Schema
from australis.engine.files.csv_reader import CsvReader
from australis.engine.files.growing import Idle
from australis.engine.files.jsonl_reader import JsonReader
from australis.engine.files.parquet_reader import ParquetReader
from australis.engine.files.reader import Reader
from australis.engine.files.rows import STANDARD_STREAM
from australis.engine.files.writers import CsvWriter, JsonWriter, ParquetWriter, Target, Writer
from australis.errors import EngineError, Problem

FORMATS = ("csv", "tsv", "jsonl", "parquet")
_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
}


def format_of(path: str, stream_format: str | None = None) -> str:
    """The format of a file by its name; `stream_format` is that of `-`.

    >>> format_of("reports.csv.gz"), format_of("-", "jsonl")
    ('csv', 'jsonl')
    """
    if path == STANDARD_STREAM:
        if stream_format is None or stream_format == "parquet":
            raise EngineError(
                Problem(path, "the format of a stream is not known by its name", "csv, tsv or jsonl")
            )
        return stream_format
    bare = path.lower().removesuffix(".gz")
    for extension, name in _EXTENSIONS.items():
        if bare.endswith(extension) and not (name == "parquet" and path.lower().endswith(".gz")):
            return name
    raise EngineError(
        Problem(
            path, "its name has no known extension", f"{', '.join(_EXTENSIONS)}; text formats also with .gz"
        )
    )


def open_reader(
    path: str,
    schema: Schema,
    *,
    timezone: str = "UTC",
    stream_format: str | None = None,
    growing: Idle | None = None,
) -> Reader:
    """A reader for tuples of a schema; times without a zone are local times of `timezone`.

    With `growing` the file has no end: the reader waits for what others append, and calls `growing`
    meanwhile.
    """
    _check_readable(path)
    name = format_of(path, stream_format)
    if growing is not None:
        _check_growing(path, name)
    if name == "parquet":
        return ParquetReader(path, schema, timezone)
    if name == "jsonl":
        return JsonReader(path, schema, timezone, growing)
    return CsvReader(path, schema, timezone, "\t" if name == "tsv" else ",", growing)


def _check_growing(path: str, name: str) -> None:
    if name == "parquet" or path.lower().endswith(".gz"):
        kind = "a Parquet" if name == "parquet" else "a packed"
        what = f"is {kind} file, which nobody appends to"
        raise EngineError(Problem(path, what, "a text file to follow, or a folder of files"))


def _check_readable(path: str) -> None:
    """Refuse folders and devices, whatever their names."""
    if path != STANDARD_STREAM and Path(path).is_dir():
        raise EngineError(Problem(path, "is a folder", "a file"))
    if path != STANDARD_STREAM and (Path(path).is_char_device() or Path(path).is_block_device()):
        raise EngineError(Problem(path, "is a device", f"a file, or {STANDARD_STREAM!r} for standard input"))


def open_writer(path: str, schema: Schema, *, stream_format: str | None = None) -> Writer:
    """A writer for tuples of a schema; the file gets its name only at `commit`."""
    name = format_of(path, stream_format)
    target = Target(path)
    try:
        return _writer(name, target, schema)
    except BaseException:
        target.discard()
        raise


def _writer(name: str, target: Target, schema: Schema) -> Writer:
    if name == "parquet":
        return ParquetWriter(target, schema)
    if name == "jsonl":
        return JsonWriter(target, schema)
    return CsvWriter(target, schema, "\t" if name == "tsv" else ",")
