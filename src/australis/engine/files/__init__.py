"""Files of tuples: CSV, TSV, JSON lines and Parquet, read and written in bounded memory.

Comes in: a file and the schema it should have. Goes out: Arrow tables of exactly that schema, and beside them
the rows that do not fit, each with its line and the reason. Written files appear whole or not at all.
"""

from australis.engine.files.blocks import STANDARD_STREAM
from australis.engine.files.formats import FORMATS, format_of, open_reader, open_writer
from australis.engine.files.growing import Ended
from australis.engine.files.reader import Reader
from australis.engine.files.rows import Batch, Mark, Rejected
from australis.engine.files.writers import Writer

__all__ = [
    "FORMATS",
    "STANDARD_STREAM",
    "Batch",
    "Ended",
    "Mark",
    "Reader",
    "Rejected",
    "Writer",
    "format_of",
    "open_reader",
    "open_writer",
]
