"""A node: runs one network continuously on one runner, over one storage root."""

from __future__ import annotations

import logging
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from australis.algebra.network import Network
from australis.algebra.quality import Quality
from australis.algebra.schema import Schema
from australis.engine import observe
from australis.engine import spark as on_spark
from australis.engine.change import (
    Difference,
    Moves,
    Optimiser,
    Rewritten,
    SplitChange,
    Splits,
    Switch,
    deploy,
    load,
    redrawn,
    switch_to,
)
from australis.engine.clock import LogClock
from australis.engine.control import ControlServer
from australis.engine.deliver import ROWS_MOST, Attached, Follower, Subscription, Tap
from australis.engine.files import Rejected
from australis.engine.history import Instant, instant_us, question, recall
from australis.engine.ingest import Arrival, Ingest, Position, Pushed, moment
from australis.engine.ledger import (
    CORES,
    DISK,
    NETWORK,
    Entry,
    Key,
    OpenRoot,
    Receipt,
    Recent,
    Record,
    all_so_far,
    drop_log,
)
from australis.engine.observe import (
    WINDOW_S,
    QualityReport,
    Statistics,
    TrainTimes,
    live,
    monitor,
    quality_of,
    statistics_of,
)
from australis.engine.runner import SPARK, Runner, SessionRunner, choose_runner
from australis.engine.running import Running, assemble, splits_of
from australis.engine.settings import LAYERED_FROM, SPLIT_FROM, NodeSettings, Way
from australis.engine.sinks import Kept
from australis.engine.store import Home, Root, catalog_folder
from australis.engine.tables import Keeper, Tables
from australis.engine.threads import SYSTEM, Threads
from australis.engine.train import Breakpoint, Observer, Train
from australis.errors import AustralisError, EngineError, Problem
from australis.plan.superboxes import Discipline
from australis.policy.place import BoxSplit
from australis.policy.schedule import Scheduling
from australis.policy.upstream import Downstream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from australis.engine.observe import Metrics

_log = logging.getLogger(__name__)
_NOTE = "note "


