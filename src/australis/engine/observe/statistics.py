"""Statistics of a node: what each box processed at what cost, what waits, how late each output is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import msgspec

from australis.algebra.quality import Since
from australis.engine.ledger import (
    CORES,
    DISK,
    TRASH_BYTES,
    Catalog,
    Entry,
    GateCount,
    Queues,
    Recent,
    all_so_far,
    box_counts,
    drop_log,
    last_commit_at,
    last_trains,
    port_counts,
    quantile_us,
    recent,
)
from australis.engine.observe.arcs import ArcStatistics, arc_statistics
from australis.engine.observe.discards import Discards, InputStatistics, discards_upstream
from australis.engine.observe.limits import Measured, limit
from australis.engine.observe.marks import (
    InputMarkStatistics,
    OrderMarkStatistics,
    input_marks,
    order_marks,
)
from australis.engine.observe.quality import (
    WINDOW_S,
    QualityReport,
    fractions_delivered,
    is_observed,
    monitor,
)
from australis.engine.observe.waiting import waiting_once
from australis.engine.tables import TableState, table_states
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan

WITHDRAWN_SHOWN = 20
"""How many withdrawn drop boxes the statistics include; `Node.shed` has all of them."""


@dataclass(frozen=True)
class BoxStatistics:
    """What a box has processed so far."""

    received: int = 0
    emitted: int = 0
    late: int = 0
    ignored: int = 0
    rejected: int = 0
    unread: int = 0
    """The emitted tuples on ports that nobody reads."""
    nanoseconds: int = 0
    trains: int = 0
    state_bytes: int = 0
    """What its state takes on disk."""

    @property
    def passed(self) -> int:
        """The emitted tuples that somebody reads."""
        return self.emitted - self.unread

    @property
    def selectivity(self) -> float | None:
        """Tuples that somebody reads per tuple received."""
        return self.passed / self.received if self.received else None

    @property
    def cost_us(self) -> float | None:
        """Microseconds per tuple received."""
        return self.nanoseconds / 1000 / self.received if self.received else None


@dataclass(frozen=True)
class OutputStatistics:
    """What left on an output, and how late."""

    tuples: int
    delay_ms_p50: float | None
    delay_ms_p95: float | None
    delay_ms_p99: float | None
    delay_buckets: Mapping[int, int]
    fraction: float = 1.0
    """The fraction of its tuples so far that were neither shed, late nor quarantined."""
    late: int = 0
    """Tuples that boxes upstream of it discarded because they came too late."""
    shed: int = 0
    """Tuples that drop boxes upstream of it shed."""
    quarantined: int = 0
    """Rows and tuples that inputs and boxes upstream of it quarantined."""
    waiting: int = 0
    """Tuples that wait upstream of it, each counted once."""
    utility: float | None = None
    """The utility so far by its graphs; None without graphs, or if nothing was due."""
    weight: float | None = None
    since: str = Since.OLDEST
    """What delays count from."""


@dataclass(frozen=True)
class SuperboxStatistics:
    """How far a superbox has come, and figures of its last trains."""

    boxes: tuple[str, ...]
    queue: int
    """Tuples that wait for it; one that waits for several superboxes is counted for each of them."""
    head: int
    trains: int
    tuples_per_train: float | None
    train_ms_p50: float | None
    outputs: tuple[str, ...] = ()
    """The outputs downstream of it."""
    gates: Mapping[str, GateCount] = field(default_factory=dict)
    """What reached each of its streams so far, and how much of it was shed."""


@dataclass(frozen=True)
class Statistics:
    """Everything known about a node at one moment."""

    network: str
    log_end: int
    boxes: Mapping[str, BoxStatistics]
    outputs: Mapping[str, OutputStatistics]
    superboxes: Mapping[str, SuperboxStatistics]
    arcs: Mapping[str, int]
    """Tuples that each arc keeps."""
    bytes: int = 0
    """What segments take on disk, without adopted files."""
    disk: int | None = None
    """The bytes that they may take before inputs are held back; None for no limit."""
    quality: QualityReport | None = None
    """What outputs received in the last seconds; None if none has graphs."""
    dropboxes: tuple[Entry, ...] = ()
    """The drop boxes in place, and those withdrawn last."""
    shed: Mapping[str, int] = field(default_factory=dict)
    """Tuples shed upstream of each output that lost any."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """Tuples that boxes emitted on each port that somebody reads."""
    tables: Mapping[str, TableState] = field(default_factory=dict)
    """The state of the inputs with a store."""
    trash: int = 0
    """What files in the trash take on disk."""
    inputs: Mapping[str, InputStatistics] = field(default_factory=dict)
    """What reached each input."""
    waiting: int = 0
    """Tuples that wait, each counted once, however many superboxes it waits for."""
    marks: Mapping[str, InputMarkStatistics] = field(default_factory=dict)
    """What the inputs that make marks have promised."""
    orders: tuple[OrderMarkStatistics, ...] = ()
    """The orders by progress, with the mark that each has come to."""
    queues: Mapping[str, ArcStatistics] = field(default_factory=dict)
    """What waits on each arc, how large it is and since when, and who reads it."""

    @property
    def held_back(self) -> bool:
        """Whether pushes have to wait, since the disk budget is used up."""
        return self.disk is not None and self.bytes + self.trash >= self.disk

    @property
    def standing(self) -> list[Entry]:
        """The drop boxes in place."""
        return [each for each in self.dropboxes if each.until is None]

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Statistics:
        """What `as_dict` has given, also by way of JSON; a node of another version may say something else."""
        try:
            return msgspec.convert(given, cls, strict=False)
        except msgspec.ValidationError as error:
            problem = Problem("statistics", f"are not understood: {error}", "a node of this version")
            raise EngineError(problem) from None

    def as_dict(self) -> dict[str, Any]:
        found = asdict(self) | {"held_back": self.held_back}
        for name, box in self.boxes.items():
            found["boxes"][name] |= {"selectivity": box.selectivity, "cost_us": box.cost_us}
        return found


def statistics_of(plan: Plan, queues: Queues, catalog: Catalog, now: int | None = None) -> Statistics:
    """The committed statistics of a node; quality is that of the seconds before `now`.

    Without `now` everything is as it was at the last event.
    """
    seen, ways = all_so_far(catalog), plan.ways
    sizes = catalog.state_bytes()
    known = {box: BoxStatistics(*counted) for box, counted in box_counts(catalog).items()}
    boxes = {
        box: replace(known.get(box, BoxStatistics()), state_bytes=sizes.get(box, 0))
        for box in plan.network.order
    }
    came = {name: known.get(name, BoxStatistics()) for name in plan.network.inputs}
    inputs = {name: InputStatistics(each.received, each.rejected) for name, each in came.items()}
    now = max(last_commit_at(catalog), catalog.log_now()) if now is None else now
    return Statistics(
        plan.network.name,
        queues.log_end,
        boxes,
        _outputs(plan, queues, seen, discards_upstream(plan.network, boxes, inputs), now),
        {name: _superbox(name, ways, seen, queues, catalog) for name in plan.superboxes},
        {arc: sum(segment.rows for segment in found) for arc, found in queues.segments.items()},
        queues.bytes,
        int(catalog.meta(DISK) or 0) or None,
        _quality(plan, queues, catalog, now),
        tuple(drop_log(catalog, withdrawn=WITHDRAWN_SHOWN)),
        _shed(plan, ways, seen),
        ports=port_counts(catalog),
        tables=table_states(plan.network, catalog),
        trash=int(catalog.meta(TRASH_BYTES) or 0),
        inputs=inputs,
        waiting=waiting_once(queues, plan.superboxes),
        marks=input_marks(plan, queues, now),
        orders=order_marks(plan, queues),
        queues=arc_statistics(queues),
    )


def _quality(plan: Plan, queues: Queues, catalog: Catalog, now: int) -> QualityReport | None:
    return quality_of(plan, queues, catalog, now) if is_observed(plan) else None


def quality_of(
    plan: Plan, queues: Queues, catalog: Catalog, now: int, window_s: int = WINDOW_S
) -> QualityReport:
    """What outputs received in the seconds before `now`, what that is worth, and what they could have had."""
    second = now // 1_000_000
    seen = recent(catalog, second - window_s + 1, second + 1)
    report = monitor(plan, queues, seen, now, window_s)
    cores = float(catalog.meta(CORES) or 0)
    if not cores:
        return report
    known = {box: BoxStatistics(*counted) for box, counted in box_counts(catalog).items()}
    boxes = {box: known.get(box, BoxStatistics()) for box in plan.network.order}
    measured = Measured(boxes, port_counts(catalog), seen.discards, cores)
    return replace(report, limit=limit(plan.network, report, measured))


def _shed(plan: Plan, ways: Mapping[str, Sequence[str]], seen: Recent) -> dict[str, int]:
    """What was shed at the gates of the superboxes that lead to each output."""
    gates = seen.gates.items()
    found = {
        name: sum(gate_count.shed for (superbox, _), gate_count in gates if superbox in ways[name])
        for name in plan.network.outputs
    }
    return {name: tuples for name, tuples in found.items() if tuples}


def _outputs(
    plan: Plan, queues: Queues, seen: Recent, discards: Mapping[str, Discards], now: int
) -> dict[str, OutputStatistics]:
    fractions, shed = fractions_delivered(plan, seen), _shed(plan, plan.ways, seen)
    worths = monitor(plan, queues, seen, now).outputs if is_observed(plan) else {}
    found = {}
    for name in plan.outputs:
        lost, worth = discards.get(name, Discards()), worths.get(name)
        found[name] = replace(
            _output(seen.delays.get(name, {})),
            fraction=fractions[name],
            late=lost.late,
            shed=shed.get(name, 0),
            quarantined=lost.quarantined,
            waiting=waiting_once(queues, plan.ways[name]),
            utility=worth.utility if worth else None,
            weight=worth.weight if worth else None,
            since=worth.since if worth else Since.OLDEST,
        )
    return found


def _output(buckets: Mapping[int, int]) -> OutputStatistics:
    quantiles = (quantile_us(buckets, each) for each in (0.5, 0.95, 0.99))
    p50, p95, p99 = (None if each is None else round(each / 1000, 2) for each in quantiles)
    return OutputStatistics(sum(buckets.values()), p50, p95, p99, buckets)


def _superbox(
    name: str, ways: Mapping[str, Sequence[str]], seen: Recent, queues: Queues, catalog: Catalog
) -> SuperboxStatistics:
    superbox, trains = queues.plan.superboxes[name], last_trains(catalog, name)
    times = sorted(train.run_us for train in trains)
    return SuperboxStatistics(
        superbox.boxes,
        queues.waiting(superbox, queues.end(superbox)),
        queues.positions[name],
        queues.heads[name].version,
        sum(train.received for train in trains) / len(trains) if trains else None,
        times[len(times) // 2] / 1000 if times else None,
        tuple(output for output, way in ways.items() if output and name in way),
        {stream: seen.gates.get((name, stream), GateCount()) for stream in superbox.streams},
    )
