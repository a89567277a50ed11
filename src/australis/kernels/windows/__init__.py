"""Windows of an Aggregate or Tumble: which are open, what they hold, when they close.

In: released tuples. Out: closed windows, and the tables that hold the open ones.
"""

from australis.kernels.windows.forgetting import (
    Eras,
    eras_of,
    known_until,
    last_values,
    no_eras,
    quiet_groups,
)
from australis.kernels.windows.gaps import (
    EmptyWindows,
    Tails,
    closed_between,
    closed_by_mark,
    existing,
    following,
    tails_of,
)
from australis.kernels.windows.layout import (
    ARRIVED,
    BEGAN,
    GROUP,
    LAST_ARRIVED,
    LAST_VALUE,
    OLDEST,
    PASSED,
    TIMED_OUT,
    VALUE,
    Layout,
)
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
from australis.kernels.windows.timeouts import deadline, deadlines, fire, running_groups
from australis.kernels.windows.windows import Groups, Openings, Releases, Sessions, Steps

__all__ = [
    "ARRIVED",
    "BEGAN",
    "GROUP",
    "LAST_ARRIVED",
    "LAST_VALUE",
    "NEVER",
    "OLDEST",
    "PASSED",
    "TIMED_OUT",
    "VALUE",
    "EmptyWindows",
    "Eras",
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
    "eras_of",
    "existing",
    "fire",
    "following",
    "group_marks",
    "groups_of",
    "in_order",
    "joined_results",
    "known_until",
    "last_values",
    "local_clock",
    "no_eras",
    "quiet_groups",
    "running_groups",
    "tails_of",
]
