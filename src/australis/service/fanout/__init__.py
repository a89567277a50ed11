"""Many readers of one output: it is read and encoded once, and each reader has a number of its own.

In: an output of a node. Out: pieces of it, shared by all subscribers, and to one that comes too late, which
numbers it has missed. A subscriber that is slow or stands still costs the others nothing.
"""

from australis.service.fanout.audience import Audience, Readership, Way
from australis.service.fanout.encoding import columns_of, json_array
from australis.service.fanout.fanout import CONSUMER, Fanout
from australis.service.fanout.piece import Piece
from australis.service.fanout.subscriber import Subscriber

__all__ = [
    "CONSUMER",
    "Audience",
    "Fanout",
    "Piece",
    "Readership",
    "Subscriber",
    "Way",
    "columns_of",
    "json_array",
]
