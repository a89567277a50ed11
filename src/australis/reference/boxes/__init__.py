"""The meaning of each box, one tuple at a time.

In: a bound box and one event. Out: what the box emits. One file per family of boxes, named as in
`algebra.boxes` and `kernels.boxes`.
"""

from australis.reference.boxes.aggregate import AggregateMachine
from australis.reference.boxes.drop import DropMachine
from australis.reference.boxes.join import JoinMachine
from australis.reference.boxes.resample import ResampleMachine
from australis.reference.boxes.sort import BSortMachine, WSortMachine
from australis.reference.boxes.stateless import FilterMachine, MapMachine, UnionMachine
from australis.reference.boxes.tumble import TumbleMachine

__all__ = [
    "AggregateMachine",
    "BSortMachine",
    "DropMachine",
    "FilterMachine",
    "JoinMachine",
    "MapMachine",
    "ResampleMachine",
    "TumbleMachine",
    "UnionMachine",
    "WSortMachine",
]
