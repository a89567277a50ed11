"""The control channel: how people reach a node that runs, from another process of the same machine.

Comes in: requests of local clients, who have the key that is in a file which only the node's user can read.
Goes out: answers, problems, and the tables of ad hoc queries, each when the one before was taken. `server` is
in the node's process, `client` in that of the asker; both speak `messages` over a `channel`.
"""

from australis.engine.control.client import Control, RemoteQuery, reach
from australis.engine.control.server import ControlServer
from australis.engine.control.streams import End

__all__ = [
    "Control",
    "ControlServer",
    "End",
    "RemoteQuery",
    "reach",
]
