"""Which source a text stands for; new types of sources are registered here."""

from __future__ import annotations

from pathlib import Path

from australis.algebra.schema import Schema
from australis.engine.sources.delivery import Source
from australis.engine.sources.files import FileSource, FolderSource
from australis.engine.sources.generator import PREFIX, parse_generator
from australis.engine.sources.options import AS_IT_IS, Options
from australis.engine.sources.ticks import TICKS, parse_ticks


def parse_source(input: str, text: str, schema: Schema, options: Options = AS_IT_IS) -> Source:
    """The source that a text names: a file, a folder, `-`, `generator:...` or `ticks:...`."""
    if text.startswith(PREFIX):
        return parse_generator(input, text, schema, options)
    if text.startswith(TICKS):
        return parse_ticks(input, text, schema, options)
    kind = FolderSource if Path(text).is_dir() else FileSource
    return kind(input, text, schema, options)
