"""The parent of Spark's Python workers: it has the kernels in memory before it forks them.

Spark starts it by the setting `spark.python.daemon.module`.
"""

from __future__ import annotations

import gc

from pyspark.daemon import manager

import australis.engine.tasks  # noqa: F401  (its kernels are what every worker needs)
from australis.engine.warm import warm

if __name__ == "__main__":
    warm()
    # A worker collects garbage after every task: what was there before the fork is never any.
    gc.freeze()
    manager()
