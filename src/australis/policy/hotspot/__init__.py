"""Hot spots: which peer is overloaded, which is not, and how a component moves from one to the other.

`levels` and `reporter` report loads when they matter, `ring` determines to which peer, `directory` compares
them and decides; `departure`, `arrival` and `redirection` are the three sides of a migration, `introduction`
follows it, and `streams` numbers tuples so that none is lost. `peer` combines them: events in, commands out.
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
