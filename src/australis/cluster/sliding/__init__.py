"""Sliding: boxes go to neighbours by themselves, as the placement policy decides (Aurora* 5.1).

`slider` hosts the policy's machine, `drawing` tells it what runs here, `measuring` what was measured; `kept`
is what it must not forget. In: a node, its moves, letters of neighbours. Out: boxes that move, and letters.
"""

from australis.cluster.sliding.drawing import runs_of
from australis.cluster.sliding.measuring import Meter
from australis.cluster.sliding.slider import EVERY_S, TOPIC, Slider, SlidingNode

__all__ = ["EVERY_S", "TOPIC", "Meter", "Slider", "SlidingNode", "runs_of"]
