"""A run that cannot continue, and a report of what each thread waits for."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from australis.errors import Problem, SimulationError

if TYPE_CHECKING:
    from australis.sim.machine.lives import VirtualThread

FRAMES_MOST = 12
_HIDDEN = (str(Path(__file__).parent), threading.__file__)


class Stuck(SimulationError):
    """No thread can run, or the run does not end; the message says what each thread waits for, and where."""


def stuck(why: str, threads: Iterable[VirtualThread]) -> Stuck:
    """The error for the current state of the threads."""
    frames = sys._current_frames()
    lines = [line for thread in threads for line in (_status(thread), *_stack(frames.get(thread.ident)))]
    return Stuck(Problem("simulation", "\n".join([why, *lines])))


def _status(thread: VirtualThread) -> str:
    doing = "can run" if thread.awaits is None else f"waits for {thread.awaits}"
    return f"  {thread.name} of {thread.life.name} {doing}"


def _stack(frame: object) -> list[str]:
    """The stack of a thread, without the frames of the simulator and of `threading`."""
    found = traceback.StackSummary.extract(traceback.walk_stack(frame)) if frame else []  # type: ignore[arg-type]
    outside = [each for each in found if not each.filename.startswith(_HIDDEN)][:FRAMES_MOST]
    return [f"    {each.filename}:{each.lineno} {each.name}: {each.line}" for each in outside]
