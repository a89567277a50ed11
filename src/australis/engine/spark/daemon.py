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
    """Serve tasks until Spark ends the worker, as it does after a minute without work."""
    try:
        return int(_work(sock, authenticated))
    except BrokenPipeError:
        # It has just gone; nobody has to read about it.
        return LET_GO


if __name__ == "__main__":
    warm_up()
    # A worker collects garbage after every task: objects from before the fork are never garbage.
    gc.freeze()
    daemon.worker = work
    daemon.manager()
