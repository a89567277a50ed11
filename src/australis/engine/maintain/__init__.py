"""Background maintenance of arcs and states: compaction, history gathered into runs, merges of layers.

In: arcs that trains have read or written, and superboxes that had trains. Out: fewer, larger files.
"""

from australis.engine.maintain.upkeep import Upkeep

__all__ = [
    "Upkeep",
]
