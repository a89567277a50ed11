"""What is known of a node: statistics, quality of service, metrics, and a look at a root from outside.

In: the ledger. Out: reports. Nothing here changes anything.
"""

from typing import TYPE_CHECKING

from australis.engine.observe.discards import Discards, InputStatistics, discards_upstream, late_at
from australis.engine.observe.inspect import holds_tables, look, optimised, running, shed
from australis.engine.observe.live_network import live
from australis.engine.observe.marks import InputMarkStatistics, OrderMarkStatistics
from australis.engine.observe.quality import WINDOW_S, OutputQuality, QualityReport, kept_by, monitor
from australis.engine.observe.statistics import (
    BoxStatistics,
    OutputStatistics,
    Statistics,
    SuperboxStatistics,
    statistics_of,
)
from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.engine.observe.metrics import Metrics
    from australis.engine.observe.verification import Verification, empty_trash, verify
else:
    # Prometheus is slow to load, and few nodes have metrics; few commands verify.
    __getattr__ = lazy_exports(
        __name__, {"metrics": ("Metrics",), "verification": ("Verification", "empty_trash", "verify")}
    )

__all__ = [
    "WINDOW_S",
    "BoxStatistics",
    "Discards",
    "InputMarkStatistics",
    "InputStatistics",
    "Metrics",
    "OrderMarkStatistics",
    "OutputQuality",
    "OutputStatistics",
    "QualityReport",
    "Statistics",
    "SuperboxStatistics",
    "Verification",
    "discards_upstream",
    "empty_trash",
    "holds_tables",
    "kept_by",
    "late_at",
    "live",
    "look",
    "monitor",
    "optimised",
    "running",
    "shed",
    "statistics_of",
    "verify",
]
