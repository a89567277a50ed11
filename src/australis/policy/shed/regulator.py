"""The regulator: how much more or less than the measured costs say has to be shed, by the work that waits.

Costs are measured, rates are counted over seconds, and a node also does other work, so what a plan sheds is
always a little too much or too little. A queue adds up that little, until its output is late or nothing waits
at all. So while drop boxes stand, the work that waits is held at a part of what outputs allow: the error acts
directly, and what remains of it adds up to a correction of all costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

WANTED = 0.25
"""The part of the tightest good zone that the work which waits should take while some is shed: workers are
never idle, trains are worth their fixed cost, and there is room for what is not foreseen."""
ERROR_S = 1.5
"""An error counts as at most so many seconds: beyond that the backlog is planned for as a whole."""
PACE, PACE_AT_FIRST = 0.08, 0.35
"""How fast the correction follows, in radians per second: slower than trains and measurements."""
AT_FIRST_S = 12.0
"""In what time it slows down, as long as errors are small: what then changes the waiting is mostly noise."""
MOST, LEAST = 1.0, -0.4
"""How far costs can seem to be underestimated, or overestimated."""
SMOOTH_S = 1.5
FORGET_S = 10.0
"""In what time a correction fades when nothing is shed."""


@dataclass
class Regulator:
    """Corrects costs: critically damped, since a queue is the sum of all past errors.

    >>> regulator = Regulator()
    >>> for _ in range(25):
    ...     regulator.note(work_s=1.5, zone_s=2.0, seconds=0.2, is_shedding=True)
    >>> regulator.dearer > 1.5, regulator.learned > 0.3
    (True, True)
    """

    learned: float = 0.0
    """The fraction by which costs were too low, by the errors that have added up."""
    error_s: float = 0.0
    """By how much too much work waits, lately."""

    shedding_s: float = 0.0
    """For how long something has been shed."""

    @property
    def dearer(self) -> float:
        """The factor by which costs are to be corrected now."""
        return max(1.0 + self.learned + 2.0 * self.pace * self.error_s, 1.0 + LEAST)

    @property
    def pace(self) -> float:
        """How fast the correction follows now."""
        hurry = max(math.exp(-self.shedding_s / AT_FIRST_S), abs(self.error_s) / ERROR_S)
        return PACE + (PACE_AT_FIRST - PACE) * hurry

    def note(self, work_s: float, zone_s: float, seconds: float, *, is_shedding: bool) -> None:
        """Note how long all workers need for what waits, and how long the tightest good zone is.

        Not how old the oldest tuple is: it also waits for its turn, however little there is to do.
        """
        error_s = work_s - WANTED * min(zone_s, 2 * ERROR_S)
        error_s = min(max(error_s, -ERROR_S), ERROR_S)
        self.error_s += (error_s - self.error_s) * follow(seconds, SMOOTH_S)
        self.shedding_s = self.shedding_s + seconds if is_shedding else 0.0
        if is_shedding:
            self.learned = min(max(self.learned + self.pace**2 * error_s * seconds, LEAST), MOST)
        else:
            # That too much was shed shows only that the load is gone.
            self.learned = max(self.learned, 0.0) * (1.0 - follow(seconds, FORGET_S))


def follow(seconds: float, time_s: float) -> float:
    """The part of a difference that is made up for in some seconds.

    >>> round(follow(1.0, 2.0), 3), follow(0.0, 2.0)
    (0.393, 0.0)
    """
    return 1.0 - math.exp(-seconds / time_s)
