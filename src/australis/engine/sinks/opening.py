"""Which sink a text stands for; new types of sinks are registered here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from australis.algebra.schema import Schema
from australis.engine.addresses import scheme_of
from australis.engine.files import STANDARD_STREAM, format_of
from australis.engine.sinks.consuming import Sink
from australis.engine.sinks.doors import DEFAULT_DOOR, DoorOptions
from australis.engine.sinks.kafka import parse_kafka_sink
from australis.engine.sinks.parts import DEFAULT_LIMITS, ParquetSink, PartLimits
from australis.engine.sinks.postgresql import parse_postgresql
from australis.engine.sinks.spark_table import parse_spark_table
from australis.engine.sinks.streams import StreamSink
from australis.engine.sinks.text_file import TextFileSink
from australis.engine.sinks.webhook import parse_webhook

Parse = Callable[[str, str, Schema, DoorOptions], Sink]
"""Makes a sink of an output, a text, a schema and options; opens nothing, and loads no driver."""

DOORS: Mapping[str, Parse] = {
    "http": parse_webhook,
    "https": parse_webhook,
    "kafka": parse_kafka_sink,
    "delta": parse_spark_table,
    "postgres": parse_postgresql,
    "postgresql": parse_postgresql,
    "spark": parse_spark_table,
}
"""What the texts stand for that begin with a word and a colon; all others are files and folders."""


def is_file(text: str) -> bool:
    """Whether a text names a file, a folder or standard output."""
    return scheme_of(text) not in DOORS


def parse_sink(
    output: str,
    path: str,
    schema: Schema,
    *,
    stream_format: str = "jsonl",
    replace: bool = False,
    limits: PartLimits = DEFAULT_LIMITS,
    door: DoorOptions = DEFAULT_DOOR,
) -> Sink:
    """The sink for an output by the name of a file, or one of `DOORS`.

    `-` is standard output, `limits` are for Parquet, and `door` is for what is outside this machine.

    >>> from australis.algebra.schema import parse_schema
    >>> type(parse_sink("alarms", "alarms.csv.gz", parse_schema("n int"))).__name__
    'TextFileSink'
    """
    if not is_file(path):
        return DOORS[scheme_of(path)](output, path, schema, door)
    if path == STANDARD_STREAM:
        return StreamSink(output, schema, path, stream_format)
    name = format_of(path)
    if name == "parquet":
        return ParquetSink(output, path, schema, replace, limits)
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        return StreamSink(output, schema, path, name)
    return TextFileSink(output, path, schema, replace)
