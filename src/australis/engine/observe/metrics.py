"""Metrics for Prometheus: the statistics of a node, read when they are scraped."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    ProcessCollector,
    generate_latest,
    start_http_server,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from australis.engine.ledger import BUCKETS_PER_OCTAVE, middle_us
from australis.engine.observe.statistics import Statistics
from australis.engine.observe.train_times import TrainTimes
from australis.errors import AustralisError, EngineError, Problem

_log = logging.getLogger(__name__)
HOST = "127.0.0.1"
"""The default host: only this machine can scrape."""
_STEP = BUCKETS_PER_OCTAVE // 2
_EDGES = range(10 * BUCKETS_PER_OCTAVE, 27 * BUCKETS_PER_OCTAVE + 1, _STEP)
"""The buckets of delays for Prometheus, by their ends: two per octave, from 1 ms to 134 s."""

Sample = tuple[tuple[str, ...], float]
"""The values of labels, and a number."""


class Metrics:
    """Answers scrapes over HTTP until it is closed; port 0 is any free one."""

    def __init__(
        self,
        take: Callable[[], Statistics | None],
        place: int | str,
        trains: Callable[[], TrainTimes | None] = lambda: None,
    ) -> None:
        host, port = address(place)
        registry = CollectorRegistry()
        registry.register(_NodeCollector(take, trains))
        ProcessCollector(registry=registry)
        try:
            self._server, self._thread = start_http_server(port, host, registry)
        except OSError as error:
            what = f"cannot listen on {host}:{port}: {error.strerror or error}"
            raise EngineError(Problem("metrics", what, "another port; 0 is any that is free")) from error
        self.url = f"http://{host}:{self._server.server_port}/metrics"

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def address(place: int | str) -> tuple[str, int]:
    """The host and the port that `[HOST:]PORT` names.

    >>> address(9464), address("0.0.0.0:9464")
    (('127.0.0.1', 9464), ('0.0.0.0', 9464))
    """
    host, _, port = str(place).rpartition(":")
    if not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise EngineError(Problem("metrics", f"{place!r} is no place to listen on", "[HOST:]PORT, as 9464"))
    return host or HOST, int(port)


class _NodeCollector(Collector):
    """Turns a node's statistics into metrics; none while no network runs."""

    def __init__(
        self,
        take: Callable[[], Statistics | None],
        trains: Callable[[], TrainTimes | None],
        more: Iterable[Metric] = (),
    ) -> None:
        self._take, self._trains, self._more = take, trains, more

    def collect(self) -> Iterator[Metric]:
        try:
            statistics = self._take()
        except AustralisError as error:
            _log.debug("no metrics for Prometheus: %s", error)
            # The node is stopping.
            return
        if statistics is not None:
            yield from metrics(statistics)
        if (trains := self._trains()) is not None:
            yield from _train_times(trains)
        yield from self._more

    def describe(self) -> Iterable[Metric]:
        """Describe nothing, so that registering does not query the node."""
        return ()


def metrics_text(
    known: Statistics | None, trains: TrainTimes | None = None, more: Iterable[Metric] = ()
) -> tuple[bytes, str]:
    """The metrics of a node and of this process as Prometheus reads them, and the type of that text."""
    registry = CollectorRegistry()
    registry.register(_NodeCollector(lambda: known, lambda: trains, more))
    ProcessCollector(registry=registry)
    return generate_latest(registry), CONTENT_TYPE_LATEST


def metrics(known: Statistics) -> Iterator[Metric]:
    """The statistics of a node as metrics."""
    yield gauge("node_info", "The network that the node runs.", ("network",), [((known.network,), 1)])
    yield from _boxes(known)
    yield from _superboxes(known)
    yield from _dropboxes(known)
    yield from _outputs(known)
    yield from _inputs(known)
    yield from _marks(known)
    yield from _quality(known)
    yield from _room(known)


def _boxes(known: Statistics) -> Iterator[Metric]:
    counted = {
        "received": "Tuples that came to a box.",
        "emitted": "Tuples that a box emitted, on all ports.",
        "late": "Tuples that came too late for the order of a box.",
        "rejected": "Tuples that a box could not process, and that were quarantined.",
    }
    boxes = known.boxes.items()
    for name, told in counted.items():
        samples = [((box,), float(getattr(each, name))) for box, each in boxes]
        yield counter(f"box_{name}_tuples", told, ("box",), samples)
    costs = [((box,), each.nanoseconds / 1e9) for box, each in boxes]
    yield counter("box_cost_seconds", "Time that a box took, over all tasks.", ("box",), costs)


