"""Trading: which tasks a participant moves to a partner, and at what price (the bounded-price mechanism).

Participants have pairwise contracts, each with a range of prices, and costs that are convex in load. A
`Participant` is a machine. In: events, with the time. Out: messages, movements and wake-up times. Everything
sent and kept is a value. `invariants` checks what must hold for every movement.
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
from australis.policy.trade.messages import (
    Came,
    Ended,
    Event,
    Gave,
    Gone,
    Installed,
    Moved,
    Regained,
    Take,
    Took,
)
from australis.policy.trade.participant import Participant

__all__ = [
    "Came",
    "Contract",
    "CostCurve",
    "Ended",
    "Event",
    "Gave",
    "Gone",
    "Installed",
    "Moved",
    "Movement",
    "Participant",
    "Regained",
    "Settings",
    "Take",
    "Task",
    "Took",
    "cost_does_not_rise",
    "in_flight",
    "money_is_conserved",
    "narrowest",
    "nobody_is_worse_off",
]
