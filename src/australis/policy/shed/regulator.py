"""The regulator: how much more or less than the measured costs say has to be shed, by how long tuples wait.

Costs are measured, rates are counted over seconds, and a node also does other work, so what a plan sheds is
always a little too much or too little. A queue adds up that little, until its output is late or nothing waits
at all. So while drop boxes stand, waiting is held at a part of the time that outputs allow: the error acts
directly, and what remains of it adds up to a correction of all costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

WANTED = 0.4
"""The part of the time allowed that tuples should wait while some are shed: a queue that is never empty keeps
the workers busy, and one this long leaves room for what is not foreseen."""
ERROR_S = 1.5
"""An error counts as at most so many seconds: beyond that the backlog is planned for as a whole."""
PACE = 0.25
"""How fast the correction follows, in radians per second: slower than trains and measurements."""
MOST, LEAST = 1.0, -0.4
"""How far costs can seem to be underestimated, or overestimated."""
SMOOTH_S = 1.0
FORGET_S = 10.0
"""In what time a correction fades when nothing is shed."""


@dataclass
class Regulator:
    """Corrects costs: critically damped, since a queue is the sum of all past errors.

    >>> regulator = Regulator()
    >>> for _ in range(25):
    ...     regulator.note(part=0.9, allowed_s=2.0, seconds=0.2, is_shedding=True)
    >>> regulator.dearer > 1.5, round(regulator.learned, 2)
    (True, 0.31)
    """

    learned: float = 0.0
    """The fraction by which costs were too low, by the errors that have added up."""
    error_s: float = 0.0
    """By how long tuples wait too long, lately."""

    @property
    def dearer(self) -> float:
        """The factor by which costs are to be corrected now."""
        return max(1.0 + self.learned + 2.0 * PACE * self.error_s, 1.0 + LEAST)

    def note(self, part: float, allowed_s: float, seconds: float, *, is_shedding: bool) -> None:
        """Note that tuples wait for a part of the time that their output allows."""
        error_s = (part - WANTED) * min(allowed_s, 2 * ERROR_S)
        error_s = min(max(error_s, -ERROR_S), ERROR_S)
        self.error_s += (error_s - self.error_s) * follow(seconds, SMOOTH_S)
        if is_shedding:
            self.learned = min(max(self.learned + PACE**2 * error_s * seconds, LEAST), MOST)
        else:
            # That too much was shed shows only that the load is gone.
            self.learned = max(self.learned, 0.0) * (1.0 - follow(seconds, FORGET_S))


def follow(seconds: float, time_s: float) -> float:
    """The part of a difference that is made up for in some seconds.

    >>> round(follow(1.0, 2.0), 3), follow(0.0, 2.0)
    (0.393, 0.0)
    """
    return 1.0 - math.exp(-seconds / time_s)
