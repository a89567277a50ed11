"""Trading: which tasks a participant hands to a partner, and at what price (the bounded-price mechanism).

Participants have contracts in pairs, each with a range of prices, and costs that grow ever faster with load.
A `Participant` is a machine: events come in, with the time; messages, movements and times to be woken at go
out. All that is sent and kept is plain values. `invariants` holds what is true of every movement.
"""

from australis.policy.trade.contract import Contract, Task
from australis.policy.trade.cost import CostCurve, in_flight, narrowest
from australis.policy.trade.holding import Settings
from australis.policy.trade.invariants import (
    Movement,
    cost_does_not_rise,
    money_is_conserved,
    nobody_is_worse_off,
)
from australis.policy.trade.messages import Came, Command, Ended, Event, Gave, Heard, Moved, Send, Took, Wake
from australis.policy.trade.participant import Participant

__all__ = [
    "Came",
    "Command",
    "Contract",
    "CostCurve",
    "Ended",
    "Event",
    "Gave",
    "Heard",
    "Moved",
    "Movement",
    "Participant",
    "Send",
    "Settings",
    "Task",
    "Took",
    "Wake",
    "cost_does_not_rise",
    "in_flight",
    "money_is_conserved",
    "narrowest",
    "nobody_is_worse_off",
]
