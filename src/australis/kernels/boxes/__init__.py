"""The kernel of each box: a state and a batch in, a state and a batch out.

One file per family of boxes, named as in `algebra.boxes` and `reference.boxes`.
"""

from australis.kernels.boxes.aggregate import AggregateKernel
from australis.kernels.boxes.bsort import BSortKernel
from australis.kernels.boxes.drop import DropKernel, fractions
from australis.kernels.boxes.join import JoinKernel
from australis.kernels.boxes.lookup_join import Ask, LookupJoinKernel
from australis.kernels.boxes.resample import ResampleKernel
from australis.kernels.boxes.stateless import FilterKernel, MapKernel, Stateless, UnionKernel
from australis.kernels.boxes.table_join import TableJoinKernel
from australis.kernels.boxes.tumble import TumbleKernel
from australis.kernels.boxes.wsort import WSortKernel

__all__ = [
    "AggregateKernel",
    "Ask",
    "BSortKernel",
    "DropKernel",
    "FilterKernel",
    "JoinKernel",
    "LookupJoinKernel",
    "MapKernel",
    "ResampleKernel",
    "Stateless",
    "TableJoinKernel",
    "TumbleKernel",
    "UnionKernel",
    "WSortKernel",
    "fractions",
]
