"""Where the rows of an input are stored, and how the files are written that hold them.

In: texts and plain values of a document or a program. Out: a `Store`, a `FileFormat`, or every problem found.
Neither opens anything: reading is the engine's.
"""

from australis.algebra.store.file_format import (
    BLANKS,
    KINDS,
    FileFormat,
    file_format_of,
    format_problems,
)
from australis.algebra.store.store import SECRET, Pull, Store, StoreKind, store_problems

__all__ = [
    "BLANKS",
    "KINDS",
    "SECRET",
    "FileFormat",
    "Pull",
    "Store",
    "StoreKind",
    "file_format_of",
    "format_problems",
    "store_problems",
]
