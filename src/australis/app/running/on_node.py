"""A run on a node: on its runner, over a root that stays or a temporary one."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console

from australis.algebra.network import QUARANTINE
from australis.app.options import NodeOptions
from australis.app.running.conductor import Conductor
from australis.app.running.in_process import RunRequest
from australis.app.running.preflight import check_run
from australis.app.running.quiet_start import quietly
from australis.app.running.stopping import Stop
from australis.app.running.summary import NodeSummary, Summary
from australis.app.running.tally import RunTally
from australis.app.running.whole_files import open_inputs, open_outputs
from australis.app.showing import (
    OutputResult,
    ProgressSample,
    Service,
    announce,
    draw_live,
    losses_between,
)
from australis.engine import Node
from australis.engine.files import STANDARD_STREAM, Batch, Writer
from australis.engine.ledger import Entry, Recent, quantile_us
from australis.engine.observe import (
    BoxStatistics,
    OutputStatistics,
    QualityReport,
    Statistics,
    holds_tables,
)
from australis.engine.sinks import OutputTaker, SinkTaker, Taker
from australis.engine.sources import Adoption, Delivery, Options, Source
from australis.engine.store import SEQ

_TRAINS_WAITING = 4
"""How many trains of tuples may wait in a run over files that are read to their end."""


@dataclass(frozen=True)
class _Before:
    """What was known of a node when the run began."""

    statistics: Statistics
    seen: Recent
    shed: list[Entry]


def run_on_node(job: RunRequest, options: NodeOptions, stop: Stop, *, as_json: bool) -> Summary:
    """Run a job on a node; the summary shows whether an end was requested."""
    sources = _sources(job, options)
    check_run(job, options, sources)
    run = _NodeRun(job, options, sources, RunTally.of(job.network), Console(stderr=True, highlight=False))
    return run.run(stop, as_json)


def _sources(job: RunRequest, options: NodeOptions) -> list[Source]:
    shared = Options(batch=job.batch, timezone=job.network.timezone, stream_format=job.stream_format)
    inputs = {name: given for name, given in job.network.inputs.items() if given.store is None}
    streams = {name: given for name, given in inputs.items() if not given.table}
    return [
        options.source(job.network, name, job.sources[name], replace(shared, format=job.format(name)))
        for name in streams
    ]


class _NodeRun:
    def __init__(
        self, job: RunRequest, options: NodeOptions, sources: list[Source], tally: RunTally, console: Console
    ) -> None:
        self._job, self._options, self._sources = job, options, sources
        self._tally, self._console = tally, console
        self._is_endless = any(source.is_endless for source in sources)
        self._is_at_rest = all(source.at_rest for source in sources)

    @property
    def _is_kept(self) -> bool:
        return self._options.root is not None

    @property
    def _may_draw(self) -> bool:
        """Whether tuples do not go to the terminal that progress would be drawn on."""
        return STANDARD_STREAM not in self._job.targets.values() or not sys.stdout.isatty()

    def run(self, stop: Stop, as_json: bool) -> Summary:
        job = self._job
        tables = dict(self._tables())
        with ExitStack() as stack:
            targets = {} if self._is_kept else job.targets
            writers = stack.enter_context(open_outputs(job.network, targets, job.stream_format, stop))
            starting = "Starting Spark" if self._options.is_on_spark else "Starting workers"
            with announce(self._console, starting) as started:
                node = self._start(tables, stop)
            stack.enter_context(node)
            stop.listen()
            self._say_following()
            summary = self._conduct(node, stack, writers, stop, as_json)
            if job.strict and not self._is_kept:
                summary.losses.refuse()
        assert summary.node is not None
        return replace(summary, node=replace(summary.node, start_seconds=started[0]))

    def _say_following(self) -> None:
        """Say that the node runs and waits, since nothing else may be seen of it for long."""
        if self._options.follow:
            followed = ", ".join(path for path in self._job.sources.values() if path != STANDARD_STREAM)
            root = f"; root is {self._options.root}" if self._is_kept else ""
            click.echo(f"australis: following {followed}{root}; Ctrl-C stops", err=True)

    def _start(self, tables: Mapping[str, Batch], stop: Stop) -> Node:
        """A node that runs the network, with warm workers."""
        options = self._options
        local = Path(options.root) if options.root and "://" not in options.root else None
        # Only Spark prints much when it starts.
        with quietly(local, options.master) if options.is_on_spark else nullcontext():
            node = stop.unless_stopped(self._node)
        if node.metrics is not None:
            click.echo(f"australis: metrics at {node.metrics.url}", err=True)
        try:
            with _echo_waiting():
                stop.unless_stopped(lambda: self._deploy(node, tables))
        except BaseException:
            # An abandoned deployment ends with this process: no other process should look for the node.
            if node.control is not None:
                node.control.close(now=True)
            raise
        return node

    def _deploy(self, node: Node, tables: Mapping[str, Batch]) -> None:
        try:
            node.deploy(
                self._job.network,
                tables={name: batch.table for name, batch in tables.items()},
                rejected={name: batch.rejected for name, batch in tables.items()},
            )
            if self._options.is_on_spark:
                _warm(node)
        except BaseException:
            node.stop(now=True)
            raise

    def _node(self) -> Node:
        options = self._options
        return Node(
            options.root,
            runner=options.runner,
            master=options.master if options.is_on_spark else None,
            discipline=options.discipline,
            schedule=options.schedule,
            # Tuples from files can wait: nobody is served better by a part of them.
            shed=not self._is_at_rest if options.shed is None else options.shed,
            headroom=options.headroom,
            fairness=options.fairness,
            train_limit=options.train_limit,
            optimise=options.optimise,
            disk=options.disk,
            metrics=options.metrics,
            control=options.control and options.root is not None,
            way=options.way,
            partitions=options.partitions,
            train=options.train,
            catalog=options.catalog,
            clock=self._job.now,
            spark_options=options.spark_options if options.is_on_spark else None,
        )

    def _tables(self) -> Iterator[tuple[str, Batch]]:
        """The stored tables, unless the root already has them."""
        inputs = self._job.network.inputs.items()
        names = [name for name, given in inputs if given.table and given.store is None]
        place = self._options.catalog or self._options.root
        if place is not None and "://" not in place and holds_tables(Path(place), names):
            return
        files = {name: self._job.sources[name] for name in names}
        with open_inputs(self._job.network, files, self._job.stream_format, self._job.formats) as readers:
            for name, reader in readers.items():
                batches = list(reader.batches())
                empty = self._job.network.inputs[name].schema.arrow.empty_table()
                table = pa.concat_tables([empty, *(batch.table for batch in batches)])
                rejected = tuple(row for batch in batches for row in batch.rejected)
                self._tally.read[name], self._tally.rejected[name] = table.num_rows, len(rejected)
                yield name, Batch(table, rejected)

    # --- while it runs

    def _conduct(
        self, node: Node, stack: ExitStack, writers: Mapping[str, Writer], stop: Stop, as_json: bool
    ) -> Summary:
        before, began = _Before(node.statistics(), node.seen(), node.shed()), time.perf_counter()
        takers = list(
            self._take_into_sinks(node, stack) if self._is_kept else self._take_into_files(node, writers)
        )
        conductor = Conductor(
            node,
            self._sources,
            list(takers),
            flush=self._job.flush,
            heard=self._count,
            waiting_most=_TRAINS_WAITING * self._options.train if self._is_at_rest else None,
        )

        def sample() -> ProgressSample:
            return ProgressSample(time.perf_counter() - began, self._tally.read, node.statistics())

        with draw_live(self._console, sample) if self._may_draw else nullcontext():
            if self._is_kept or self._is_endless:
                with stop.gently(conductor.ask):
                    is_whole = conductor.run(
                        lambda: _print_line(sample()) if as_json and self._is_endless else None
                    )
            else:
                is_whole = conductor.run(stop.check)
        after = node.statistics()
        if self._is_kept and QUARANTINE not in self._job.targets:
            self._tally_quarantine(node, before.statistics.log_end)
        summary = self._summary(
            before.statistics, after, time.perf_counter() - began, conductor.notes, is_whole
        )
        report = node.quality_since(before.seen, summary.seconds)
        shed = losses_between(before.shed, node.shed(), after.superboxes)
        # Without a clock there are no delays to report.
        is_served = after.quality is not None and self._job.is_timed
        return replace(
            summary,
            service=Service(report, shed) if is_served else None,
            shed=shed,
            results=dict(self._results(before.statistics, after, report, is_served)),
        )

    def _results(
        self, before: Statistics, after: Statistics, report: QualityReport, is_served: bool
    ) -> Iterator[tuple[str, OutputResult]]:
        """What each output received and lost in this run."""
        for name in (name for name in self._job.network.outputs if name in report.outputs):
            seen, quality = _gained(before.outputs.get(name), after.outputs[name]), report.outputs[name]
            yield (
                name,
                OutputResult(
                    self._tally.written[name],
                    seen.late,
                    seen.shed,
                    seen.quarantined,
                    quality.fraction,
                    seen.waiting,
                    quality.delay_ms_p95 if self._job.is_timed else None,
                    quality.utility if is_served else None,
                    quality.weight,
                ),
            )

    def _count(self, delivery: Delivery) -> None:
        content = delivery.content
        self._tally.read[delivery.input] += (
            content.num_rows if isinstance(content, Adoption | pa.Table) else 0
        )
        self._tally.rejected[delivery.input] += len(delivery.rejected)

    def _take_into_files(self, node: Node, writers: Mapping[str, Writer]) -> Iterator[Taker]:
        """Write outputs to files that appear at the end; other outputs are not kept."""
        for name in self._job.network.outputs:
            if name in writers:
                yield self._taker(name, f"run:{name}", writers[name].write)
            else:
                node.discard(name)
        write = writers[QUARANTINE].write if QUARANTINE in writers else lambda table: None
        yield self._taker(QUARANTINE, f"run:{QUARANTINE}", write)

    def _take_into_sinks(self, node: Node, stack: ExitStack) -> Iterator[Taker]:
        """Write outputs to files that grow; others stay in the root."""
        for name, path in self._job.targets.items():
            sink = self._options.sink(self._job.network, name, path, self._job.stream_format)
            running = stack.enter_context(sink.start(node))
            yield SinkTaker(name, sink.consumer, running, partial(self._tally_table, name))

    def _taker(self, name: str, consumer: str, write: Callable[[pa.Table], None]) -> Taker:
        def take(table: pa.Table) -> None:
            self._tally_table(name, table)
            write(table)

        return OutputTaker(name, consumer, take)

    def _tally_table(self, name: str, table: pa.Table) -> None:
        if name == QUARANTINE:
            self._tally.quarantine(table, strict=self._job.strict and not self._is_kept)
        else:
            self._tally.written[name] += table.num_rows

    # --- after it

    def _tally_quarantine(self, node: Node, log_end: int) -> None:
        """Count what was quarantined in this run, and stays in the root."""
        table = node.read(QUARANTINE)
        self._tally.quarantine(table.filter(pc.greater_equal(table[SEQ], log_end)))

    def _summary(
        self, before: Statistics, after: Statistics, seconds: float, notes: tuple[str, ...], is_whole: bool
    ) -> Summary:
        # Boxes that were not there before were added by a change while it ran.
        boxes = {
            name: _since(before.boxes.get(name, BoxStatistics()), box) for name, box in after.boxes.items()
        }
        for name, output in after.outputs.items():
            if name not in self._job.targets and name != QUARANTINE:
                known = before.outputs.get(name)
                self._tally.written[name] = output.tuples - (known.tuples if known else 0)
        for name, given in self._job.network.inputs.items():
            table = after.tables.get(name)
            if given.table and given.store is not None and table is not None and table.rows is not None:
                self._tally.read[name] = table.rows
        about = NodeSummary(
            0.0,
            self._options.root,
            sum(each.trains - _trains(before, name) for name, each in after.superboxes.items()),
            after.waiting,
            dict(_delays(before, after)) if self._job.is_timed else {},
            {name: box.cost_us for name, box in boxes.items() if box.cost_us is not None},
            not is_whole,
        )
        flushed = self._job.flush and is_whole
        return Summary(
            self._job.network,
            self._options.engine,
            seconds,
            self._tally,
            self._job.targets,
            boxes,
            flushed,
            notes,
            about,
        )


@contextmanager
def _echo_waiting() -> Iterator[None]:
    """Print what the engine waits for when it starts on a cluster, whether or not there is a log."""
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: click.echo(f"australis: {record.getMessage()}", err=True)  # type: ignore[method-assign]
    logger = logging.getLogger("australis.engine.spark.cluster")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _warm(node: Node) -> None:
    """Let Spark's workers start, so that the first tuples do not wait for them."""
    context = node.spark.sparkContext
    context.parallelize(range(context.defaultParallelism), context.defaultParallelism).count()


