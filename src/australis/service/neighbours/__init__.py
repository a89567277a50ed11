"""Neighbours: who the node is among others, its connections with them, and the links that its network draws.

In: settings, the node, and the network as it changes. Out: outputs of other nodes pushed into inputs, outputs
sent to who is offered them, and how all that goes.
"""

from australis.service.neighbours.neighbours import Neighbours

__all__ = ["Neighbours"]
