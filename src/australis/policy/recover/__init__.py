"""Recovery: servers keep what they sent until it is safe elsewhere, and redo the work of a failed one.

`positions` are arrays of sequence numbers, `flow` the messages that collect them, `checkpoints` derives
k-safety from them, `log` is the output queue that is truncated; `heartbeats` detect failures; `granularity`
is the benefit of virtual machines. `server` is the machine that combines them, `messages` what it hears and
says. In: what flows and who is silent. Out: what may be discarded, who is taken over, and replays.
"""

from australis.policy.recover import messages
from australis.policy.recover.checkpoints import Safe
from australis.policy.recover.flow import Noted, gathered
from australis.policy.recover.granularity import Granularity
from australis.policy.recover.log import OutputLog
from australis.policy.recover.positions import farthest
from australis.policy.recover.server import Server, ServerArcs

__all__ = [
    "Granularity",
    "Noted",
    "OutputLog",
    "Safe",
    "Server",
    "ServerArcs",
    "farthest",
    "gathered",
    "messages",
]
