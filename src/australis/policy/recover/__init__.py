"""Recovery: servers keep what they sent until it is safe elsewhere, and redo the work of a failed one.

`positions` are arrays of sequence numbers, `flow` the messages that collect them, `checkpoints` derives
k-safety from them, `log` is the output queue that is truncated; `heartbeats` detect failures; `granularity`
is the benefit of virtual machines. `server` combines them: events in, commands out.
"""

from australis.policy.recover import server
from australis.policy.recover.checkpoints import Safe, at_output
from australis.policy.recover.flow import Noted, gathered
from australis.policy.recover.granularity import Granularity
from australis.policy.recover.log import OutputLog
from australis.policy.recover.server import ServerArcs

__all__ = [
    "Granularity",
    "Noted",
    "OutputLog",
    "Safe",
    "ServerArcs",
    "at_output",
    "gathered",
    "server",
]
