"""The parent of Python workers: those that Spark lets go do so without a word."""

from __future__ import annotations

import os
import subprocess
import sys

HUNG_UP = """
import socket
from australis.engine.spark import daemon

ours, theirs = socket.socketpair()
theirs.close()
print(daemon.work(ours, True) == daemon.LET_GO)
"""


def test_a_worker_that_spark_has_hung_up_on_goes_quietly() -> None:
    # As Spark sets it for its workers.
    settings = {**os.environ, "PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE": "true"}
    ended = subprocess.run(
        [sys.executable, "-c", HUNG_UP], env=settings, capture_output=True, text=True, timeout=100, check=True
    )
    assert (ended.stdout, ended.stderr) == ("True\n", "")
