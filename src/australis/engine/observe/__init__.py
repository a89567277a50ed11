"""What is known of a node: statistics, quality of service, metrics, and a look at a root from outside.

In: the ledger. Out: reports. Nothing here changes anything.
"""

from typing import TYPE_CHECKING

from australis.engine.observe.arcs import (
    ArcStatistics,
    arc_statistics,
    waiting_range,
    waiting_segments,
)
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
    quality_of,
    statistics_of,
)
from australis.engine.observe.train_times import TrainTimes
from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.engine.observe.metrics import Metrics, counter, gauge, metrics_text
    from australis.engine.observe.verification import Verification, empty_trash, verify
else:
    # Prometheus is slow to load, and few nodes have metrics; few commands verify.
    __getattr__ = lazy_exports(
        __name__,
        {
            "metrics": ("Metrics", "counter", "gauge", "metrics_text"),
            "verification": ("Verification", "empty_trash", "verify"),
        },
    )

__all__ = [
    "WINDOW_S",
    "ArcStatistics",
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
    "TrainTimes",
    "Verification",
    "arc_statistics",
    "counter",
    "discards_upstream",
    "empty_trash",
    "gauge",
    "holds_tables",
    "kept_by",
    "late_at",
    "live",
    "look",
    "metrics_text",
    "monitor",
    "optimised",
    "quality_of",
    "running",
    "shed",
    "statistics_of",
    "verify",
    "waiting_range",
    "waiting_segments",
]
