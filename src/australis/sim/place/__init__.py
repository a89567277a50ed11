"""Placement, simulated: boxes that slide and split while the load moves from stream to stream.

`flows` runs a network whose streams are rates, not tuples; `workload` is a network over eight sites, with a
hot stream that is another one every few minutes; `run` lets a placement daemon live on each site;
`experiments` compares what they reach with what stays where it is. A seed comes in; moves and delays go out.
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
