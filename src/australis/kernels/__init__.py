"""The order-sensitive boxes and the expressions, vectorised: (state, Arrow batch) -> (state, Arrow batch).

In: a box of the algebra, its state and a batch of tuples. Out: the next state and the batches of its outputs.
Nothing here reads a file, a clock or a socket, so a kernel runs the same in a Spark task, in a test and in
the simulator.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.kernels.run import PipelineRun
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "run": ("PipelineRun",),
        },
    )

__all__ = [
    "PipelineRun",
]
