"""The QoS monitor: what each output received over the last seconds, and its utility (Aurora 4.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from australis.algebra.quality import Quality, Since
from australis.engine.ledger import GateCount, Queues, Recent, middle_us, quantile_us
from australis.engine.observe.discards import fractions_used
from australis.plan.superboxes import Plan, Superbox
from australis.policy.limit import Losses
from australis.qos.fairness import jain
from australis.qos.histograms import bins_of
from australis.qos.utility import Delivery, Worth, total, worth

WINDOW_S = 10
"""The default window of the monitor in seconds."""
WITHOUT_GRAPHS = Quality()


@dataclass(frozen=True)
class OutputQuality:
    """What an output received over a window, and its utility; None where nothing was due."""

    tuples: int
    delay_ms_p50: float | None
    delay_ms_p95: float | None
    delay_ms_p99: float | None
    fraction: float
    """The fraction of its tuples that were neither shed, late nor quarantined."""
    waiting_s: float | None
    """How long the oldest tuple on its way to the output has waited."""
    values: tuple[int, ...] | None
    """The value histogram, in the bins of its value graph."""
    utility: float | None
    by_delay: float | None
    by_loss: float | None
    by_value: float | None
    weight: float
    since: str = Since.OLDEST
    """What delays count from."""


@dataclass(frozen=True)
class QualityReport:
    """The outputs of a node over a window."""

    window_s: int
    outputs: Mapping[str, OutputQuality]
    utility: float
    most: float
    """The utility if every output to which something was due had received all of it in time."""
    fairness: float | None = None
    """Jain's index of what these outputs have of their best utility; None if none has any."""
    limit: Losses | None = None
    """What they could have had with the processors that there are, and what of it was lost; see `limits`."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def monitor(plan: Plan, queues: Queues, seen: Recent, now: int, window_s: int = WINDOW_S) -> QualityReport:
    """The quality of every output, from what happened in a window that ends now."""
    ways, fractions = plan.ways, fractions_delivered(plan, seen)
    used = fractions_used(plan.network, seen.discards)
    outputs: dict[str, OutputQuality] = {}
    worths: list[Worth | None] = []
    for name, output in plan.network.outputs.items():
        quality = output.quality or WITHOUT_GRAPHS
        waiting = _waiting(plan, queues, ways[name], now, quality)
        buckets = seen.delays.get(name, {})
        counts = seen.counts(name, len(bins_of(quality.value))) if quality.value else None
        delays = {middle_us(bucket) / 1e6: tuples for bucket, tuples in buckets.items()}
        found = worth(quality, Delivery(delays, fractions[name], counts, waiting, used[name]))
        worths.append(found)
        values = None if counts is None else tuple(int(each) for each in counts)
        outputs[name] = _quality(buckets, fractions[name], waiting, values, quality, found)
    most = sum(each.weight for each in worths if each is not None)
    fairness = jain(each.utility / each.weight for each in worths if each is not None)
    return QualityReport(window_s, outputs, total(worths), most, fairness)


def _quality(
    buckets: Mapping[int, int],
    fraction: float,
    waiting: float | None,
    values: tuple[int, ...] | None,
    quality: Quality,
    found: Worth | None,
) -> OutputQuality:
    quantiles = (quantile_us(buckets, each) for each in (0.5, 0.95, 0.99))
    p50, p95, p99 = (None if each is None else round(each / 1000, 2) for each in quantiles)
    return OutputQuality(
        sum(buckets.values()),
        p50,
        p95,
        p99,
        fraction,
        waiting,
        values,
        utility=None if found is None else found.utility,
        by_delay=None if found is None else found.delay,
        by_loss=None if found is None else found.loss,
        by_value=None if found is None else found.value,
        weight=quality.weight,
        since=str(quality.since),
    )


def fractions_delivered(plan: Plan, seen: Recent) -> dict[str, float]:
    """The fraction of its tuples that each output gets: those that nothing upstream has shed or discarded."""
    used = fractions_used(plan.network, seen.discards)
    kept = fractions_kept(plan, seen.gates)
    return {output: fraction * used.get(output, 1.0) for output, fraction in kept.items()}


def fractions_kept(plan: Plan, gates: Mapping[tuple[str, str], GateCount]) -> dict[str, float]:
    """The fraction that drop boxes let through to each output: consecutive ones multiply."""
    kept = {name: kept_by(superbox, gates) for name, superbox in plan.superboxes.items()}
    return {output: math.prod(kept[name] for name in way) for output, way in plan.ways.items() if output}


def kept_by(superbox: Superbox, gates: Mapping[tuple[str, str], GateCount]) -> float:
    """The fraction that a superbox's drop boxes let in: of all tuples, or of all pairs that could join."""
    each = [gates.get((superbox.id, stream), GateCount()) for stream in superbox.streams]
    if any(node.box.pairs_inputs for node in superbox.network.boxes.values()):
        return math.prod(gate_count.kept for gate_count in each)
    return sum(each, GateCount()).kept


def _waiting(plan: Plan, queues: Queues, way: list[str], now: int, quality: Quality) -> float | None:
    """How long the oldest tuple upstream of an output has waited, as its delays count."""
    begin = queues.triggered if quality.counts_since_trigger else queues.oldest
    oldest = [begin(plan.superboxes[name]) for name in way]
    known = [each for each in oldest if each is not None]
    return max(0.0, (now - min(known)) / 1e6) if known else None


def is_observed(plan: Plan) -> bool:
    """Whether any output has QoS graphs."""
    return any(output.quality is not None for output in plan.network.outputs.values())
