"""Many nodes: who they are, how they are connected, the links between them, and who has which name.

In: a running node, its identity, the addresses of others. Out: connections, and links by which an output of
one node is an input of another, exactly once. The engine knows nothing of other nodes.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.cluster.cluster import Cluster, ClusterStatus
else:
    __getattr__ = lazy_exports(__name__, {"cluster": ("Cluster", "ClusterStatus")})

__all__ = ["Cluster", "ClusterStatus"]
