"""The constant texts of calls: patterns, what replaces their matches, paths into JSON, formats of times.

In: the text of a literal. Out: a tree that every evaluator reads, or a PatternError that says what to write.
"""

from australis.algebra.expr.patterns.failure import PatternError
from australis.algebra.expr.patterns.json_path import Step, json_path
from australis.algebra.expr.patterns.regular import Regular
from australis.algebra.expr.patterns.regular_reader import regular
from australis.algebra.expr.patterns.replacement import Piece, check_group, replacement
from australis.algebra.expr.patterns.time_pattern import (
    DATE_LETTERS,
    MONTHS,
    SHORT_NAME,
    WEEKDAYS,
    TimeField,
    TimePart,
    read_times,
    reading,
    time_guard,
    written_times,
)

__all__ = [
    "DATE_LETTERS",
    "MONTHS",
    "SHORT_NAME",
    "WEEKDAYS",
    "PatternError",
    "Piece",
    "Regular",
    "Step",
    "TimeField",
    "TimePart",
    "check_group",
    "json_path",
    "read_times",
    "reading",
    "regular",
    "replacement",
    "time_guard",
    "written_times",
]
