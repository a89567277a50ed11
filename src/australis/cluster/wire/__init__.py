"""The wire: what nodes say to each other, and how it is cut into frames and put together again.

In: messages, tables, bytes of a connection. Out: frames, messages, tables; what is too large, damaged, or not
part of the protocol raises a `ClusterError`, before much of it has been read.
"""

from australis.cluster.wire.frames import CONTROL, FRAME_BYTES, HEAD, Assembly, Message, cut, encoded
from australis.cluster.wire.messages import (
    GRAPH_MOST,
    LETTER_MOST,
    VERSION,
    Agree,
    Ask,
    Beat,
    Begin,
    Chunk,
    Close,
    Echo,
    Fetch,
    Hello,
    Incarnation,
    Post,
    Refusal,
    Refused,
    Said,
    Stored,
    Token,
    Tuples,
    Worth,
)
from australis.cluster.wire.tables import packed, unpacked

__all__ = [
    "CONTROL",
    "FRAME_BYTES",
    "GRAPH_MOST",
    "HEAD",
    "LETTER_MOST",
    "VERSION",
    "Agree",
    "Ask",
    "Assembly",
    "Beat",
    "Begin",
    "Chunk",
    "Close",
    "Echo",
    "Fetch",
    "Hello",
    "Incarnation",
    "Message",
    "Post",
    "Refusal",
    "Refused",
    "Said",
    "Stored",
    "Token",
    "Tuples",
    "Worth",
    "cut",
    "encoded",
    "packed",
    "unpacked",
]