def _since(before: BoxStatistics, after: BoxStatistics) -> BoxStatistics:
    """What a box has processed between two moments."""
    return BoxStatistics(*(getattr(after, f.name) - getattr(before, f.name) for f in fields(BoxStatistics)))


def _gained(before: OutputStatistics | None, after: OutputStatistics) -> OutputStatistics:
    """What an output lost between two moments; what a change has removed meanwhile does not count."""
    if before is None:
        return after
    names = ("late", "shed", "quarantined")
    return replace(after, **{name: max(0, getattr(after, name) - getattr(before, name)) for name in names})


def _trains(known: Statistics, superbox: str) -> int:
    """The number of trains of a superbox, if it existed."""
    return known.superboxes[superbox].trains if superbox in known.superboxes else 0


def _delays(before: Statistics, after: Statistics) -> Iterator[tuple[str, tuple[float, float]]]:
    """The delays of the tuples delivered between two moments, by output."""
    for name, output in after.outputs.items():
        known = before.outputs.get(name)
        seen = known.delay_buckets if known else {}
        buckets = {index: tuples - seen.get(index, 0) for index, tuples in output.delay_buckets.items()}
        p50, p95 = (quantile_us(buckets, fraction) for fraction in (0.5, 0.95))
        if p50 is not None and p95 is not None and any(buckets.values()):
            yield name, (round(p50 / 1000, 2), round(p95 / 1000, 2))


def _print_line(sample: ProgressSample) -> None:
    """Print a line of JSON about a running run."""
    known = {
        "seconds": round(sample.seconds, 1),
        "inputs": dict(sample.read),
        "outputs": sample.written,
        "waiting": sample.queue,
        **_quality_of(sample.statistics),
    }
    click.echo(json.dumps(known))


def _quality_of(statistics: Statistics) -> dict[str, object]:
    """How outputs with graphs are served now, and whether inputs wait for disk space."""
    known: dict[str, object] = {}
    if statistics.quality is not None:
        report = statistics.quality
        known["utility"] = round(report.utility, 4)
        known["delivered"] = {name: round(each.fraction, 4) for name, each in report.outputs.items()}
        known["shed"] = dict(statistics.shed)
    if statistics.disk is not None:
        known["held_back"] = statistics.held_back
    return known
