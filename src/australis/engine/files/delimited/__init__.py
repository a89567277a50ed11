"""Text files of separated fields: CSV in all its dialects, and the logs of Zeek.

In: the bytes of a file, the schema it should have, how it is written. Out: batches of exactly that schema,
and the rows that do not fit, each with its line and reason.
"""

from australis.engine.files.delimited.csv_reader import CsvReader
from australis.engine.files.delimited.dialect import Dialect, dialect_of
from australis.engine.files.delimited.zeek_reader import ZeekReader

__all__ = [
    "CsvReader",
    "Dialect",
    "ZeekReader",
    "dialect_of",
]
