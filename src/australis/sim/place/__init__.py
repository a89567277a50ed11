"""Placement, simulated: boxes slide and split while the load shifts from stream to stream.

`flows` runs a network whose streams are rates, not tuples; `ground` is where its boxes are, `pieces` what
each site sees of that; `workload` is a network over eight sites, whose hot stream changes every few minutes;
`run` has a daemon on each site; `experiments` compares the results with a fixed placement; `trials` are
unreliable worlds of small `networks`. In: a seed. Out: moves and delays, or an error that names the seed.
"""

from australis.sim.place.experiments import VARIANTS, Compared, Placed, placed
from australis.sim.place.tally import IN_TIME_S
from australis.sim.place.trials import BadPlaces, Trial, tried

__all__ = [
    "IN_TIME_S",
    "VARIANTS",
    "BadPlaces",
    "Compared",
    "Placed",
    "Trial",
    "placed",
    "tried",
]
