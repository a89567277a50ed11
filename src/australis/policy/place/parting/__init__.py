"""Box splitting: two equivalent copies, with a Filter before them and a merge after them (Aurora* 5.1).

`split` draws them, or refuses with the reason: `group_keys` finds what may be split by groups, `parts` which
window functions combine, `stream_order` how the order of tuples matters. In: a network, a box, a predicate.
Out: the new boxes, how far the streams stay the same, and the way back.
"""

from australis.policy.place.parting.group_keys import keys
from australis.policy.place.parting.split import Assumed, Parting, Same, part, stream_of
from australis.policy.place.parting.stream_order import ALL_HERE, Beyond, first_ordered

__all__ = [
    "ALL_HERE",
    "Assumed",
    "Beyond",
    "Parting",
    "Same",
    "first_ordered",
    "keys",
    "part",
    "stream_of",
]
