"""Placement: on which machine a box runs, and when it runs on two (Aurora* 5).

`survey` is what is known, `slide` moves boxes to a neighbour, `split` makes two of a box and one of their
outputs again: `group_keys` says what may be parted by its groups, `parts` which windows are added up,
`stream_order` what the order of tuples has to do with it, `portions` finds a predicate. `moves` judges, and
`daemon` decides for one machine: events in, commands out (`messages`), and not too many. `sharing` is for
distributed eddies, whose nodes slide, split and merge operators by plain numbers.
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
