"""Time limits of user functions: a signal interrupts a call that takes too long, wherever it is.

Only the main thread of a process gets signals. That is where workers run tasks; elsewhere only the limit of
the train applies. Code that never returns to Python is not interrupted either.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from australis.algebra.user_functions import CallOverran


@contextmanager
def interrupt_after(limit_us: int) -> Iterator[None]:
    """Raise `CallOverran` inside the block after a number of microseconds."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_inside = True

    def interrupt(number: int, frame: FrameType | None) -> None:
        # A signal at the last moment must not hit what follows.
        if is_inside:
            raise CallOverran

    handler = signal.signal(signal.SIGALRM, interrupt)
    before = signal.setitimer(signal.ITIMER_REAL, limit_us / 1e6)
    try:
        yield
    finally:
        is_inside = False
        signal.setitimer(signal.ITIMER_REAL, *before)
        signal.signal(signal.SIGALRM, handler)
