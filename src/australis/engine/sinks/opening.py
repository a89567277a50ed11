"""Which sink a file name stands for."""

from __future__ import annotations

from pathlib import Path

from australis.algebra.schema import Schema
from australis.engine.files import STANDARD_STREAM, format_of
from australis.engine.sinks.consuming import Sink
from australis.engine.sinks.parts import DEFAULT_LIMITS, ParquetSink, PartLimits
from australis.engine.sinks.streams import StreamSink
from australis.engine.sinks.text_file import TextFileSink


def parse_sink(
    output: str,
    path: str,
    schema: Schema,
    *,
    stream_format: str = "jsonl",
    replace: bool = False,
    limits: PartLimits = DEFAULT_LIMITS,
) -> Sink:
    """The sink for an output by the name of a file; `-` is standard output, `limits` are for Parquet.

    >>> from australis.algebra.schema import parse_schema
    >>> type(parse_sink("alarms", "alarms.csv.gz", parse_schema("n int"))).__name__
    'TextFileSink'
    """
    if path == STANDARD_STREAM:
        return StreamSink(output, schema, path, stream_format)
    name = format_of(path)
    if name == "parquet":
        return ParquetSink(output, path, schema, replace, limits)
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        return StreamSink(output, schema, path, name)
    return TextFileSink(output, path, schema, replace)
