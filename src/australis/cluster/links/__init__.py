"""Links: an output of one node is an input of another, exactly once through crashes and lost connections.

In: a node, links by name, messages of a connection. Out: messages, pushes whose position is committed with
their tuples, acknowledgements that follow what the other side has stored; how each link goes, and what its
tuples are worth behind it.
"""

from australis.cluster.links.acknowledging import Acknowledger
from australis.cluster.links.link import Link, LinkedNode, LinkState, LinkStatus, NamedLink, boxes_of
from australis.cluster.links.loop import Loop
from australis.cluster.links.offers import Offers
from australis.cluster.links.reader import WINDOW, Reader
from australis.cluster.links.worths import Worths
from australis.cluster.links.writer import Writer, WriterStatus

__all__ = [
    "WINDOW",
    "Acknowledger",
    "Link",
    "LinkState",
    "LinkStatus",
    "LinkedNode",
    "Loop",
    "NamedLink",
    "Offers",
    "Reader",
    "Worths",
    "Writer",
    "WriterStatus",
    "boxes_of",
]
