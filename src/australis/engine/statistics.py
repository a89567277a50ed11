"""Statistics of a node: what went through each box at what cost, what waits, how late each output is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from australis.compile.superboxes import Plan
from australis.engine.delays import quantile_us
from australis.engine.dropboxes import Entry, ledger
from australis.engine.monitor import WINDOW_S, QualityReport, is_observed, monitor
from australis.engine.queues import Queues
from australis.engine.recents import recent
from australis.engine.storage.catalog import Catalog


@dataclass(frozen=True)
class BoxStatistics:
    """What went through a box so far."""

    received: int = 0
    emitted: int = 0
    late: int = 0
    ignored: int = 0
    rejected: int = 0
    unread: int = 0
    """Of the tuples emitted, those on ports that nobody reads."""
    nanoseconds: int = 0
    trains: int = 0

    @property
    def passed(self) -> int:
        """The tuples emitted that somebody reads."""
        return self.emitted - self.unread

    @property
    def selectivity(self) -> float | None:
        """Tuples that somebody reads for each tuple in."""
        return self.passed / self.received if self.received else None

    @property
    def cost_us(self) -> float | None:
        """Microseconds for each tuple in."""
        return self.nanoseconds / 1000 / self.received if self.received else None


@dataclass(frozen=True)
class OutputStatistics:
    """What left on an output, and how late."""

    tuples: int
    delay_ms_p50: float | None
    delay_ms_p95: float | None
    delay_ms_p99: float | None
    delay_buckets: Mapping[int, int]


@dataclass(frozen=True)
class SuperboxStatistics:
    """How far a superbox has come, and what its last trains were like."""

    boxes: tuple[str, ...]
    queue: int
    head: int
    trains: int
    tuples_per_train: float | None
    train_ms_p50: float | None


@dataclass(frozen=True)
class Statistics:
    """Everything that is known of a node at a moment."""

    network: str
    log_end: int
    boxes: Mapping[str, BoxStatistics]
    outputs: Mapping[str, OutputStatistics]
    superboxes: Mapping[str, SuperboxStatistics]
    arcs: Mapping[str, int]
    """Tuples that each arc keeps."""
    bytes: int
    """What segments take on disk, without adopted files."""
    quality: QualityReport | None
    """What outputs got in the seconds before the last train; None where none has graphs."""
    dropboxes: tuple[Entry, ...]
    """All drop boxes that stood or stand, and what each has shed."""
    shed: Mapping[str, int]
    """Tuples shed on the way to each output that lost any."""

    def as_dict(self) -> dict[str, Any]:
        found = asdict(self)
        for name, box in self.boxes.items():
            found["boxes"][name] |= {"selectivity": box.selectivity, "cost_us": box.cost_us}
        return found


def statistics(plan: Plan, queues: Queues, catalog: Catalog) -> Statistics:
    """The statistics of a node, as they were committed."""
    known = {row[0]: BoxStatistics(*row[1:]) for row in catalog.rows("select * from box")}
    entries = ledger(catalog)
    return Statistics(
        plan.network.name,
        queues.log_end,
        {box: known.get(box, BoxStatistics()) for box in plan.network.order},
        _outputs(plan, catalog),
        {name: _superbox(name, plan, queues, catalog) for name in plan.superboxes},
        {arc: sum(segment.rows for segment in found) for arc, found in queues.segments.items()},
        queues.bytes,
        _quality(plan, queues, catalog),
        tuple(entries),
        _shed(plan, entries),
    )


def _quality(plan: Plan, queues: Queues, catalog: Catalog) -> QualityReport | None:
    if not is_observed(plan):
        return None
    (last,) = catalog.rows("select coalesce(max(at), 0) from train")[0]
    seen = recent(catalog, last // 1_000_000 - WINDOW_S + 1, last // 1_000_000 + 1)
    return monitor(plan, queues, seen, last)


def _shed(plan: Plan, entries: Sequence[Entry]) -> dict[str, int]:
    """What was shed at the mouths of the superboxes that lead to each output."""
    ways = plan.ways()
    found = {
        name: sum(entry.shed for entry in entries if entry.superbox in ways[name])
        for name in plan.network.outputs
    }
    return {name: tuples for name, tuples in found.items() if tuples}


def _outputs(plan: Plan, catalog: Catalog) -> dict[str, OutputStatistics]:
    delays: dict[str, dict[int, int]] = {name: {} for name in plan.outputs}
    for output, bucket, tuples in catalog.rows("select output, bucket, tuples from delay"):
        delays.setdefault(output, {})[bucket] = tuples
    return {name: _output(buckets) for name, buckets in delays.items()}


def _output(buckets: Mapping[int, int]) -> OutputStatistics:
    quantiles = (quantile_us(buckets, fraction) for fraction in (0.5, 0.95, 0.99))
    p50, p95, p99 = (None if each is None else round(each / 1000, 2) for each in quantiles)
    return OutputStatistics(sum(buckets.values()), p50, p95, p99, buckets)


def _superbox(name: str, plan: Plan, queues: Queues, catalog: Catalog) -> SuperboxStatistics:
    superbox, head = plan.superboxes[name], queues.heads[name]
    recent = catalog.rows("select received, run_us from train where superbox = ? order by id", name)
    times = sorted(run_us for _, run_us in recent)
    return SuperboxStatistics(
        superbox.boxes,
        queues.waiting(superbox),
        head.seq,
        head.version,
        sum(received for received, _ in recent) / len(recent) if recent else None,
        times[len(times) // 2] / 1000 if times else None,
    )
