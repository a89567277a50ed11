"""Background maintenance of arcs: compaction, and history gathered into runs.

Arcs that trains have read or written come in; fewer, larger files go out.
"""

from australis.engine.maintain.upkeep import Upkeep

__all__ = [
    "Upkeep",
]
