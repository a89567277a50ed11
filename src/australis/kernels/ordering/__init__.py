"""Order and slack: which tuples have a place, which are late, and when the rest are released.

In: a batch and the waiting tuples. Out: the rows to release, and what the groups have passed. `order` does it
for one input, `sides` for each input of a box that has two.
"""

from australis.kernels.ordering.lengths import release_by_length
from australis.kernels.ordering.order import (
    NOTHING,
    Placed,
    Released,
    from_sort_keys,
    in_time,
    late_tuples,
    order_array,
    passed_array,
    passed_keys,
    place,
    release,
    release_by_marks,
    sort_keys,
)
from australis.kernels.ordering.sides import Arrived, Passed, Side

__all__ = [
    "NOTHING",
    "Arrived",
    "Passed",
    "Placed",
    "Released",
    "Side",
    "from_sort_keys",
    "in_time",
    "late_tuples",
    "order_array",
    "passed_array",
    "passed_keys",
    "place",
    "release",
    "release_by_length",
    "release_by_marks",
    "sort_keys",
]
