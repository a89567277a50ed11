"""Machines: what all policies of many nodes have in common, so that a node or a simulator can host them.

`values` are frozen and have one form on the wire, `letters` carry them with sender, incarnation and number,
`machine` opens and refuses letters and writes snapshots, `journal` records decisions and repeats them. In:
events, with the time in microseconds. Out: commands, snapshots, and what was refused.
"""

from australis.policy.machines.journal import Difference, Journal, Replayed, replay
from australis.policy.machines.letters import Forgotten, Letter, Refuse, Returned, Say, Welcome
from australis.policy.machines.machine import Fence, Machine, Received, Send, Started, Wake
from australis.policy.machines.values import (
    ENCODE,
    MOST_BYTES,
    Amount,
    Count,
    Name,
    Natural,
    Value,
    decoded,
    put,
    state_of,
)

__all__ = [
    "ENCODE",
    "MOST_BYTES",
    "Amount",
    "Count",
    "Difference",
    "Fence",
    "Forgotten",
    "Journal",
    "Letter",
    "Machine",
    "Name",
    "Natural",
    "Received",
    "Refuse",
    "Replayed",
    "Returned",
    "Say",
    "Send",
    "Started",
    "Value",
    "Wake",
    "Welcome",
    "decoded",
    "put",
    "replay",
    "state_of",
]
