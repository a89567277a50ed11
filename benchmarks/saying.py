"""How far a benchmark is, on standard error; and its end by Ctrl-C, which is no failure of the program.

The last line on standard output stays JSON, whatever is said.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import NoReturn, TypeVar

Item = TypeVar("Item")
INTERRUPTED, TERMINATED = 130, 143
EVERY_S = 5.0


def say(text: str) -> None:
    """Say something that is no result."""
    print(text, file=sys.stderr, flush=True)


def steps(what: str, items: Iterable[Item], total: int | None = None) -> Iterator[Item]:
    """The items, and every few seconds how many of them are done."""
    count = len(items) if total is None and isinstance(items, Sized) else total
    of = "" if count is None else f" of {count:,}"
    began = said = time.monotonic()
    say(f"{what} ...")
    for done, item in enumerate(items):
        if time.monotonic() - said >= EVERY_S:
            said = time.monotonic()
            say(f"{what}: {done:,}{of} done, {said - began:.0f} s")
        yield item


def run(main: Callable[[], int | None]) -> NoReturn:
    """Run a benchmark; Ctrl-C and a polite kill end it with its own clean-up, and without a traceback."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        code = main()
    except KeyboardInterrupt:
        say("interrupted")
        code = INTERRUPTED
    sys.exit(code or 0)
