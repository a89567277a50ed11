"""Networks: loop-free graphs of boxes with typed arcs, and what is wrong or doubtful about them.

In: inputs, boxes, outputs. Out: a frozen network that is sound, or all its problems.
"""

from australis.algebra.network.marks import query_inputs
from australis.algebra.network.network import (
    NAME_PATTERN,
    PATH_PATTERN,
    QUARANTINE,
    QUARANTINE_SCHEMA,
    Draft,
    Network,
)
from australis.algebra.network.parts import FOREVER, ConnectionPoint, Group, Input, Node, Output, Ref, chained

__all__ = [
    "FOREVER",
    "NAME_PATTERN",
    "PATH_PATTERN",
    "QUARANTINE",
    "QUARANTINE_SCHEMA",
    "ConnectionPoint",
    "Draft",
    "Group",
    "Input",
    "Network",
    "Node",
    "Output",
    "Ref",
    "chained",
    "query_inputs",
]
