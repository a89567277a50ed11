"""Whether the files written by sinks are as they were left; nothing is opened for writing."""

from __future__ import annotations

import json
from pathlib import Path

from australis.engine.sinks.appended import EXPECTED, FileEnd, read_file_end, recorded_end, refuse_gone
from australis.engine.sinks.consuming import FILE
from australis.errors import EngineError, Problem


def check_written(consumer: str, position: str | None) -> Problem | None:
    """What is wrong with the file of a consumer; None if it is as recorded, or longer, or not a text file.

    Anything beyond the record was written and not acknowledged: the next run cuts it off. Readers of a folder
    may remove parts.
    """
    if position is None or not consumer.startswith(FILE):
        return None
    path = consumer.removeprefix(FILE)
    try:
        if "last" not in json.loads(position):
            _check_end(path, read_file_end(position, path))
    except (OSError, ValueError) as error:
        return Problem(path, f"cannot be read: {error}", EXPECTED)
    except EngineError as error:
        return error.problem
    return None


def _check_end(path: str, record: FileEnd) -> None:
    """Refuse a file that lacks what was written to it."""
    if Path(path).exists():
        with open(path, "rb") as file:
            recorded_end(file.fileno(), record, path)
    else:
        refuse_gone(path, record)
