"""What kernels build on: columns as arrays, groups as numbers, hashes and ranges.

In: Arrow tables. Out: numpy arrays for compiled loops.
"""

from australis.kernels.arrays.columns import (
    Indexes,
    Mask,
    Numbers,
    array_of,
    column,
    frozen,
    grown,
    joined,
    numbers,
    present,
    rows_of,
    stacked,
    with_numbers,
)
from australis.kernels.arrays.groups import GroupCodes, dense, encode, first_rows, normalised, numbered
from australis.kernels.arrays.hashing import DIGEST_BYTES, Digests, digests, partitions, spark_hash
from australis.kernels.arrays.numbered_rows import Numbered, PortKeys, by_group, without_keys
from australis.kernels.arrays.ranges import (
    arrange,
    first_beyond,
    first_near,
    lay_out,
    members,
    seek_beyond,
    seek_near,
)
from australis.kernels.arrays.slots import by_slot, first_times, lower_to_least
from australis.kernels.arrays.texts import Texts, is_text_before, texts_of

__all__ = [
    "DIGEST_BYTES",
    "Digests",
    "GroupCodes",
    "Indexes",
    "Mask",
    "Numbered",
    "Numbers",
    "PortKeys",
    "Texts",
    "arrange",
    "array_of",
    "by_group",
    "by_slot",
    "column",
    "dense",
    "digests",
    "encode",
    "first_beyond",
    "first_near",
    "first_rows",
    "first_times",
    "frozen",
    "grown",
    "is_text_before",
    "joined",
    "lay_out",
    "lower_to_least",
    "members",
    "normalised",
    "numbered",
    "numbers",
    "partitions",
    "present",
    "rows_of",
    "seek_beyond",
    "seek_near",
    "spark_hash",
    "stacked",
    "texts_of",
    "with_numbers",
    "without_keys",
]
