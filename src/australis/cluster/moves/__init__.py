"""Moves: boxes go from one node to another with their states, while the network runs.

In: boxes and the node that is to have them. Out: the two networks afterwards, and who has come how far.
"""

from australis.cluster.moves.live import LIMIT_S, Moved, MoveState, MoveStatus, Moving, Outdated
from australis.cluster.moves.messages import TOPIC
from australis.cluster.moves.node import MovingNode
from australis.cluster.moves.redrawing import OF_A_MOVE, Redrawn, immovable, joined, without

__all__ = [
    "LIMIT_S",
    "OF_A_MOVE",
    "TOPIC",
    "MoveState",
    "MoveStatus",
    "Moved",
    "Moving",
    "MovingNode",
    "Outdated",
    "Redrawn",
    "immovable",
    "joined",
    "without",
]