class Node:
    """Runs a network over a storage root; without one, over a temporary directory.

    Pushed tuples are durable when `push` returns, and every tuple is processed exactly once, however the node
    ends. A node that reopens a root continues where the last one stopped.
    """

    def __init__(
        self,
        root: str | Path | None = None,
        *,
        runner: str | Runner = SPARK,
        spark: SparkSession | None = None,
        master: str | None = None,
        discipline: str | None = None,
        way: str = Way.FUSED,
        partitions: int = 2,
        train: int = 2_000_000,
        train_bytes: int = 256 << 20,
        train_limit: str | None = None,
        in_flight: int = 2,
        cache: int = 256 << 20,
        layered_from: int = LAYERED_FROM,
        split_from: int = SPLIT_FROM,
        schedule: str | None = None,
        shed: bool = True,
        headroom: float = 1.0,
        fairness: float = 0.0,
        optimise: bool = False,
        disk: int | None = None,
        catalog: str | Path | Home | None = None,
        metrics: int | str | None = None,
        control: bool = False,
        clock: Callable[[], int] | None = None,
        threads: Threads = SYSTEM,
        spark_options: Mapping[str, str] | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.settings = NodeSettings(
            discipline=None if discipline is None else Discipline(discipline),
            way=Way(way),
            partitions=partitions,
            train=train,
            train_bytes=train_bytes,
            train_limit=train_limit,
            in_flight=in_flight,
            cache=cache,
            layered_from=layered_from,
            split_from=split_from,
            schedule=None if schedule is None else Scheduling(schedule),
            shed=shed,
            headroom=headroom,
            fairness=fairness,
            optimise=optimise,
            disk=disk,
        )
        make_runner = choose_runner(
            runner, session=spark, way=self.settings.way, master=master, options=spark_options
        )
        self._temporary = tempfile.TemporaryDirectory(prefix="australis-") if root is None else None
        self.root = Root.of(self._temporary.name if self._temporary else str(root))
        self._threads, self._observer = threads, observer
        self._running: Running | None = None
        self._switch: Switch | None = None
        self._optimiser: Optimiser | None = None
        self._stopped = False
        self._opened = OpenRoot(self.root, catalog, threads)
        self._ledger = self._opened.ledger
        self._clock = LogClock(
            clock or threads.now_us,
            ticks_ns=threads.ticks_ns if clock is None else None,
            least=self._ledger.log_now,
            threads=threads,
        )
        self.metrics: Metrics | None = None
        """The address where Prometheus can scrape metrics, if it is enabled."""
        self.control: ControlServer | None = None
        """The control channel for other processes of this machine, if it is enabled."""
        try:
            self.metrics = (
                None if metrics is None else observe.Metrics(self._known, metrics, lambda: self.train_times)
            )
            self.control = self._open_control(catalog) if control else None
            self._runner = make_runner()
            self._owns_runner = self._runner is not runner
        except BaseException:
            self._close()
            raise

    def _open_control(self, catalog: str | Path | Home | None) -> ControlServer:
        assert catalog is None or isinstance(catalog, str | Path), "a channel has a folder"
        return ControlServer(self, catalog_folder(self.root, catalog))

    @property
    def spark(self) -> SparkSession:
        """The Spark session that trains run in, if it is Spark that runs them."""
        if not isinstance(self._runner, SessionRunner):
            raise EngineError(Problem("runner", "is not Spark", f"runner={SPARK!r}"))
        return self._runner.session

    # --- life

    def deploy(
        self,
        network: Network,
        *,
        tables: Mapping[str, pa.Table] | None = None,
        rejected: Mapping[str, Sequence[Rejected]] | None = None,
    ) -> None:
        """Run a network from now on; `tables` are its stored tables, unless the root has them already.

        Relative paths of stores are resolved against the current directory; the root keeps absolute ones.
        `rejected` are rows of the tables that do not fit the schema, for the quarantine.
        """
        if self._running is not None:
            raise EngineError(Problem(network.name, "is deployed on a node that runs a network already"))
        began = self._threads.ticks_ns()
        network = _located(network)
        self.settings = self.settings.for_network(network)
        ledger, clock, threads = self._ledger, self._clock, self._threads
        record = deploy(ledger, network, self.settings)
        ingest, known = Ingest(ledger, threads, splits_of(self.settings)), Tables()
        keeper = Keeper(ledger, ingest, known, clock, threads)
        keeper.begin(tables or {})
        load(network, ledger.catalog, ingest, tables or {}, clock(), rejected or {})
        with ledger.change() as change:
            change.set_meta(DISK, str(self.settings.disk or ""))
            change.set_meta(CORES, str(self._runner.tasks * self.settings.headroom))
        prepare = partial(self._runner.prepare, self.root)
        self._running = assemble(
            ledger,
            ingest,
            known,
            keeper,
            self.settings,
            prepare(record.plan),
            tasks=self._runner.tasks,
            clock=clock,
            threads=threads,
            observer=self._observer,
        )
        self._switch = Switch(self._running, record, prepare, threads)
        self._running.loop.start()
        keeper.start(self._running.back_pressure.wait)
        if self.settings.optimise:
            self._optimiser = Optimiser(self._switch, ledger, threads)
            self._optimiser.start()
        if self.control is not None:
            self.control.sweep()
        boxes, superboxes = len(network.boxes), len(ledger.plan.superboxes)
        _log.info("%s runs: %d boxes in %d superboxes%s", network.name, boxes, superboxes, self._since(began))

    def stop(self, *, now: bool = False) -> None:
        """Stop once running trains have finished; with `now`, without waiting for them. Nothing is lost."""
        if now:
            self._abandon()
        self._take_leave(now=now)
        if self._running is not None and not self._stopped:
            self._running.keeper.stop()
            self._running.loop.end()
            if self._optimiser is not None:
                self._optimiser.stop()
            self._running.loop.stop(partial(self._runner.abandon, self.root) if now else None)
            # Drop boxes that a crash leaves in place are removed when the root is opened again.
            try:
                self._running.steering.dropboxes.clear(self._clock())
            except EngineError as error:
                _log.warning("drop boxes are not withdrawn before the next start: %s", error)
            self._running.subscriptions.close()
        is_first, self._stopped = not self._stopped, True
        self._close()
        if self._owns_runner:
            self._runner.close()
        if self._temporary is not None:
            self._temporary.cleanup()
        if is_first:
            _log.info("the node on %s has stopped%s", self.root.uri, " at once" if now else "")

    def _abandon(self) -> None:
        """Give up the running trains, and whatever waits for them."""
        if self._running is not None and not self._stopped:
            self._running.loop.end()
            self._runner.abandon(self.root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop(now=error is not None)

    # --- another network while it runs

    def difference(self, network: Network) -> Difference:
        """What `change` would do: which boxes keep their state, what is added and removed, what is lost."""
        return self._switching.difference(self._redrawn(self._switching.record, _located(network)))

    def change(self, network: Network, *, tables: Mapping[str, pa.Table] | None = None) -> Difference:
        """Run another network from now on; its unchanged parts continue without interruption.

        Boxes with the same name and the same definition keep their state. New ones begin with the next tuple.
        """
        began, network = self._threads.ticks_ns(), _located(network)
        difference = switch_to(
            self._deployed, self._switching, lambda record: self._redrawn(record, network), tables or {}
        )
        lines = "; ".join(map(str.strip, difference.lines()))
        _log.info("%s is changed%s: %s", network.name, self._since(began), lines)
        return difference

    def cancel_change(self) -> None:
        """Give up a change that is under way, unless it has come to its last step; then nothing changes."""
        self._switching.cancel()

    @property
    def change_stage(self) -> str:
        """What a change that is under way is doing: preparing, draining or switching; empty without one."""
        return self._switching.stage

    @property
    def moves(self) -> Moves:
        """Gives boxes to other nodes with their states, and takes boxes from them."""
        return Moves(self._deployed, self._switching, self._redrawn)

    def split(
        self,
        box: str,
        into: int = 2,
        *,
        by: Sequence[str] = (),
        any_order: bool = False,
        dry_run: bool = False,
    ) -> SplitChange:
        """Run a box as several copies from now on, each with its share of the tuples and of the state.

        Groups stay whole; `by` are attributes by which tuples are divided, all that are fit for it if none
        are named. With `any_order`, boxes downstream may see the tuples of one moment in another sequence.
        The same split again does nothing.
        """
        began, split = self._threads.ticks_ns(), BoxSplit(box, into, tuple(by), any_order)
        change = self._splits.split(split, dry_run=dry_run)
        if not dry_run:
            _log.info("%s%s", next(change.lines()), self._since(began))
        return change

    def unsplit(self, box: str, *, dry_run: bool = False) -> SplitChange:
        """Run a box that was split as one again, with the states of its copies."""
        began = self._threads.ticks_ns()
        change = self._splits.undo(box, dry_run=dry_run)
        if not dry_run:
            _log.info("%s%s", next(change.lines()), self._since(began))
        return change

    def splits(self) -> dict[str, BoxSplit]:
        """The boxes that run as copies, and how."""
        return self._splits.listed

    def split_network(self) -> Network:
        """The network with its copies as they run, without ad hoc queries."""
        return self._splits.network

    @property
    def _splits(self) -> Splits:
        return Splits(self._deployed, self._switching, self._redrawn)

    def attach(
        self, network: Network, *, name: str = "query", is_guest: bool = False, replaces: bool = False
    ) -> Attached:
        """Attach an ad hoc query, whose inputs are named after connection points, outputs or stored tables.

        It starts with the earliest tuple that a connection point keeps, at an output with the next one, and
        continues with every new tuple until it is detached. It stays attached when the root is opened again.
        One that `replaces` another of its name continues where that was; boxes that are the same keep their
        state. A guest goes when a change of the network leaves it nothing to read; others refuse the change.
        """
        began, network = self._threads.ticks_ns(), _located(network)
        switch_to(
            self._deployed,
            self._switching,
            lambda record: record.attached(name, network, is_guest=is_guest, replaces=replaces),
        )
        _log.info("the query %s is attached%s: %d boxes", name, self._since(began), len(network.boxes))
        return Attached(self, name, network)

    def detach(self, name: str) -> None:
        """Remove an ad hoc query, with all that it keeps."""
        began = self._threads.ticks_ns()
        self._switching.to(lambda record: record.detached(name))
        _log.info("the query %s is detached%s", name, self._since(began))

    def optimise(self) -> bool:
        """Run the optimiser on what was measured so far; returns whether it rewrote the network.

        A node with `optimise=True` does this periodically.
        """
        if self._optimiser is None:
            raise EngineError(Problem(self.root.uri, "does not optimise", "Node(optimise=True)"))
        return self._optimiser.cycle()

    def rewritten(self) -> Rewritten:
        """The network as it was deployed and as the optimiser lets it run, and what it did when and why."""
        return Rewritten.of(self._switching.record, self._ledger)

    def recorded(self) -> Network | None:
        """The network that the root holds, as it was drawn, even before it is deployed again."""
        if self._switch is not None and not self._stopped:
            self._ledger.settle()
            return self._switch.record.network
        known = self._ledger.catalog.meta(NETWORK)
        return None if known is None else Record.from_json(known).network

    def remove(self) -> None:
        """Forget the network that the root holds, with all that it keeps, before one is deployed here.

        The numbers of the log continue with the next network. A crash leaves all of it, or nothing.
        """
        if self._running is not None:
            raise EngineError(Problem(self.root.uri, "runs a network", "another Node on this root"))
        with self._ledger.change() as change:
            change.forget_network()

    @property
    def workers(self) -> int:
        """How many tasks run at a time."""
        return self._runner.tasks

    @property
    def log_end(self) -> int:
        """The sequence number that the next event begins with."""
        return self._ledger.catalog.log_end()

    def attached(self) -> dict[str, Network]:
        """The ad hoc queries that are attached, by name."""
        return dict(self._switching.record.queries)

    # --- in

    def push(
        self,
        name: str,
        batch: Pushed,
        *,
        now: int | None = None,
        rejected: Sequence[Rejected] = (),
        position: Position | None = None,
        key: Key | None = None,
        wait_s: float | None = None,
    ) -> int | None:
        """Push tuples to an input as one batch; durable when this returns. Returns the end of the log.

        `batch` is an Arrow table or record batch, a list of dictionaries, one dictionary, or a DataFrame of
        pandas, Spark or Polars. `rejected` are rows that did not become tuples, for the quarantine.
        `position` is the name of a source and how far it has come, committed with the tuples: `position()`
        reports it after a restart. If it is a number, repeated pushes are recognised: a push whose number is
        not above the last one of its source stores nothing and returns None. A `key` does the same for a
        caller without a source. With `wait_s`, `Busy` is raised if there is no room after so many seconds.
        """
        return self.admit(
            name, batch, now=now, rejected=rejected, position=position, key=key, wait_s=wait_s
        ).end

    def admit(
        self,
        name: str,
        batch: Pushed,
        *,
        now: int | None = None,
        rejected: Sequence[Rejected] = (),
        position: Position | None = None,
        key: Key | None = None,
        wait_s: float | None = None,
    ) -> Receipt:
        """Push tuples to an input as `push` does; returns what came of them.

        The receipt of a push with a `key` is kept: a push with the same key and digest stores nothing and
        gets the same receipt, and one with another digest raises `KeyReused`.
        """
        ingest = self._deployed.ingest
        ingest.check_stream(name)
        if (known := ingest.known(name, key, position)) is not None:
            return known
        self._deployed.back_pressure.wait(f"{self._ledger.plan.network.name}.{name}", wait_s)
        arrived = self._moment(now)
        with self._ledger.writing():
            stored = ingest.store(name, batch, arrived)
            return ingest.admit(Arrival(name, stored, arrived, rejected=rejected, position=position, key=key))

    def adopt(
        self, name: str, path: str | Path, *, now: int | None = None, position: Position | None = None
    ) -> int | None:
        """Take a Parquet file as input without copying it: it becomes a segment, so it must not change.

        As with `push`, a repeated call with the same number as `position` does nothing.
        """
        ingest = self._deployed.ingest
        ingest.check_stream(name)
        arrived = self._moment(now)
        segment = ingest.adopt(name, Root.of(path).uri, arrived)
        return ingest.append(Arrival(name, segment, arrived, position=position))

    def refresh(self, name: str) -> int:
        """Read the store of an input again; returns the end of the log, after which the new rows apply."""
        return self._deployed.keeper.refresh(name)

    def position(self, source: str) -> str | None:
        """How far a source had come by the last commit, in its own terms."""
        return self._ledger.catalog.position(source)

    def tick(self, now: int | None = None, *, position: Position | None = None) -> int | None:
        """Let time pass, though nothing arrives; a node does this by itself when a timeout is due."""
        return self._deployed.ingest.tick(self._moment(now), position)

    def promise(
        self, name: str, value: object, now: int | None = None, *, position: Position | None = None
    ) -> int | None:
        """Promise that no later tuple of an input is below a value of its progress attribute: a heartbeat.

        Returns the end of the log. As with `push`, a repeated call with the same `position` does nothing.
        """
        return self._deployed.ingest.promise(name, value, self._moment(now), position)

    def flush(self, now: int | None = None, *, position: Position | None = None) -> int | None:
        """End all streams: buffers are released and windows closed.

        With a `position`, a source that resumes after a crash knows that it had already ended.
        """
        return self._deployed.ingest.flush(self._moment(now), position)

    # --- how it goes

    def drain(self) -> None:
        """Wait until every pushed tuple is processed."""
        self._deployed.loop.drain()

    def pause(self) -> None:
        """Start no more trains, and wait for the running ones to finish."""
        self._deployed.loop.pause()

    @property
    def is_paused(self) -> bool:
        """Whether trains wait for `resume`, after `pause`."""
        return self._deployed.state.paused

    @property
    def is_deployed(self) -> bool:
        """Whether the node runs a network."""
        return self._running is not None and not self._stopped

    def failures(self) -> dict[str, AustralisError]:
        """The ad hoc queries that a failed train has stopped, and why it failed."""
        return dict(self._deployed.state.failed)

    @property
    def train_times(self) -> TrainTimes | None:
        """How long trains take and how often they fail, if a network is deployed."""
        return None if self._running is None else self._running.loop.times

    def check(self) -> None:
        """Raise the error that has stopped the trains, if there is one."""
        self._deployed.state.check()

    def resume(self) -> None:
        """Continue, also after an error whose cause was fixed."""
        self._deployed.loop.resume()

    def step(self) -> Train | None:
        """Run one train while the node is paused; None if there is nothing to do."""
        return self._deployed.loop.step()

    def set_breakpoint(self, name: str, arc: str, where: str = "true") -> None:
        """Pause before the train that would take a tuple of an arc that satisfies a predicate.

        What is before that tuple runs first. `resume` continues up to the next such tuple, and `step` takes
        it. The arc must be one on which tuples wait for trains. Nothing of it is stored: a node that is
        opened again has no breakpoints. Ad hoc queries do not heed them.
        """
        loop = self._deployed.loop
        with loop.turn:
            loop.breakpoints.add(name, arc, where)

    def breakpoints(self) -> dict[str, Breakpoint]:
        """The breakpoints by name: how often each has paused the node, and where it waits now."""
        loop = self._deployed.loop
        with loop.turn:
            return loop.breakpoints.listed()

    def remove_breakpoint(self, name: str) -> bool:
        """Remove a breakpoint; whether there was one. A node that has paused there stays paused."""
        loop = self._deployed.loop
        with loop.turn:
            return loop.breakpoints.remove(name)

    def on_train(self, heard: Callable[[Train], None]) -> None:
        """Call `heard` after every train that is committed."""
        self._deployed.loop.heard = heard

    def listen(self, told: Callable[[], None]) -> Callable[[], None]:
        """Call `told` after every train as well, besides others; returns what ends that."""
        loop = self._deployed.loop
        loop.listeners = (*loop.listeners, told)

        def end() -> None:
            loop.listeners = tuple(each for each in loop.listeners if each is not told)

        return end

    def statistics(self) -> Statistics:
        """The statistics of boxes, queues and outputs."""
        with self._deployed.ledger.snapshot() as (queues, catalog):
            return statistics_of(queues.plan, queues, catalog, self._clock())

    def quality(self, window_s: int = WINDOW_S) -> QualityReport:
        """What outputs received over the last seconds, and its utility by their QoS graphs."""
        with self._deployed.ledger.snapshot() as (queues, catalog):
            return quality_of(queues.plan, queues, catalog, self._clock(), window_s)

    def behind(self, name: str, age_s: float) -> list[Downstream]:
        """The outputs behind an input: their graphs, and what they get of it how much later.

        `age_s` is how old its tuples are when they arrive.
        """
        running, now = self._deployed, self._clock()
        with running.loop.turn:
            return running.steering.behind(name, age_s, running.ledger.queues, now)

    def infer(self, output: str, quality: Quality | None) -> None:
        """Schedule and shed by these graphs for an output that goes on to another node; None for none.

        An output with graphs of its own keeps them. Nothing of it is stored.
        """
        running = self._deployed
        with running.loop.turn:
            running.steering.infer(output, quality)

    def seen(self) -> Recent:
        """What outputs and the gates of superboxes have received so far: for `quality_since`."""
        return all_so_far(self._ledger.catalog)

    def quality_since(self, before: Recent, seconds: float) -> QualityReport:
        """What outputs received in the seconds since `seen` was called, and its utility."""
        with self._deployed.ledger.snapshot() as (queues, catalog):
            found = all_so_far(catalog).since(before)
        return monitor(queues.plan, queues, found, self._clock(), math.ceil(seconds))

    def network(self) -> Network:
        """The network as it runs, including its drop boxes."""
        return live(self._ledger.plan, dict(self._deployed.steering.dropboxes.standing))

    @property
    def lock_held_ms(self) -> float:
        """The longest time so far that a thread has held the node's lock."""
        return self._ledger.guard.longest_ns / 1e6

    def shed(self) -> list[Entry]:
        """All drop boxes so far: where, with which predicate, since when, and what they shed."""
        return drop_log(self._ledger.catalog)

    def arc_of(self, superbox: str, stream: str) -> str | None:
        """The arc on which a drop box stands; None if its superbox no longer runs."""
        known = self._ledger.plan.superboxes.get(superbox)
        return None if known is None else known.reads.get(stream)

    # --- out

    def read(self, output: str, begin: int = 0, end: int | None = None) -> pa.Table:
        """All that an output keeps, or what has sequence numbers from `begin` up to the `end` of `kept`.

        The columns are its attributes, `#ts` and `#seq`.
        """
        return self._deployed.subscriptions.read(output, begin, end)

    def frame(
        self, output: str, begin: int = 0, end: int | None = None, *, hold_s: float = 3600.0
    ) -> DataFrame:
        """What `read` returns, as a Spark DataFrame whose tasks read the files; only `#seq` orders it.

        It holds what was kept when it was made. Its files stay for `hold_s` seconds, also when the node
        merges them or no longer needs them.
        """
        session = self.spark
        return on_spark.frame_of(
            session, self.root, self._deployed.subscriptions.hold(output, begin, end, hold_s)
        )

    def kept(self, output: str, begin: int = 0, rows: int | None = None) -> Kept:
        """How much an output keeps from a sequence number on; with `rows`, at most about so many tuples."""
        running = self._deployed
        is_in_the_way = running.back_pressure.waiting > 0
        return replace(running.subscriptions.kept(output, begin, rows), is_in_the_way=is_in_the_way)

    def history(
        self,
        point: str,
        where: str | None = None,
        *,
        since: Instant = None,
        until: Instant = None,
        columns: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> Iterator[pa.Table]:
        """What a connection point keeps now, table by table: its attributes, `#ts` and `#seq`.

        `where` is a predicate. `since` and `until` are times of arrival: a datetime, microseconds since 1970,
        or a text such as "2 h", meaning two hours ago.
        """
        now = self._clock()
        since_us, until_us = instant_us(since, now), instant_us(until, now)
        ledger = self._deployed.ledger
        asked = question(
            ledger.plan, point, where=where, since_us=since_us, until_us=until_us, columns=columns
        )
        return recall(ledger, asked, limit)

    def subscribe(
        self, output: str, *, consumer: str = "subscriber", follow: bool = True, rows: int = ROWS_MOST
    ) -> Subscription:
        """The tuples of an output, table by table, from where the consumer of this name left off.

        A table is acknowledged when the next one is asked for. Without `follow` it ends when everything
        pushed so far is processed, or the node is paused. Only one subscription at a time can use a consumer
        name. `close()` ends it early.
        """
        return self._deployed.subscriptions.subscribe(output, consumer, follow, rows)

    def follow(self, output: str, begin: int | None = None) -> Follower:
        """A reader of an output that begins at any number that is kept, or with what comes next.

        Nothing is kept for it: it is told which numbers it has missed.
        """
        return self._deployed.subscriptions.follow(output, begin)

    def window(self, output: str, tuples: int, size: int, since: int = 0) -> int:
        """From which number on an output keeps at most so many tuples and bytes, none older than a time."""
        return self._deployed.subscriptions.window(output, tuples, size, since)

    def peek(self, arc: str, limit: int = 100) -> pa.Table:
        """The first tuples that wait on an arc now, with `#ts` and `#seq`; they stay there."""
        return self._deployed.subscriptions.peek(arc, limit)

    def tap(self, arc: str, limit: int = 100) -> Tap:
        """Samples of what passes an arc from now on, each of at most so many tuples."""
        return self._deployed.subscriptions.tap(arc, limit)

    def consumer(self, consumer: str, output: str) -> tuple[int, str | None]:
        """How far a consumer has come: the number after its last tuple, and its own note of it."""
        return self._deployed.subscriptions.consumer(consumer, output)

    def consumers(self, output: str) -> dict[str, tuple[int, int]]:
        """The consumers of an output: the number after the last tuple of each, and how far it is behind."""
        return self._deployed.subscriptions.consumers(output)

    def acknowledge(self, consumer: str, output: str, seq: int, position: str | None = None) -> None:
        """Acknowledge all tuples of a consumer before a number; what nobody needs any more is deleted.

        On a stopped node this does nothing: the tuples are delivered again when the root is opened again.
        """
        (self._running or self._deployed).subscriptions.acknowledge(consumer, output, seq, position)

    def has_output(self, name: str) -> bool:
        """Whether the network has an output of this name now."""
        return name in self._ledger.plan.outputs

    def output_schema(self, name: str) -> Schema | None:
        """The schema of an output of the network, or of a query that is attached; None if there is none."""
        arc = self._ledger.plan.outputs.get(name)
        return None if arc is None else self._ledger.plan.arcs[arc].schema

    def note(self, name: str) -> str | None:
        """What `keep` has kept under a name."""
        return self._ledger.catalog.meta(_NOTE + name)

    def keep(self, name: str, text: str) -> None:
        """Keep a text in the root, for what runs beside the network; durable when this returns."""
        with self._ledger.change() as change:
            change.set_meta(_NOTE + name, text)

    def discard(self, output: str) -> None:
        """Keep nothing of an output for readers, neither what it has nor what it will receive."""
        self._deployed.subscriptions.discard(output)

    def forget(self, consumer: str, output: str) -> None:
        """Keep nothing for a consumer that will not return. One that is still reading is registered again."""
        self._deployed.subscriptions.forget(consumer, output)

    # --- inside

    def _since(self, began_ns: int) -> str:
        """Elapsed time as text, for the log."""
        return f", after {(self._threads.ticks_ns() - began_ns) / 1e6:,.0f} ms"

    def _redrawn(self, record: Record, network: Network) -> Record:
        return redrawn(record, network, optimise=self.settings.optimise)

    def _take_leave(self, *, now: bool) -> None:
        """Stop answering other processes, while the node can still send last answers."""
        if self.control is not None:
            self.control.close(now=now)
            self.control = None

    def _close(self) -> None:
        """Release the ports and the root."""
        self._take_leave(now=True)
        if self.metrics is not None:
            self.metrics.close()
            self.metrics = None
        self._opened.close()

    def _known(self) -> Statistics | None:
        """The statistics, if a network is deployed."""
        return None if self._running is None or self._stopped else self.statistics()

    @property
    def _switching(self) -> Switch:
        """The part that changes the network; exists once a network runs."""
        if self._switch is None or self._stopped:
            raise self._idle()
        return self._switch

    @property
    def _deployed(self) -> Running:
        if self._running is None or self._stopped:
            raise self._idle()
        return self._running

    def _moment(self, now: int | None) -> int:
        """The local time of an event: the one that was given with it, or that of the clock."""
        return moment(self._ledger.plan.network.name, self._clock() if now is None else now)

    def _idle(self) -> EngineError:
        if self._stopped:
            return EngineError(Problem(self.root.uri, "its node has stopped", "another Node on this root"))
        return EngineError(Problem(self.root.uri, "runs no network", "deploy() first"))


def _located(network: Network) -> Network:
    """A network with absolute paths of stores: workers and later runs have other current directories."""
    return network.located(str(Path.cwd()))
