"""Membership: which nodes there are, where, and which are alive, learnt by gossip from any one of them.

In: the time, letters of other nodes, connections that come and go. Out: letters, and what has changed. Each
node signs where it is itself; others can only doubt it, and it answers doubts with a greater incarnation.
"""

from australis.cluster.membership.gossip import Gossip, Setup
from australis.cluster.membership.messages import (
    Attest,
    Attested,
    Changed,
    Forgot,
    Leave,
    Lost,
    Met,
    Pace,
    Presence,
    Seek,
    State,
    presence_bytes,
)
from australis.cluster.membership.table import Member, number_of, portions, shuffled

__all__ = [
    "Attest",
    "Attested",
    "Changed",
    "Forgot",
    "Gossip",
    "Leave",
    "Lost",
    "Member",
    "Met",
    "Pace",
    "Presence",
    "Seek",
    "Setup",
    "State",
    "number_of",
    "portions",
    "presence_bytes",
    "shuffled",
]
