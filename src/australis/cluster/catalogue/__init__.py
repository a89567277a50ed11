"""The catalogue of a participant: what each of its nodes has, known to all of them.

In: what this node has, letters of the participant's other nodes. Out: letters, and what any node has. Each
node is the authority on what it has and announces it anew when it starts, so nothing is kept on a disk.
"""

from australis.cluster.catalogue.machine import Catalogue, Setup
from australis.cluster.catalogue.messages import (
    DETAIL_MOST,
    Absent,
    Announce,
    Gone,
    Holding,
    Kind,
    Present,
    Tick,
    Withdraw,
)

__all__ = [
    "DETAIL_MOST",
    "Absent",
    "Announce",
    "Catalogue",
    "Gone",
    "Holding",
    "Kind",
    "Present",
    "Setup",
    "Tick",
    "Withdraw",
]
