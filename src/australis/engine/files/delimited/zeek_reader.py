"""Zeek logs: tab-separated fields whose header names them, their types, and the words for NULL and empty."""

from __future__ import annotations

import re

import pyarrow as pa

from australis.algebra.schema import Field, Schema
from australis.algebra.store import FileFormat
from australis.engine.files.blocks import TextSource
from australis.engine.files.delimited.dialect import Dialect
from australis.engine.files.delimited.records import DelimitedReader, Layout
from australis.engine.files.delimited.zeek_header import EXPECTED, ZeekHeader, column_named
from australis.engine.files.delimited.zeek_values import epoch_times, plain_texts, truths
from australis.engine.files.reader import check_columns, there
from australis.engine.files.texts import Converted, convert
from australis.errors import EngineError, Problem

_ABOUT = re.compile(rb"^#[^\n]*", re.MULTILINE)


class ZeekReader(DelimitedReader):
    """A Zeek log; columns are found by name, and `id.orig_h` also as the attribute `id_orig_h`."""

    def __init__(
        self, source: TextSource, schema: Schema, timezone: str, format: FileFormat | None = None
    ) -> None:
        self._renamed = dict(format.renamed) if format is not None else {}
        self._header = ZeekHeader(source.path)
        super().__init__(source, schema, timezone)

    def _find_layout(self) -> Layout:
        self._read_header()
        columns = self._header.columns
        self._types = self._header.types
        found = {name: column_named(name, columns) for name in self._schema.names} | self._renamed
        found = there(self._schema, found, columns)
        # A log has many more columns than a query needs: they are not worth a note.
        check_columns(self._path, found, columns, "the line #fields")
        dialect = Dialect(self._header.separator, "", (self._header.unset,), skips_empty_lines=True)
        return Layout(columns, dialect, found)

    def _read_header(self) -> None:
        """Read lines until the fields and their types are known; a log that grows may have no more yet."""
        if not self._source.peek_line():
            raise EngineError(Problem(self._path, "is empty", EXPECTED))
        while not self._header.is_whole and self._source.peek_line().startswith(b"#"):
            number = self._source.line
            self._header.add(self._source.readline().decode("utf-8", "replace"), number)
        self._header.check()

    def _prepared(self, line: int, block: bytes) -> bytes:
        """The block without lines about the log, such as #close, and the headers of logs that follow."""
        if not block.startswith(b"#") and b"\n#" not in block:
            return block
        for about in _ABOUT.finditer(block):
            self._header.add(about[0].decode("utf-8", "replace"), line + block.count(b"\n", 0, about.start()))
        return _ABOUT.sub(b"", block)

    def _converted(self, field: Field, texts: pa.Array) -> Converted:
        type_ = self._types.get(self._layout.wanted.get(field.name, ""), "")
        if field.type.name == "timestamp" and type_ in ("time", ""):
            return epoch_times(texts, self._timezone)
        if field.type.name == "string":
            return Converted(plain_texts(texts, self._header.empty))
        if field.type.name == "boolean":
            return convert(truths(texts), field.type, self._timezone)
        return convert(texts, field.type, self._timezone)
