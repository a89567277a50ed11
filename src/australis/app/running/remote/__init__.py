"""A node at an address, for commands: the calls that they make on a node of this machine.

In: an address. Out: the same answers, from elsewhere.
"""

from australis.app.running.remote.remote_node import RemoteNode, nodes_at

__all__ = ["RemoteNode", "nodes_at"]
