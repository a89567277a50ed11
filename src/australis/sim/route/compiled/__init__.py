"""The compiled part of the simulation of distributed eddies.

In: arrays that describe a world. Out: the same arrays, advanced by events.
"""

from australis.sim.route.compiled.choices import SCORES
from australis.sim.route.compiled.layout import Arrays, How, laid_out
from australis.sim.route.compiled.loop import run_until

__all__ = [
    "SCORES",
    "Arrays",
    "How",
    "laid_out",
    "run_until",
]
