"""Ends a run on Ctrl-C or SIGTERM: it unwinds, or ends by itself, so that nothing incomplete is left."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import pyarrow as pa

from australis.app.exit_codes import INTERRUPTED, TERMINATED

Result = TypeVar("Result")


class Stop:
    """Handles the signals that end a run; each raises wherever the run is."""

    def __init__(self, before: Mapping[signal.Signals, Any] | None = None) -> None:
        self._before = before or {}
        self._number: int | None = None
        self._count = 0
        self._heeded = True
        self._deferred = False
        self._ask: Callable[[], None] | None = None

    @property
    def code(self) -> int:
        """The exit code of a run that a signal ended."""
        return INTERRUPTED if self._number == signal.SIGINT else TERMINATED

    def listen(self) -> None:
        """Install the handlers; called again where a library has installed its own."""
        for number, handler in self._before.items():
            # A shell starts background jobs with Ctrl-C ignored: it is meant for another program.
            signal.signal(number, signal.SIG_IGN if handler is signal.SIG_IGN else self.hear)

    def hear(self, number: int, frame: FrameType | None = None) -> None:
        """Unwind the run; while it unwinds, further signals must not disturb the clean-up."""
        self._number, self._count = number, self._count + 1
        if self._count == 1 and self._ask is not None:
            self._ask()
        # If the first signal has to wait, as for the other end of a pipe, the second one gets through.
        is_patient = self._deferred or self._ask is not None
        if self._count == (2 if is_patient else 1):
            self.check()

    def check(self) -> None:
        """Unwind the run if it should have ended: an exception in a library's callback may be lost."""
        if self._number is None or not self._heeded:
            return
        if self._number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(TERMINATED)

    @contextmanager
    def defer(self) -> Iterator[None]:
        """Handle a signal only after the block, which would leave something incomplete if interrupted."""
        self._deferred = True
        try:
            yield
        finally:
            self._deferred = False
        self.check()

    @contextmanager
    def gently(self, ask: Callable[[], None]) -> Iterator[None]:
        """Let the first signal ask the block to end, and the second one unwind it."""
        self._ask = ask
        self.listen()
        try:
            yield
        finally:
            self._ask = None

    def unless_stopped(self, work: Callable[[], Result]) -> Result:
        """Run something in a separate thread, which is abandoned if a signal comes.

        A call into the JVM cannot be interrupted: an exception during it would be lost, or leave the
        connection with half an answer. An abandoned thread ends with this process, and so does the JVM.
        """
        done: Future[Result] = Future()

        def run() -> None:
            try:
                done.set_result(work())
            except BaseException as error:
                done.set_exception(error)

        threading.Thread(target=run, name="australis-start", daemon=True).start()
        return done.result()

    def too_late(self) -> None:
        """Ignore signals from here on: the outputs are about to get their names, or to be discarded."""
        self._heeded = False


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Let Ctrl-C and SIGTERM unwind the block."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    stop = Stop(before)
    # Arrow would install its own handlers while it reads, which do not know ours.
    pa.enable_signal_handlers(False)
    try:
        stop.listen()
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        pa.enable_signal_handlers(True)
