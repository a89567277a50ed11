"""Background maintenance of arcs: compaction, and history gathered into runs.

In: arcs that trains have read or written. Out: fewer, larger files.
"""

from australis.engine.maintain.upkeep import Upkeep

__all__ = [
    "Upkeep",
]
