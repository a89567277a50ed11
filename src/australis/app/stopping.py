"""Ends a run on Ctrl-C or a polite kill: it unwinds, so that nothing half is left."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pyarrow as pa

_TERMINATED = 143


class Stop:
    """Hears the signals that end a run, each of which raises where the run is."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._heeded = True
        self._deferred = False

    def hear(self, number: int, frame: FrameType | None = None) -> None:
        """Unwind the run; once it unwinds, further signals must not disturb the clean-up."""
        first, self._number = self._number is None, number
        # Opening may wait for the other end of a pipe: the second signal gets through there.
        if first != self._deferred:
            self.check()

    def check(self) -> None:
        """Unwind the run if it should have ended: an exception out of a callback of a library may be lost."""
        if self._number is None or not self._heeded:
            return
        if self._number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(_TERMINATED)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Hear a signal only behind what runs inside, which would leave something if it was cut in two."""
        self._deferred = True
        try:
            yield
        finally:
            self._deferred = False
        self.check()

    def too_late(self) -> None:
        """From here on signals change nothing: the outputs are about to get their names, or to go."""
        self._heeded = False


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Let Ctrl-C and a polite kill unwind what runs inside."""
    stop = Stop()
    # Arrow would put in handlers of its own while it reads, and those do not know of ours.
    pa.enable_signal_handlers(False)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # A shell starts what runs in the background with Ctrl-C ignored, for it is meant for another program.
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    try:
        for number in heard:
            signal.signal(number, stop.hear)
        yield stop
    finally:
        for number in heard:
            signal.signal(number, before[number])
        pa.enable_signal_handlers(True)
