"""The bytes of files as they are opened: compressed, growing, or coming in through a pipe.

In: a path or a binary stream. Out: a binary stream of what the file contains.
"""

from australis.engine.files.opening.growing import APPENDED, Ended, GrowingInput, Idle, LiveInput
from australis.engine.files.opening.packing import PACKINGS, Packing, packing_by_bytes, packing_by_name

__all__ = [
    "APPENDED",
    "PACKINGS",
    "Ended",
    "GrowingInput",
    "Idle",
    "LiveInput",
    "Packing",
    "packing_by_bytes",
    "packing_by_name",
]
