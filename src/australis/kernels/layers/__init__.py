"""States in layers: a train reads and writes only the groups that it concerns.

In: the state of a kernel that falls into groups, and what an event brings. Out: the state of the groups
concerned, and after it a layer of what has changed.
"""

from australis.kernels.layers.layer import Layer, Shape, shape_of
from australis.kernels.layers.layered import LayeredState, Part
from australis.kernels.layers.merging import joins, merged
from australis.kernels.layers.packing import pack_layer, unpack_layer

__all__ = [
    "Layer",
    "LayeredState",
    "Part",
    "Shape",
    "joins",
    "merged",
    "pack_layer",
    "shape_of",
    "unpack_layer",
]
