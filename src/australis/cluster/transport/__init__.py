"""Transport: one connection for each pair of nodes, over mutual TLS, shared by streams according to weights.

In: credentials, addresses of nodes, messages with a stream. Out: connections that come and go, messages in
order, the offset of the other node's clock. Nothing here knows what the messages mean.
"""

from australis.cluster.transport.clocks import ClockOffset
from australis.cluster.transport.connection import MESSAGE_MOST, Connection
from australis.cluster.transport.fair_queue import FairQueue
from australis.cluster.transport.listener import reached_at
from australis.cluster.transport.peers import IDLE_S, Peer, Peers, PeerStatus

__all__ = [
    "IDLE_S",
    "MESSAGE_MOST",
    "ClockOffset",
    "Connection",
    "FairQueue",
    "Peer",
    "PeerStatus",
    "Peers",
    "reached_at",
]