def _superboxes(known: Statistics) -> Iterator[Metric]:
    superboxes = known.superboxes.items()
    told = "Tuples that wait, each counted once, however many superboxes it waits for."
    yield gauge("waiting_tuples", told, (), [((), float(known.waiting))])
    waiting = [((name,), float(each.queue)) for name, each in superboxes]
    yield gauge("superbox_queue_tuples", "Tuples that wait for a superbox.", ("superbox",), waiting)
    trains = [((name,), float(each.trains)) for name, each in superboxes]
    yield counter("superbox_trains", "Trains that went through a superbox.", ("superbox",), trains)
    gates = [((name, stream), got) for name, each in superboxes for stream, got in each.gates.items()]
    labels = ("superbox", "stream")
    arrived = [(key, float(got.arrived)) for key, got in gates]
    yield counter("superbox_arrived_tuples", "Tuples that came to a stream of a superbox.", labels, arrived)
    shed = [(key, float(got.shed)) for key, got in gates]
    told = "Tuples that drop boxes at a stream of a superbox shed."
    yield counter("superbox_shed_tuples", told, labels, shed)


def _train_times(trains: TrainTimes) -> Iterator[Metric]:
    told = "Time that trains took, from their start to their commit, since the node started."
    times = HistogramMetricFamily("australis_train_seconds", told, labels=("superbox",))
    for superbox, (buckets, total_s) in trains.times.items():
        times.add_metric((superbox,), buckets, total_s)
    yield times
    failures = [((superbox,), float(count)) for superbox, count in trains.failures.items()]
    told = "Trains that failed for good, which stops them until the node resumes."
    yield counter("train_failures", told, ("superbox",), failures)


def _dropboxes(known: Statistics) -> Iterator[Metric]:
    """Only drop boxes in place: over months there would be too many for Prometheus."""
    labels = ("number", "superbox", "stream", "predicate")
    standing = [((str(e.number), e.superbox, e.stream, e.where), e) for e in known.standing]
    shares = [(key, each.share) for key, each in standing]
    told = "The part of the tuples on which its predicate is true that a drop box sheds, while it stands."
    yield gauge("dropbox_share_ratio", told, labels, shares)
    told = "Tuples that a drop box has shed, while it stands."
    yield counter("dropbox_shed_tuples", told, labels, [(key, float(each.shed)) for key, each in standing])


def _outputs(known: Statistics) -> Iterator[Metric]:
    delays = HistogramMetricFamily(
        "australis_output_delay_seconds",
        "Time to the delivery from the arrival of the oldest tuple that was used; for an output that counts "
        "since the trigger, from the event that caused the result.",
        labels=("output",),
    )
    for name, each in known.outputs.items():
        total = sum(middle_us(index) * tuples for index, tuples in each.delay_buckets.items()) / 1e6
        delays.add_metric((name,), _cumulative(each.delay_buckets), total)
    yield delays
    shed = [((name,), float(known.shed.get(name, 0))) for name in known.outputs]
    yield counter("output_shed_tuples", "Tuples shed on the way to an output.", ("output",), shed)
    late = [((name,), float(each.late)) for name, each in known.outputs.items()]
    yield counter("output_late_tuples", "Tuples that came too late upstream of an output.", ("output",), late)
    bad = [((name,), float(each.quarantined)) for name, each in known.outputs.items()]
    told = "Rows and tuples that were quarantined upstream of an output."
    yield counter("output_quarantined_tuples", told, ("output",), bad)
    fractions = [((name,), each.fraction) for name, each in known.outputs.items()]
    told = (
        "Of the tuples that an output should have got since the root was made, those that were neither shed, "
        "late nor quarantined."
    )
    yield gauge("output_delivered_ratio", told, ("output",), fractions)


def _inputs(known: Statistics) -> Iterator[Metric]:
    inputs = known.inputs.items()
    received = [((name,), float(each.received)) for name, each in inputs]
    told = "Tuples and rows that came to an input since the root was made."
    yield counter("input_received_tuples", told, ("input",), received)
    rejected = [((name,), float(each.rejected)) for name, each in inputs]
    told = "Rows and tuples of these that did not fit, and were quarantined."
    yield counter("input_rejected_tuples", told, ("input",), rejected)


