"""The parent of Spark's Python workers: it has the kernels in memory before it forks them.

Spark starts it by the setting `spark.python.daemon.module`.
"""

from __future__ import annotations

import gc
import socket

from pyspark import daemon

from australis.engine.worker import warm_up

_work = daemon.worker
LET_GO = 1


def work(sock: socket.socket, authenticated: bool) -> int:
    """Serve tasks until Spark lets the worker go, as it does with one that was idle for a minute."""
    try:
        return int(_work(sock, authenticated))
    except BrokenPipeError:
        # It has just gone, without a word; nobody has to read about it.
        return LET_GO


if __name__ == "__main__":
    warm_up()
    # A worker collects garbage after every task: what was there before the fork is never any.
    gc.freeze()
    daemon.worker = work
    daemon.manager()
