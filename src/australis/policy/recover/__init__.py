"""Recovery: servers that keep what they sent until it is safe elsewhere, and redo what a failed one did.

`positions` are arrays of sequence numbers, `flow` the messages that gather them, `checkpoints` what follows
from them for k-safety, `log` the output queue that is truncated; `heartbeats` tell who has failed;
`granularity` is what virtual machines buy. `server` is all of them: events in, commands out.
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
