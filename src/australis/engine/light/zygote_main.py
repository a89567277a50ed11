"""The zygote itself: loads and warms the kernels, then forks a worker whenever the driver asks for one."""

from __future__ import annotations

import ctypes
import gc
import importlib
import io
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection

from australis.engine.light.hidden_packages import hide_pandas, hide_scipy
from australis.engine.light.zygote import FORK, MESSAGE

LOOK_S = 5.0
"""How often the zygote checks whether its driver lives: a driver that has forked leaves the socket open."""
_STDOUT, _STDERR = 1, 2
_PR_SET_PDEATHSIG = 1
"""Linux: the option for the signal a process gets when its parent ends."""

Work = Callable[[Connection], None]


def main(driver: int, pid: int) -> None:
    """Serve the driver with a process id at the other end of a socket, until that closes."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Signals sent to all processes of a service or a terminal are for the driver, and this ends with it.
        signal.signal(ignored, signal.SIG_IGN)
    # What a user's function prints must not get among the tuples that a driver writes.
    os.dup2(_STDERR, _STDOUT)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    server = _Server(socket.socket(fileno=driver), pid, _load_work())
    try:
        server.serve()
    finally:
        server.kill_all()
        # At once: there is nothing to clean up.
        os._exit(0)


def _load_work() -> Work:
    """Load the worker's code and the kernels, and keep them from the garbage collector."""
    hide_pandas()
    work: Work = importlib.import_module("australis.engine.light.worker_loop").work
    with hide_scipy():
        importlib.import_module("australis.engine.worker").warm_up()
    gc.freeze()
    gc.enable()
    return work


class _Server:
    def __init__(self, driver: socket.socket, pid: int, work: Work) -> None:
        self._driver, self._pid, self._work = driver, pid, work
        self._workers: dict[int, int] = {}
        """The process of each worker by its number, until it is reaped: until then the id is not reused."""

    def serve(self) -> None:
        self._driver.settimeout(LOOK_S)
        while os.getppid() == self._pid:
            # Nothing came: check whether the driver lives.
            with suppress(TimeoutError):
                message, connections, _, _ = socket.recv_fds(self._driver, MESSAGE.size, 1)
                if not message:
                    return
                what, number = MESSAGE.unpack(message)
                self._do(what, number, connections)
            self._reap()

    def kill_all(self) -> None:
        for pid in self._workers.values():
            os.kill(pid, signal.SIGKILL)

    def _do(self, what: bytes, number: int, connections: list[int]) -> None:
        if what == FORK:
            with Connection(connections[0]) as connection:
                self._fork(number, connection)
        elif number in self._workers:
            os.kill(self._workers[number], signal.SIGKILL)

    def _fork(self, number: int, connection: Connection) -> None:
        zygote = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            # No resources for another process: the driver sees the connection end, and tries again.
            traceback.print_exc()
            return
        if pid == 0:
            self._be_worker(zygote, connection)
        self._workers[number] = pid

    def _be_worker(self, zygote: int, connection: Connection) -> None:
        try:
            _end_with(zygote)
            self._driver.close()
            self._work(connection)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(0)

    def _reap(self) -> None:
        for number, pid in list(self._workers.items()):
            if os.waitpid(pid, os.WNOHANG)[0]:
                del self._workers[number]


def _end_with(zygote: int) -> None:
    """Let this worker end with its zygote, at once on Linux; elsewhere when its connection ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != zygote:
        os._exit(0)
