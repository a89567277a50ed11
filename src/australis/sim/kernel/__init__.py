"""The kernel of a virtual world: its clock, its machines, and the links between them.

`clock` advances from event to event, `nodes` process their queues and crash, `links` carry messages in pages
and may delay, duplicate or lose them, `hosts` run the machines of `australis.policy`, commit their snapshots
and restart them. In: events with their times. Out: the same in order; everything follows from a seed.
"""

from australis.sim.kernel.clock import Clock
from australis.sim.kernel.hosts import MachineHost, micros
from australis.sim.kernel.links import Faults, Links, Net
from australis.sim.kernel.nodes import VirtualNode

__all__ = [
    "Clock",
    "Faults",
    "Links",
    "MachineHost",
    "Net",
    "VirtualNode",
    "micros",
]
