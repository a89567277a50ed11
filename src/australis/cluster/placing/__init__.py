"""Placing: boxes slide to neighbours by themselves, as the placement policy decides (Aurora* 5.1).

`place` hosts the policy's machine, `drawing` tells it what runs here, `measuring` what was measured; `kept`
is what it must not forget. In: a node, its moves, letters of neighbours. Out: boxes that move, and letters.
"""

from australis.cluster.placing.drawing import runs_of
from australis.cluster.placing.measuring import Meter
from australis.cluster.placing.place import EVERY_S, TOPIC, PlacedNode, Placing

__all__ = ["EVERY_S", "TOPIC", "Meter", "PlacedNode", "Placing", "runs_of"]
