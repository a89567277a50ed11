"""Files of tuples: CSV, TSV, JSON lines, Zeek logs and Parquet, read and written in bounded memory.

In: a file and the schema it should have. Out: Arrow tables of exactly that schema, and the rows that do not
fit, each with file, line and reason. Written files appear atomically.
"""

from australis.engine.files.formats import (
    FORMATS,
    format_of,
    input_format,
    open_reader,
    open_writer,
    stream_reader,
)
from australis.engine.files.jsonl_reader import JsonObjects
from australis.engine.files.opening import Ended
from australis.engine.files.parquet_reader import column_of, fits
from australis.engine.files.parquet_values import first_unsound
from australis.engine.files.reader import Reader
from australis.engine.files.rendering import csv_header, csv_rows, json_rows, value_texts
from australis.engine.files.rows import (
    STANDARD_STREAM,
    Batch,
    Mark,
    Rejected,
    as_json,
    null_faults,
    one_chunk,
    shown,
    without,
)
from australis.engine.files.soundness import row_text, unsound_rows
from australis.engine.files.texts import convert
from australis.engine.files.writers import Writer

__all__ = [
    "FORMATS",
    "STANDARD_STREAM",
    "Batch",
    "Ended",
    "JsonObjects",
    "Mark",
    "Reader",
    "Rejected",
    "Writer",
    "as_json",
    "column_of",
    "convert",
    "csv_header",
    "csv_rows",
    "first_unsound",
    "fits",
    "format_of",
    "input_format",
    "json_rows",
    "null_faults",
    "one_chunk",
    "open_reader",
    "open_writer",
    "row_text",
    "shown",
    "stream_reader",
    "unsound_rows",
    "value_texts",
    "without",
]
