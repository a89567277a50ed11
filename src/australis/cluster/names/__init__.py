"""Names between participants: a ring of all living nodes that keeps records, each signed by who has the name.

In: which nodes are alive, what this node publishes, letters of other nodes, questions. Out: letters, drafts
to be signed, answers. Every node knows the ring, so a question goes to a node that has the answer.
"""

from australis.cluster.names.machine import Names, Setup
from australis.cluster.names.messages import (
    Absent,
    Ask,
    Found,
    Matched,
    Present,
    Publish,
    Record,
    Retract,
    Search,
    Sign,
    Signed,
    record_bytes,
)
from australis.cluster.names.ring import Ring

__all__ = [
    "Absent",
    "Ask",
    "Found",
    "Matched",
    "Names",
    "Present",
    "Publish",
    "Record",
    "Retract",
    "Ring",
    "Search",
    "Setup",
    "Sign",
    "Signed",
    "record_bytes",
]
