"""States in layers: a train reads and writes only the groups that it concerns.

In: the state of a kernel that falls into groups, and what an event brings. Out: the state of the groups
concerned, and after it a layer of what has changed.
"""

from australis.kernels.layers.layer import Block, Layer, Shape, shape_of
from australis.kernels.layers.layered import LayeredState, Part
from australis.kernels.layers.merging import joins, merged, merged_blocks
from australis.kernels.layers.packing import Bytes, packed, unpack_layer

__all__ = [
    "Block",
    "Bytes",
    "Layer",
    "LayeredState",
    "Part",
    "Shape",
    "joins",
    "merged",
    "merged_blocks",
    "packed",
    "shape_of",
    "unpack_layer",
]
