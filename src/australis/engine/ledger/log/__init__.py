"""The log as values: its events, the heads of those that read it, and the marks that it raises.

In: rows of the catalogue. Out: frozen values.
"""

from australis.engine.ledger.log.entries import (
    FLUSH,
    LOAD,
    PUSH,
    TICK,
    Head,
    Key,
    LogEvent,
    Receipt,
    StateFile,
)
from australis.engine.ledger.log.marks import (
    LoggedMarks,
    MarkLog,
    Rises,
    maker_of,
    mark_log,
    packed_numbers,
)

__all__ = [
    "FLUSH",
    "LOAD",
    "PUSH",
    "TICK",
    "Head",
    "Key",
    "LogEvent",
    "LoggedMarks",
    "MarkLog",
    "Receipt",
    "Rises",
    "StateFile",
    "maker_of",
    "mark_log",
    "packed_numbers",
]
