"""The kernel of each box: a state and a batch in, a state and a batch out.

One file per family of boxes, named as in `algebra.boxes` and `reference.boxes`.
"""

from australis.kernels.boxes.aggregate import AggregateKernel
from australis.kernels.boxes.bsort import BSortKernel
from australis.kernels.boxes.distinct import DistinctKernel
from australis.kernels.boxes.drop import DropKernel, fractions
from australis.kernels.boxes.earlier import ChangesKernel, LagKernel
from australis.kernels.boxes.number import NumberKernel
from australis.kernels.boxes.stateless import FilterKernel, MapKernel, Stateless, UnionKernel, UnnestKernel
from australis.kernels.boxes.top import TopKernel
from australis.kernels.boxes.tumble import TumbleKernel
from australis.kernels.boxes.two_inputs import (
    Ask,
    AsOfKernel,
    JoinKernel,
    KeyedResampleKernel,
    LookupJoinKernel,
    OuterJoinKernel,
    ProgressResampleKernel,
    ResampleKernel,
    TableJoinKernel,
    TwoStreamsKernel,
)
from australis.kernels.boxes.wsort import WSortKernel

__all__ = [
    "AggregateKernel",
    "AsOfKernel",
    "Ask",
    "BSortKernel",
    "ChangesKernel",
    "DistinctKernel",
    "DropKernel",
    "FilterKernel",
    "JoinKernel",
    "KeyedResampleKernel",
    "LagKernel",
    "LookupJoinKernel",
    "MapKernel",
    "NumberKernel",
    "OuterJoinKernel",
    "ProgressResampleKernel",
    "ResampleKernel",
    "Stateless",
    "TableJoinKernel",
    "TopKernel",
    "TumbleKernel",
    "TwoStreamsKernel",
    "UnionKernel",
    "UnnestKernel",
    "WSortKernel",
    "fractions",
]
