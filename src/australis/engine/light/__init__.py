"""Trains in a pool of local processes, without a JVM: the light runner.

In: waybills. Out: manifests. The driver (`runner`, `pool`, `zygote`) starts one process, which loads the
kernels and forks the workers (`zygote_main`, `worker_loop`).
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.engine.light.runner import LightRunner
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "runner": ("LightRunner",),
        },
    )

__all__ = [
    "LightRunner",
]
