"""Cuts: limits the trains of superboxes whose trains were too large, and sets tuples aside.

A train that takes too long, or needs more memory than there is, is retried with fewer numbers, down to one.
The tuples of a number that fails even alone are set aside, if they are to blame: a lost worker may have been
lost for any reason. None of this is stored: a restarted node learns it again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from australis.engine.ledger import Queues
from australis.engine.train.dispatch import Dispatched
from australis.engine.worker import OutOfMemory, Overran, TaskFault, TooLarge
from australis.errors import EngineError
from australis.plan.superboxes import Superbox

SHARE = 8
"""A failed train is retried with its numbers divided by this, so that few failures have to be waited for."""
ALONE_TRIES = 2
"""How often a number must fail alone before its tuples are set aside."""
KEPT_TRAINS = 16
"""For how many trains a size is kept; then each may have twice as many numbers as the one before."""
FORGOTTEN_SIZE = 1 << 24
"""A cut that has grown beyond this is removed."""
_log = logging.getLogger(__name__)

TooMuch = (Overran, TooLarge, TaskFault)
"""The failures after which trains are retried with fewer tuples."""


@dataclass(frozen=True)
class Cut:
    """What is known of a superbox whose train failed."""

    superbox: Superbox
    end: int
    """A train up to this number failed: the cause is somewhere before it."""
    size: int
    """How many numbers its next trains may have."""
    failed_alone: int = 0
    """How often its next number has failed alone."""
    reason: str = ""
    """Why the tuples of its next number are to be set aside."""
    kept: int = KEPT_TRAINS
    """For how many more trains the size stays."""


class Cuts:
    """The cuts of a node. Only the thread that decides on the next train, or has just run one, may use it."""

    def __init__(self) -> None:
        self._cuts: dict[str, Cut] = {}
        self._last_failed = -1

    def clear(self) -> None:
        """Forget everything that was learnt."""
        self._cuts.clear()

    def apart(self, queues: Queues, members: tuple[str, ...]) -> tuple[str, ...]:
        """The superboxes of the next train: only the first, if it is not known which of them fails."""
        found = [self._of(queues, member) for member in members]
        return members[:1] if any(cut is not None for cut in found) else members

    def end(self, queues: Queues, superbox: str, end: int) -> int:
        """Where the next train of a superbox ends at the latest."""
        cut = self._of(queues, superbox)
        return end if cut is None else min(end, queues.positions[superbox] + cut.size)

    def reason(self, queues: Queues, superbox: str) -> str:
        """Why the tuples of the next train of a superbox are set aside; empty if they are not."""
        cut = self._of(queues, superbox)
        return "" if cut is None else cut.reason

    def note_failure(self, dispatched: Dispatched, error: EngineError) -> bool:
        """Note a failed train; returns whether it is retried, with fewer tuples or with them set aside."""
        self._last_failed = dispatched.reader
        superboxes, (name, *others) = dispatched.plan.superboxes, dispatched.members
        lo, hi = dispatched.lo, dispatched.hi
        if others:
            self._cuts |= {each: Cut(superboxes[each], hi, hi - lo) for each in dispatched.members}
            return True
        if hi - lo > 1:
            size = (hi - lo + SHARE - 1) // SHARE
            self._cuts[name] = Cut(superboxes[name], hi, size)
            _log.warning("a train failed and is tried with %d of its %d numbers: %s", size, hi - lo, error)
            return True
        return self._note_failure_alone(name, Cut(superboxes[name], hi, 1), error)

    def is_tried_again(self, dispatched: Dispatched) -> bool:
        """Whether a failed train is about to be retried with fewer tuples."""
        return self._last_failed == dispatched.reader

    def _note_failure_alone(self, name: str, fresh: Cut, error: EngineError) -> bool:
        """Note that the train of a single number failed."""
        known = self._cuts.get(name, fresh)
        known = known if known.end >= fresh.end else fresh
        tries = known.failed_alone + 1
        if isinstance(error, OutOfMemory) and tries < ALONE_TRIES:
            # Next time its worker may be a new one.
            self._cuts[name] = replace(known, size=1, failed_alone=tries)
            return True
        if known.reason or isinstance(error, TooLarge):
            # It failed even without its tuples, or they may be blameless.
            return False
        reason = error.problem.what if tries >= ALONE_TRIES else ""
        self._cuts[name] = replace(known, size=1, failed_alone=tries, reason=reason)
        if reason:
            _log.warning("the tuples of number %d go to the quarantine: %s", fresh.end - 1, error)
        return True

    def note_success(self, dispatched: Dispatched) -> None:
        """A train was committed."""
        for name in dispatched.members:
            cut = self._cuts.get(name)
            if cut is not None:
                self._cuts[name] = _after(cut, dispatched.hi)
                if self._cuts[name].size > FORGOTTEN_SIZE:
                    del self._cuts[name]

    def _of(self, queues: Queues, name: str) -> Cut | None:
        """What is known of a superbox, unless another one has replaced it."""
        cut = self._cuts.get(name)
        return cut if cut is not None and queues.plan.superboxes.get(name) == cut.superbox else None


def _after(cut: Cut, hi: int) -> Cut:
    """What is known after a train that reached a number: within what failed, the size stays."""
    # The tuples that were set aside were the cause.
    cut = replace(cut, end=hi if cut.reason else cut.end, failed_alone=0, reason="")
    if hi < cut.end:
        return cut
    return replace(cut, kept=cut.kept - 1) if cut.kept else replace(cut, size=cut.size * 2)
