"""The directory of a node: which nodes there are, what each of them has, and who has a name.

In: letters of other nodes, addresses to begin with, what this node has. Out: letters, nodes with their
states, and places of names. It hosts the machines of membership, catalogue and names in one thread.
"""

from australis.cluster.directory.core import Core, Told
from australis.cluster.directory.live import Carrier, Directory
from australis.cluster.directory.places import Findings, Listed, MemberStatus, Place, Where

__all__ = [
    "Carrier",
    "Core",
    "Directory",
    "Findings",
    "Listed",
    "MemberStatus",
    "Place",
    "Told",
    "Where",
]
