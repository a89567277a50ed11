"""The kernels of boxes with two inputs: Join, as-of join and Resample.

In: a state, and batches of either or both ports. Out: a state, and pairs, tuples alone or results of windows.
"""

from australis.kernels.boxes.two_inputs.asof import AsOfKernel
from australis.kernels.boxes.two_inputs.join import JoinKernel
from australis.kernels.boxes.two_inputs.keyed_resample import KeyedResampleKernel
from australis.kernels.boxes.two_inputs.lookup_join import Ask, LookupJoinKernel
from australis.kernels.boxes.two_inputs.outer_join import OuterJoinKernel
from australis.kernels.boxes.two_inputs.progress_resample import ProgressResampleKernel
from australis.kernels.boxes.two_inputs.resample import ResampleKernel
from australis.kernels.boxes.two_inputs.table_join import TableJoinKernel
from australis.kernels.boxes.two_inputs.two_streams import TwoStreamsKernel

__all__ = [
    "AsOfKernel",
    "Ask",
    "JoinKernel",
    "KeyedResampleKernel",
    "LookupJoinKernel",
    "OuterJoinKernel",
    "ProgressResampleKernel",
    "ResampleKernel",
    "TableJoinKernel",
    "TwoStreamsKernel",
]
