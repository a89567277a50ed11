"""Box splitting: two equivalent copies, with a Filter before them and a merge after them (Aurora* 5.1).

`split` draws them, or refuses with the reason: `group_keys` finds what may be split by groups, `parts` which
window functions combine, `stream_order` how the order of tuples matters. `copies` draws the splits of a box
that runs, into any number. In: a network, a box, a predicate or a number. Out: the new boxes, how far the
streams stay the same, and the way back.
"""

from australis.policy.place.parting.copies import (
    BoxSplit,
    made_whole,
    predicates,
    same_after,
    split_up,
    still_there,
    with_splits,
)
from australis.policy.place.parting.group_keys import keys
from australis.policy.place.parting.split import Assumed, Parting, Same, part, stream_of
from australis.policy.place.parting.stream_order import ALL_HERE, Beyond, first_ordered, tracks

__all__ = [
    "ALL_HERE",
    "Assumed",
    "Beyond",
    "BoxSplit",
    "Parting",
    "Same",
    "first_ordered",
    "keys",
    "made_whole",
    "part",
    "predicates",
    "same_after",
    "split_up",
    "still_there",
    "stream_of",
    "tracks",
    "with_splits",
]
