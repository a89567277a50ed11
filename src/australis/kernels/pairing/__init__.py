"""Boxes with two inputs: equal keys, pairs that satisfy a predicate, and their sequence.

In: batches and kept tuples of both sides. Out: pairs, or the windows of a Resample.
"""

from australis.kernels.pairing.keys import KEY, NO_KEY, Keys
from australis.kernels.pairing.pairs import SIDES, Meeting, Pairing
from australis.kernels.pairing.resample_results import Lefts, ResampleResults, Rights, argument_name
from australis.kernels.pairing.resample_windows import lefts_done, passed_by_all, windows_around
from australis.kernels.pairing.sequence import New, in_sequence

__all__ = [
    "KEY",
    "NO_KEY",
    "SIDES",
    "Keys",
    "Lefts",
    "Meeting",
    "New",
    "Pairing",
    "ResampleResults",
    "Rights",
    "argument_name",
    "in_sequence",
    "lefts_done",
    "passed_by_all",
    "windows_around",
]
