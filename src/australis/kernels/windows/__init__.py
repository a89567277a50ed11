"""Windows of an Aggregate or Tumble: which are open, what they hold, when they close.

In: released tuples. Out: closed windows, and the tables that hold the open ones.
"""

from australis.kernels.windows.layout import ARRIVED, BEGAN, GROUP, OLDEST, PASSED, TIMED_OUT, VALUE, Layout
from australis.kernels.windows.open_windows import (
    NEVER,
    OpenWindows,
    WindowResults,
    group_marks,
    groups_of,
    in_order,
    joined_results,
)
from australis.kernels.windows.timeouts import deadline, fire
from australis.kernels.windows.windows import Groups, Openings, Releases, Steps

__all__ = [
    "ARRIVED",
    "BEGAN",
    "GROUP",
    "NEVER",
    "OLDEST",
    "PASSED",
    "TIMED_OUT",
    "VALUE",
    "Groups",
    "Layout",
    "OpenWindows",
    "Openings",
    "Releases",
    "Steps",
    "WindowResults",
    "deadline",
    "fire",
    "group_marks",
    "groups_of",
    "in_order",
    "joined_results",
]
