"""The real world: nodes that run networks over files, tables and clocks, on Spark or on local processes.

In: networks, settings, tuples, and a runner for trains. Out: committed trains, outputs and statistics.
Importing the package starts nothing, and loads modules on first use. It does not know the simulator: both run
the same policies.
"""

import logging
from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.engine.change import Difference, SplitChange
    from australis.engine.clock import LogClock, wall_clock
    from australis.engine.node import Node
    from australis.engine.observe import Statistics
    from australis.engine.runner import LIGHT, MASTER, SPARK, Runner, light_tasks
    from australis.engine.settings import WORKER_WAIT, WORKER_WAIT_S, NodeSettings
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "change": ("Difference", "SplitChange"),
            "clock": ("LogClock", "wall_clock"),
            "node": ("Node",),
            "observe": ("Statistics",),
            "runner": ("LIGHT", "MASTER", "SPARK", "Runner", "light_tasks"),
            "settings": ("WORKER_WAIT", "WORKER_WAIT_S", "NodeSettings"),
        },
    )

# The program that uses the engine as a library configures its logging; by default there is none.
logging.getLogger("australis").addHandler(logging.NullHandler())

__all__ = [
    "LIGHT",
    "MASTER",
    "SPARK",
    "WORKER_WAIT",
    "WORKER_WAIT_S",
    "Difference",
    "LogClock",
    "Node",
    "NodeSettings",
    "Runner",
    "SplitChange",
    "Statistics",
    "light_tasks",
    "wall_clock",
]
