"""The kernel of a virtual world: its clock, its machines, what lies between them, and a journal of it all.

`clock` goes from event to event, `nodes` work their queues off and crash, `links` carry messages late, in
pages, twice or never, `journal` writes down what machines of `australis.policy` heard and decided, and plays
it again. Events with their times come in, and go out in order; everything follows from a seed.
"""

from australis.sim.kernel.clock import Clock
from australis.sim.kernel.journal import Journal
from australis.sim.kernel.links import Faults, Links, Net
from australis.sim.kernel.nodes import VirtualNode

__all__ = [
    "Clock",
    "Faults",
    "Journal",
    "Links",
    "Net",
    "VirtualNode",
]
