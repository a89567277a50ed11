"""Whether the files that sinks have written are as they were left; nothing is opened for writing."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

from australis.engine.sinks.appended import END_BYTES, EXPECTED, FileEnd, read_file_end
from australis.engine.sinks.consuming import FILE
from australis.errors import EngineError, Problem


def check_written(consumer: str, position: str | None) -> Problem | None:
    """What is wrong with the file of a consumer; None if it is as recorded, or longer, or no text file.

    What is longer was written and not acknowledged: the next run cuts it off. Parts of a folder may be taken
    away by whoever reads them.
    """
    if position is None or not consumer.startswith(FILE):
        return None
    path = Path(consumer.removeprefix(FILE))
    try:
        if "last" in json.loads(position):
            return None
        record = read_file_end(position, str(path))
        return _difference(path, record)
    except (OSError, ValueError) as error:
        return Problem(str(path), f"cannot be read: {error}", EXPECTED)
    except EngineError as error:
        return error.problem


def _difference(path: Path, record: FileEnd) -> Problem | None:
    size = path.stat().st_size if path.exists() else 0
    if size < record.size:
        what = f"has {size:,} bytes, and {record.size:,} were written to it"
        return Problem(str(path), what, EXPECTED)
    length = min(record.size, END_BYTES)
    end = b""
    if length:
        with open(path, "rb") as file:
            end = os.pread(file.fileno(), length, record.size - length)
    if zlib.crc32(end) != record.end:
        what = f"its first {record.size:,} bytes do not end as they were written"
        return Problem(str(path), what, EXPECTED)
    return None
