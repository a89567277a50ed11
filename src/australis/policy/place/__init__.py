"""Placement: on which machine a box runs, and when it runs on two (Aurora* 5).

`survey` is what is known, `slide` moves boxes to a neighbour, `split` makes two boxes of one and merges their
outputs: `group_keys` finds what may be split by groups, `parts` which window functions combine,
`stream_order` how the order of tuples matters, `portions` a predicate. `moves` rates moves, and `daemon`
decides for one machine: events in, commands out (`messages`), and not too many. `sharing` is for distributed
eddies, whose nodes slide, split and merge operators by plain numbers.
"""

from australis.policy.place import sharing
from australis.policy.place.daemon import HASTY, Daemon, Manners
from australis.policy.place.messages import (
    Answer,
    Answered,
    Begin,
    Command,
    Done,
    Event,
    Looked,
    Offer,
    Offered,
)
from australis.policy.place.moves import Limits, Move, Splitting, carry_s
from australis.policy.place.sharing import RULES, Rules
from australis.policy.place.slide import Sliding
from australis.policy.place.survey import Line, Placement, Site, Survey

__all__ = [
    "HASTY",
    "RULES",
    "Answer",
    "Answered",
    "Begin",
    "Command",
    "Daemon",
    "Done",
    "Event",
    "Limits",
    "Line",
    "Looked",
    "Manners",
    "Move",
    "Offer",
    "Offered",
    "Placement",
    "Rules",
    "Site",
    "Sliding",
    "Splitting",
    "Survey",
    "carry_s",
    "sharing",
]
