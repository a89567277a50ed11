"""Which format a file has, by its name or by what is said about it, and the reader and writer for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from australis.algebra.schema import Schema
from australis.algebra.store import FileFormat
from australis.engine.files.blocks import TextSource
from australis.engine.files.delimited import CsvReader, ZeekReader, dialect_of
from australis.engine.files.jsonl_reader import JsonReader
from australis.engine.files.opening import PACKINGS, Idle, packing_by_name
from australis.engine.files.parquet_reader import ParquetReader
from australis.engine.files.reader import Reader
from australis.engine.files.rows import STANDARD_STREAM
from australis.engine.files.writers import CsvWriter, JsonWriter, ParquetWriter, Target, Writer
from australis.engine.files.zip_reader import ZipReader
from australis.errors import EngineError, Problem

FORMATS = ("csv", "tsv", "jsonl", "parquet")
"""The formats that can be written."""
_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
}
_LOG = ".log"
"""The logs of Zeek are named so, as many others are: another format can be said."""
_ZIP = ".zip"
_SAID = "format: in the network's input or --input-format"


def format_of(path: str, stream_format: str | None = None) -> str:
    """The format of an output by its name; `stream_format` is that of `-`.

    >>> format_of("reports.csv.gz"), format_of("-", "jsonl")
    ('csv', 'jsonl')
    """
    if path == STANDARD_STREAM:
        if stream_format is None or stream_format == "parquet":
            raise EngineError(
                Problem(path, "the format of a stream is not known by its name", "csv, tsv or jsonl")
            )
        return stream_format
    lowered = path.lower()
    bare = lowered.removesuffix(".gz")
    for extension, name in _EXTENSIONS.items():
        if bare.endswith(extension) and not (name == "parquet" and lowered.endswith(".gz")):
            return name
    if lowered.endswith((_ZIP, *(packing.suffix for packing in PACKINGS))):
        raise EngineError(Problem(path, "can be read, but not written", "a text format as it is or with .gz"))
    raise EngineError(
        Problem(
            path, "its name has no known extension", f"{', '.join(_EXTENSIONS)}; text formats also with .gz"
        )
    )


def input_format(path: str, given: FileFormat | None = None, stream_format: str | None = None) -> str:
    """The format of a file to read: csv, tsv, jsonl, parquet, zeek, or zip for an archive of such files.

    >>> input_format("conn.log.zst"), input_format("cars.txt", FileFormat("csv")), input_format("a.csv.zip")
    ('zeek', 'csv', 'zip')
    """
    if path.lower().endswith(_ZIP):
        return "zip"
    if path == STANDARD_STREAM and given is None:
        return format_of(path, stream_format)
    named = _named(path)
    if given is not None:
        return _agreed(path, named, given)
    if named is None:
        known = (
            f"{', '.join((*_EXTENSIONS, _LOG, _ZIP))}; text formats also with .gz, .bz2 or .zst; or {_SAID}"
        )
        raise EngineError(Problem(path, "its name has no known extension", known))
    return named


def _named(path: str) -> str | None:
    """The format that a name promises."""
    packing = packing_by_name(path)
    bare = path.lower().removesuffix(packing.suffix if packing else "")
    found = next((name for extension, name in _EXTENSIONS.items() if bare.endswith(extension)), None)
    if found == "parquet" and packing is not None:
        return None
    return "zeek" if found is None and bare.endswith(_LOG) else found


def _agreed(path: str, named: str | None, given: FileFormat) -> str:
    """The format that is said, which may not contradict the name; .tsv says more than csv."""
    if named == "tsv" and given.kind == "csv":
        return named
    if named not in (None, "zeek", given.kind):
        what = f"is {named} by its name, but the format of its input is {given}"
        raise EngineError(Problem(path, what, "a file of that format, or no format"))
    if given.kind == "parquet" and (path == STANDARD_STREAM or packing_by_name(path)):
        raise EngineError(Problem(path, "Parquet is only read from a file as it is", "another format"))
    return given.kind


@dataclass(frozen=True)
class Reading:
    """How to read a file: what its tuples are, and how they are written."""

    schema: Schema
    timezone: str = "UTC"
    """The zone of times that are written without one."""
    stream_format: str | None = None
    """The format of `-`."""
    format: FileFormat | None = None
    """What is said about the format besides the name."""


def open_reader(
    path: str,
    schema: Schema,
    *,
    timezone: str = "UTC",
    stream_format: str | None = None,
    growing: Idle | None = None,
    format: FileFormat | None = None,
) -> Reader:
    """A reader for tuples of a schema; times without a zone are local times of `timezone`.

    With `growing` the file has no end: the reader waits for what others append, and calls `growing`
    meanwhile. `format` says what the name of the file does not.
    """
    _check_readable(path)
    reading = Reading(schema, timezone, stream_format, format)
    name = input_format(path, format, stream_format)
    if growing is not None:
        _check_growing(path, name)
    if name == "zip":
        return ZipReader(path, partial(_open_member, reading))
    if name == "parquet":
        return ParquetReader(path, schema, timezone)
    return _text_reader(name, TextSource(path, growing=growing), reading)


def stream_reader(path: str, raw: BinaryIO, kind: str, schema: Schema, timezone: str) -> Reader:
    """A reader of bytes that are there already: csv, tsv or jsonl; `path` is their name in messages."""
    return _text_reader(kind, TextSource(path, raw=raw), Reading(schema, timezone))


def _open_member(reading: Reading, path: str, raw: BinaryIO) -> Reader:
    """A file of an archive."""
    name = input_format(path, reading.format)
    if name in ("parquet", "zip"):
        raise EngineError(Problem(path, "cannot be read within an archive", "a text file, or one by itself"))
    return _text_reader(name, TextSource(path, raw=raw), reading)


def _text_reader(name: str, source: TextSource, reading: Reading) -> Reader:
    schema, timezone = reading.schema, reading.timezone
    if name == "jsonl":
        return JsonReader(source, schema, timezone)
    if name == "zeek":
        return ZeekReader(source, schema, timezone, reading.format)
    dialect = dialect_of(reading.format, "\t" if name == "tsv" else ",")
    return CsvReader(source, schema, timezone, dialect, reading.format)


def _check_growing(path: str, name: str) -> None:
    if name in ("parquet", "zip") or packing_by_name(path):
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
