"""Which source a text stands for; new types of sources are registered here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from australis.algebra.schema import Schema
from australis.engine.addresses import scheme_of
from australis.engine.sources.delivery import Source
from australis.engine.sources.files import FileSource, FolderSource
from australis.engine.sources.generator import parse_generator
from australis.engine.sources.kafka import parse_kafka
from australis.engine.sources.mqtt import parse_mqtt
from australis.engine.sources.options import AS_IT_IS, Options
from australis.engine.sources.ticks import parse_ticks

Parse = Callable[[str, str, Schema, Options], Source]
"""Makes a source of an input, a text, a schema and options; opens nothing, and loads no driver."""

DOORS: Mapping[str, Parse] = {
    "generator": parse_generator,
    "kafka": parse_kafka,
    "mqtt": parse_mqtt,
    "mqtts": parse_mqtt,
    "ticks": parse_ticks,
}
"""What the texts stand for that begin with a word and a colon; all others are files and folders."""


def is_file(text: str) -> bool:
    """Whether a text names a file, a folder or standard input.

    >>> is_file("reports.csv"), is_file("ticks:every=1 s")
    (True, False)
    """
    return scheme_of(text) not in DOORS


def parse_source(input: str, text: str, schema: Schema, options: Options = AS_IT_IS) -> Source:
    """The source that a text names: a file, a folder, `-`, or one of `DOORS`, such as `ticks:...`."""
    if not is_file(text):
        return DOORS[scheme_of(text)](input, text, schema, options)
    kind = FolderSource if Path(text).is_dir() else FileSource
    return kind(input, text, schema, options)
