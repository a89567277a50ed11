"""The meaning of each box, one tuple at a time.

In: a bound box and one event. Out: what the box emits. One file per family of boxes, named as in
`algebra.boxes` and `kernels.boxes`.
"""

from australis.reference.boxes.aggregate import AggregateMachine
from australis.reference.boxes.asof import AsOfMachine
from australis.reference.boxes.distinct import DistinctMachine
from australis.reference.boxes.drop import DropMachine
from australis.reference.boxes.earlier import ChangesMachine, LagMachine
from australis.reference.boxes.join import JoinMachine
from australis.reference.boxes.number import NumberMachine
from australis.reference.boxes.resample import ResampleMachine
from australis.reference.boxes.sort import BSortMachine, WSortMachine
from australis.reference.boxes.stateless import FilterMachine, MapMachine, UnionMachine, UnnestMachine
from australis.reference.boxes.top import TopMachine
from australis.reference.boxes.tumble import TumbleMachine

__all__ = [
    "AggregateMachine",
    "AsOfMachine",
    "BSortMachine",
    "ChangesMachine",
    "DistinctMachine",
    "DropMachine",
    "FilterMachine",
    "JoinMachine",
    "LagMachine",
    "MapMachine",
    "NumberMachine",
    "ResampleMachine",
    "TopMachine",
    "TumbleMachine",
    "UnionMachine",
    "UnnestMachine",
    "WSortMachine",
]
