"""Windows of an Aggregate or Tumble: which are open, what they hold, when they close.

In: released tuples. Out: closed windows, and the tables that hold the open ones.
"""

from australis.kernels.windows.gaps import (
    EmptyWindows,
    Tails,
    closed_between,
    closed_by_mark,
    existing,
    following,
    tails_of,
)
from australis.kernels.windows.layout import ARRIVED, BEGAN, GROUP, OLDEST, PASSED, TIMED_OUT, VALUE, Layout
from australis.kernels.windows.local_clock import LocalClock, local_clock
from australis.kernels.windows.open_windows import (
    NEVER,
    OpenWindows,
    WindowResults,
    group_marks,
    groups_of,
    in_order,
    joined_results,
)
from australis.kernels.windows.timeouts import deadline, deadlines, fire
from australis.kernels.windows.windows import Groups, Openings, Releases, Sessions, Steps

__all__ = [
    "ARRIVED",
    "BEGAN",
    "GROUP",
    "NEVER",
    "OLDEST",
    "PASSED",
    "TIMED_OUT",
    "VALUE",
    "EmptyWindows",
    "Groups",
    "Layout",
    "LocalClock",
    "OpenWindows",
    "Openings",
    "Releases",
    "Sessions",
    "Steps",
    "Tails",
    "WindowResults",
    "closed_between",
    "closed_by_mark",
    "deadline",
    "deadlines",
    "existing",
    "fire",
    "following",
    "group_marks",
    "groups_of",
    "in_order",
    "joined_results",
    "local_clock",
    "tails_of",
]
