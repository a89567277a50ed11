"""The control channel: how other processes of the same machine reach a running node.

In: requests of local clients, which have the key from a file that only the node's user can read. Out:
answers, problems, and the tables of ad hoc queries, each sent once the one before was taken. `server` runs in
the node's process, `client` in that of the caller; both exchange `messages` over a `channel`.
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
