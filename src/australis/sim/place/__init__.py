"""Placement, simulated: boxes slide and split while the load shifts from stream to stream.

`flows` runs a network whose streams are rates, not tuples; `workload` is a network over eight sites, in which
the hot stream changes every few minutes; `run` has a placement daemon on each site; `experiments` compares
the results with a fixed placement. In: a seed. Out: moves and delays.
"""

from australis.sim.place.experiments import VARIANTS, Compared, Placed, placed
from australis.sim.place.tally import IN_TIME_S

__all__ = [
    "IN_TIME_S",
    "VARIANTS",
    "Compared",
    "Placed",
    "placed",
]
