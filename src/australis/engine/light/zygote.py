"""The driver's end of the zygote: the process that has the kernels in memory and forks workers.

The driver has threads, so it cannot fork itself. It sends its requests over a socket: to start a worker, with
a connection to the driver, or to kill one. The socket closes with the driver, whatever ends it, and the
zygote and all workers end with the socket.
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
"""The request, and the number of the worker. With `FORK` comes its end of the connection."""
_MAIN = """
import gc, sys
gc.disable()  # All that is loaded stays.
sys.path[:] = {path}
from australis.engine.light.zygote_main import main
main({socket}, {pid})
"""


class Zygote:
    """A zygote, which starts at once; requests made before it is ready are served then."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = _start(theirs.fileno())

    def fork(self, number: int, connection: Connection) -> None:
        """Start a worker at one end of a connection. Raises `OSError` if the zygote has ended."""
        socket.send_fds(self._socket, [MESSAGE.pack(FORK, number)], [connection.fileno()])

    def kill(self, number: int) -> None:
        """Kill a worker, if it exists."""
        # Workers do not outlive their zygote.
        with suppress(OSError):
            self._socket.sendall(MESSAGE.pack(KILL, number))

    def end(self) -> None:
        """End it, and its workers with it."""
        self._process.kill()
        self._process.wait()
        self._socket.close()


def _start(theirs: int) -> subprocess.Popen[bytes]:
    """Start the process, able to import the same modules as this one; it shares this one's standard error."""
    code = _MAIN.format(path=[os.path.abspath(each) for each in sys.path], socket=theirs, pid=os.getpid())
    try:
        # In its own process group: Ctrl-C in a terminal is for the driver, which then decides what ends.
        return subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.DEVNULL, pass_fds=[theirs], process_group=0
        )
    except OSError as error:
        what = f"cannot start a process of {sys.executable!r}: {error}"
        raise EngineError(Problem("runner", what, "a Python that can be started")) from error
