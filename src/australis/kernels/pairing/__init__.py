"""Boxes with two inputs: equal keys, pairs that satisfy a predicate, their sequence, what has been passed.

In: batches and kept tuples of both sides. Out: pairs, tuples alone, or the windows of a Resample.
"""

from australis.kernels.pairing.dues import KeyDues
from australis.kernels.pairing.encounters import (
    KEYS,
    ORDER,
    Encounter,
    Encounters,
    keys_of,
    least_waiting,
    orders_of,
)
from australis.kernels.pairing.gathering import NOBODY, Rows, alone, gathered, merged
from australis.kernels.pairing.keys import KEY, NO_KEY, Keys
from australis.kernels.pairing.moments import (
    NEVER,
    Moments,
    Moves,
    Waiting,
    in_sequence_of,
    moments,
    passed_by,
    passing,
)
from australis.kernels.pairing.pairs import SIDES, Meeting, Pairing
from australis.kernels.pairing.resample_results import Lefts, ResampleResults, Rights, argument_name
from australis.kernels.pairing.resample_windows import (
    Windows,
    lefts_done,
    passed_by_all,
    still_useful,
    windows_around,
    windows_passed,
)
from australis.kernels.pairing.sequence import New, in_sequence

__all__ = [
    "KEY",
    "KEYS",
    "NEVER",
    "NOBODY",
    "NO_KEY",
    "ORDER",
    "SIDES",
    "Encounter",
    "Encounters",
    "KeyDues",
    "Keys",
    "Lefts",
    "Meeting",
    "Moments",
    "Moves",
    "New",
    "Pairing",
    "ResampleResults",
    "Rights",
    "Rows",
    "Waiting",
    "Windows",
    "alone",
    "argument_name",
    "gathered",
    "in_sequence",
    "in_sequence_of",
    "keys_of",
    "least_waiting",
    "lefts_done",
    "merged",
    "moments",
    "orders_of",
    "passed_by",
    "passed_by_all",
    "passing",
    "still_useful",
    "windows_around",
    "windows_passed",
]
