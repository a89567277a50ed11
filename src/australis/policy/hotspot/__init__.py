"""Hot spots: who is overloaded, who is not, and how a component gets from one peer to the other.

`levels` and `reporter` tell loads when they matter, `ring` says to whom, `directory` compares them and
decides; `departure`, `arrival` and `redirection` are the three sides of a migration, `introduction` what
follows it, and `streams` the numbers that keep it exact. `peer` is all of them: events in, commands out.
"""

from australis.policy.hotspot import messages
from australis.policy.hotspot.levels import MINUTES, Criteria, Levels, Loads
from australis.policy.hotspot.messages import Task
from australis.policy.hotspot.peer import Manners, Peer
from australis.policy.hotspot.streams import ReadEnd, WriteEnd

__all__ = [
    "MINUTES",
    "Criteria",
    "Levels",
    "Loads",
    "Manners",
    "Peer",
    "ReadEnd",
    "Task",
    "WriteEnd",
    "messages",
]