def _marks(known: Statistics) -> Iterator[Metric]:
    """How far the marks of the inputs have come; nothing for one without a mark."""
    behind = [((name,), each.behind_s) for name, each in known.marks.items()]
    told = "The local time less the mark of an input with progress on a timestamp."
    samples = [(labels, seconds) for labels, seconds in behind if seconds is not None]
    yield gauge("input_mark_behind_seconds", told, ("input",), samples)
    quiet = [((name,), each.quiet_since) for name, each in known.marks.items()]
    told = "When tuples last came to an input with progress, in seconds since 1970."
    since = [(labels, at / 1e6) for labels, at in quiet if at is not None]
    yield gauge("input_quiet_since_seconds", told, ("input",), since)


def _cumulative(buckets: Mapping[int, int]) -> list[tuple[str, float]]:
    """The cumulative count of delays up to each edge, and the total."""
    edges = [(f"{2 ** (edge / BUCKETS_PER_OCTAVE) / 1e6:.6g}", edge) for edge in _EDGES]
    counts = [(le, sum(n for index, n in buckets.items() if index < edge)) for le, edge in edges]
    return [*((le, float(tuples)) for le, tuples in counts), ("+Inf", float(sum(buckets.values())))]


def _quality(known: Statistics) -> Iterator[Metric]:
    """What outputs with graphs received in the last seconds, and its utility; nothing where none was due."""
    if known.quality is None:
        return
    over = f"over the last {known.quality.window_s} s"
    outputs = known.quality.outputs.items()
    told = {
        "utility": f"What an output got {over} is worth, weight included.",
        "weight": "How much an output counts, which is the highest utility that it can have.",
        "fraction": f"Of the tuples that an output should have got {over}, those that were neither shed, "
        "late nor quarantined.",
        "waiting_s": "For how long the oldest tuple has waited that is on its way to an output.",
    }
    names = {"fraction": "recently_delivered_ratio", "waiting_s": "oldest_waiting_seconds"}
    for field, text in told.items():
        values = {name: getattr(each, field) for name, each in outputs}
        samples = [((name,), value) for name, value in values.items() if value is not None]
        yield gauge(f"output_{names.get(field, field)}", text, ("output",), samples)
    yield gauge("utility", f"What all outputs got {over} is worth.", (), [((), known.quality.utility)])
    most = "The utility if all outputs to which something was due had all of it in time."
    yield gauge("utility_most", most, (), [((), known.quality.most)])
    fairness, found = known.quality.fairness, known.quality.limit
    alike = f"Jain's index of what outputs have of their best utility {over}: 1 if all have alike."
    yield gauge("fairness_ratio", alike, (), [] if fairness is None else [((), fairness)])
    most = "The utility that no shedding could have exceeded with the processors that there are."
    yield gauge("utility_limit", most, (), [] if found is None else [((), found.bound)])
    lost = "What was lost of that: to scheduling, late shedding, shares of outputs, lateness."
    causes = {} if found is None else found.causes
    yield gauge("utility_lost", lost, ("cause",), [((name,), each) for name, each in causes.items()])


def _room(known: Statistics) -> Iterator[Metric]:
    yield gauge("disk_bytes", "What segments take on disk, without adopted files.", (), [((), known.bytes)])
    yield gauge("trash_bytes", "What files in the trash take on disk.", (), [((), known.trash)])
    if known.disk is not None:
        told = "What segments and trash may take before inputs are held back."
        yield gauge("disk_budget_bytes", told, (), [((), known.disk)])
    held = float(known.held_back)
    yield gauge("inputs_held_back", "1 while inputs wait for room on disk.", (), [((), held)])


def gauge(name: str, told: str, labels: tuple[str, ...], samples: Iterable[Sample]) -> Metric:
    """A gauge of Australis."""
    family = GaugeMetricFamily(f"australis_{name}", told, labels=labels)
    for values, number in samples:
        family.add_metric(values, number)
    return family


def counter(name: str, told: str, labels: tuple[str, ...], samples: Iterable[Sample]) -> Metric:
    """A counter; to its name `_total` is added."""
    family = CounterMetricFamily(f"australis_{name}", told, labels=labels)
    for values, number in samples:
        family.add_metric(values, number)
    return family
