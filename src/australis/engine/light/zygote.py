"""The driver's end of the zygote: the process that has the kernels in memory and forks workers.

The driver has threads, so it cannot fork itself. It says by a socket what it wants: workers that begin, each
with a connection to the driver, and workers that are killed. The socket ends with the driver, whatever ends
it, and the zygote and all workers end with the socket.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

from australis.errors import EngineError, Problem

FORK, KILL = b"f", b"k"
MESSAGE = struct.Struct("!cQ")
"""What is wanted, and the number of the worker. With `FORK` comes its end of the connection."""
_MAIN = """
import gc, sys
gc.disable()  # All that is loaded stays.
sys.path[:] = {path}
from australis.engine.light.zygote_main import main
main({socket}, {pid})
"""


class Zygote:
    """A zygote, which begins at once; what is asked of it before it is ready is done then."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = _start(theirs.fileno())

    def fork(self, number: int, connection: Connection) -> None:
        """Begin a worker at one end of a connection. Raises `OSError` if the zygote has ended."""
        socket.send_fds(self._socket, [MESSAGE.pack(FORK, number)], [connection.fileno()])

    def kill(self, number: int) -> None:
        """End a worker at once, if it is there."""
        # Workers do not outlive their zygote.
        with suppress(OSError):
            self._socket.sendall(MESSAGE.pack(KILL, number))

    def end(self) -> None:
        """End it, and its workers with it."""
        self._process.kill()
        self._process.wait()
        self._socket.close()


def _start(theirs: int) -> subprocess.Popen[bytes]:
    """Start the process, with the modules of this one in reach; its errors go where those of this one go."""
    code = _MAIN.format(path=[os.path.abspath(each) for each in sys.path], socket=theirs, pid=os.getpid())
    try:
        # In a group of its own: Ctrl-C in a terminal is for the driver, which then decides what ends.
        return subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.DEVNULL, pass_fds=[theirs], process_group=0
        )
    except OSError as error:
        what = f"cannot start a process of {sys.executable!r}: {error}"
        raise EngineError(Problem("runner", what, "a Python that can be started")) from error
