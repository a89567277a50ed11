"""The ledger: the one owner of what is committed on a root.

A change is a unit of work. It owns the lock, the transaction, the mirror in memory and the files to be
deleted. Everything becomes visible atomically: the mirror is updated only after the commit, and files are
deleted only after both. Committed state cannot be changed outside of a unit of work.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from australis.engine.crash_points import crash_point
from australis.engine.ledger.catalog import COMMITS, Catalog, CatalogFile
from australis.engine.ledger.garbage import Garbage
from australis.engine.ledger.guard import Guard
from australis.engine.ledger.log import FLUSH, LOAD, Head, LogEvent, Rises, StateFile, maker_of
from australis.engine.ledger.places import Memory
from australis.engine.ledger.queues import Queues, load_queues, own_bytes
from australis.engine.ledger.transaction import Database, Transaction
from australis.engine.store import Root, Segment
from australis.engine.threads import Threads
from australis.errors import EngineError, Problem
from australis.kernels.marks import InputMark, raised
from australis.plan.superboxes import Plan

_log = logging.getLogger(__name__)
Arrivals = list[tuple[str, int, int]]
"""Arcs that got tuples, how many, and when."""


class UnitOfWork(Transaction):
    """A unit of work: statements for the catalogue, and a draft of the next mirror."""

    def __init__(self, db: Database, queues: Queues | None) -> None:
        super().__init__(db)
        self._queues = None if queues is None else replace(queues, memory=None)
        self._plan: Plan | None = None
        self._dropped: dict[str, None] = {}
        self.buried: list[str] = []
        """The files that nothing refers to once this is committed."""
        self.is_finished = False
        self.arrivals: Arrivals = []
        self.followers: list[Callable[[], None]] = []

    @property
    def queues(self) -> Queues:
        """The queues, including everything that this change has done to them so far."""
        if self._queues is None:
            raise EngineError(Problem("ledger", "no plan runs so far"))
        return self._queues

    # --- the log and the queues

    def log(self, event: LogEvent) -> None:
        """Append an event to the log."""
        super().log(event)
        self._queues = replace(self.queues, log_end=event.end, log_now=event.now)

    def raise_marks(self, event: LogEvent, rises: Rises | None = None) -> None:
        """Record the marks that an event raises: those of its input, and of inputs that are idle.

        Loading a table raises none: the streams begin after it.
        """
        if event.kind == LOAD:
            return
        promised = dict(self.queues.promised)
        for name, bound in self.queues.plan.makers.items():
            maker, own = maker_of(name, bound), rises if name == event.input else None
            before = promised.get(maker, InputMark())
            came = None if own is None or own.rows is None else (event.base + 1 + own.rows, own.marks)
            promise = None if own is None else own.promise
            marks, after = raised(bound, before, event.now, event.base, arrivals=came, promise=promise)
            if after != before:
                self.note_marks(maker, event.base, marks, after)
                promised[maker] = after
            if event.kind == FLUSH:
                self.end_marks(maker, event.base + 1)
                promised[maker] = InputMark()
        self._queues = replace(self.queues, promised=promised)

    def add_segments(self, segments: Iterable[Segment], arrived: int | None = None) -> None:
        """Add segments to their arcs; with `arrived`, their tuples are new at that time."""
        added = list(segments)
        super().add_segments(added)
        if self._queues is None:
            return
        arcs = dict(self._queues.segments)
        for segment in added:
            arcs[segment.arc] = (*arcs.get(segment.arc, ()), segment)
        grown = sum(own_bytes(segment) for segment in added)
        self._queues = replace(self._queues, segments=arcs, bytes=self._queues.bytes + grown)
        if arrived is not None:
            self.arrivals += [(segment.arc, segment.rows, arrived) for segment in added]

    def drop_segments(self, segments: Iterable[Segment]) -> None:
        """Remove segments; their files are deleted, unless another segment is in them."""
        dropped = list(segments)
        if not dropped:
            return
        super().drop_segments(dropped)
        self.bury(segment.name for segment in dropped if not segment.adopted)
        if self._queues is None:
            return
        gone, arcs = set(dropped), dict(self._queues.segments)
        for arc in dict.fromkeys(segment.arc for segment in dropped):
            arcs[arc] = tuple(each for each in arcs[arc] if each not in gone)
        shrunk = sum(own_bytes(segment) for segment in dropped)
        self._queues = replace(self._queues, segments=arcs, bytes=self._queues.bytes - shrunk)

    def set_head(self, superbox: str, head: Head) -> None:
        """Set how far a superbox has come."""
        super().set_head(superbox, head)
        if self._queues is not None:
            self._queues = replace(self._queues, heads={**self._queues.heads, superbox: head})

    def forget_superboxes(self, superboxes: Iterable[str]) -> None:
        """Reset superboxes, as if they had never run."""
        forgotten = list(superboxes)
        super().forget_superboxes(forgotten)
        if self._queues is not None:
            known = self._queues.heads
            gone = {name: Head() for name in forgotten if name in known}
            self._queues = replace(self._queues, heads={**known, **gone})

    def set_consumer(self, name: str, output: str, seq: int, position: str | None = None) -> None:
        """Set how far a consumer has come; without a `position` its last note stays."""
        super().set_consumer(name, output, seq, position)
        if self._queues is not None:
            consumers = {**self._queues.consumers, (name, output): seq}
            self._queues = replace(self._queues, consumers=consumers)

    def drop_consumer(self, name: str, output: str) -> None:
        """Keep nothing for a consumer any more."""
        super().drop_consumer(name, output)
        if self._queues is not None:
            known = self._queues.consumers.items()
            others = {key: seq for key, seq in known if key != (name, output)}
            self._queues = replace(self._queues, consumers=others)

    # --- states and files

    def add_states(
        self, superbox: str, states: Iterable[StateFile], replaced: Collection[str] = ()
    ) -> list[str]:
        """Make states current; the files that they replace are deleted."""
        gone = super().add_states(superbox, states, replaced)
        self.bury(gone)
        return gone

    def merge_states(self, superbox: str, merged: Sequence[str], made: StateFile) -> bool:
        """Put one file in the place of some; what is not needed after that is deleted."""
        is_there = super().merge_states(superbox, merged, made)
        self.bury(merged if is_there else [made.name])
        return is_there

    def clear_states(self, superbox: str) -> list[str]:
        """Forget all states of a superbox; their files are deleted."""
        cleared = super().clear_states(superbox)
        self.bury(cleared)
        return cleared

    def bury(self, names: Iterable[str]) -> None:
        """Delete files after the commit, unless something refers to them then."""
        self._dropped |= dict.fromkeys(names)

    def finish(self, number: int, catalog: Catalog) -> None:
        """Prepare everything that follows the commit, so that nothing can fail after it.

        The number identifies the commit.
        """
        self.buried = [name for name in self._dropped if not self.refers_to(name)]
        self.set_meta(COMMITS, str(number))
        if self._plan is not None:
            self._queues = self._load(self._plan, catalog)
        self.is_finished = True

    def follow(self, follower: Callable[[], None]) -> None:
        """Update something else in memory with the mirror: after the commit, and before others look."""
        self.followers.append(follower)

    # --- the plan

    def run_plan(self, plan: Plan) -> None:
        """Let another plan run from the commit on; by then the catalogue has all that it needs."""
        self._plan = plan

    def _load(self, plan: Plan, catalog: Catalog) -> Queues:
        """The queues of another plan; an output that is added again counts as a new one."""
        before = self._queues
        gone = () if before is None else before.plan.outputs.keys() - plan.outputs.keys()
        known: Mapping[str, int] = {} if before is None else before.lives
        lives = {**known, **{name: known.get(name, 0) + 1 for name in gone}}
        return load_queues(plan, catalog, lives, before)

    @property
    def mirror(self) -> Queues | None:
        """The queues after the commit, once this is finished."""
        return self._queues


class Ledger:
    """What is committed on a root, and the only way to change it."""

    def __init__(self, root: Root, catalog: CatalogFile, garbage: Garbage, threads: Threads) -> None:
        self.root, self._catalog, self._garbage = root, catalog, garbage
        self.guard = Guard(threads)
        self.merging = threads.lock()
        """Its holder may replace files of states by others with the same contents, or takes states over."""
        self._queues: Queues | None = None
        self._memory: Memory[Queues] = Memory()
        self._commits = int(catalog.meta(COMMITS) or 0)
        self._doubtful: UnitOfWork | None = None
        """A change whose commit failed, so that only the catalogue knows whether it happened."""
        self._may_return = False
        """Whether a commit failed that a later start may find done, until another one takes its place."""
        self._adopted: list[UnitOfWork] = []
        """Committed changes whose files are still to be deleted."""
        self._is_inside = False
        self.on_arrivals: Callable[[Arrivals], None] = lambda arrivals: None
        """Called after each commit that has added tuples to arcs."""
        self.waste_bytes = 0
        """The bytes of the disk budget that the trash of the root takes."""
        self.tidy: Callable[[], bool] = lambda: False
        """Keeps the files of the root in order when called periodically; returns whether to call it again."""

    @property
    def commits(self) -> int:
        """The number of commits on the root."""
        return self._commits

    @property
    def used_bytes(self) -> int:
        """The bytes of the disk budget that the root takes: segments and trash."""
        return self.queues.bytes + self.waste_bytes

    @property
    def catalog(self) -> Catalog:
        """The committed catalogue, read-only."""
        return self._catalog

    @property
    def queues(self) -> Queues:
        """The queues as of the last commit."""
        if self._queues is None:
            raise EngineError(Problem(self.root.uri, "runs no network", "deploy() first"))
        return self._queues

    def log_now(self) -> int:
        """The local time of the last event of the log, even before a plan runs."""
        return self._catalog.log_now() if self._queues is None else self._queues.log_now

    @property
    def plan(self) -> Plan:
        """The running plan."""
        return self.queues.plan

    def load_plan(self, plan: Plan) -> None:
        """Load the queues of a plan whose heads and segments are already committed, if there are any."""
        with self.guard:
            self._queues = replace(load_queues(plan, self.catalog, {}), memory=self._memory)

    # --- the unit of work

    @contextmanager
    def change(self) -> Iterator[UnitOfWork]:
        """Change what is committed: everything that is done inside, or nothing."""
        failure: EngineError | None = None
        with self.guard:
            self._settle_doubt()
            try:
                with self._once(), self._catalog.transaction() as db, UnitOfWork(db, self._queues) as change:
                    yield change
                    change.finish(self._commits + 1, self._catalog)
                    self._doubtful = change
                self._adopt(change)
            except BaseException as error:
                if not self._settle_doubt() or not isinstance(error, EngineError):
                    raise
                failure = error
            adopted, self._adopted = self._adopted, []
        if failure is not None:
            _log.warning("a commit succeeded though it reported a failure: %s", failure)
        crash_point("ledger.committed")
        self._clean_up(adopted)
        crash_point("ledger.buried")

    def settle(self) -> None:
        """Find out what became of a failed commit, before anything is decided from the queues.

        Raises if the catalogue cannot be read.
        """
        if self._doubtful is None:
            return
        with self.guard:
            self._settle_doubt()
            adopted, self._adopted = self._adopted, []
        self._clean_up(adopted)

    def catch_up(self) -> None:
        """Read what another node has committed meanwhile, before any plan runs."""
        assert self._queues is None, "a plan runs"
        self._commits = self._catalog.catch_up()

    @property
    def is_copy_due(self) -> bool:
        """Whether the whole catalogue is to be copied to the root."""
        return self._catalog.is_copy_due

    def write_copy(self) -> None:
        """Copy the whole catalogue to the root, while others commit."""
        self._catalog.write_copy()

    def confirm(self) -> None:
        """Make sure that a later start finds what the catalogue shows now.

        A commit whose sync failed counts as undone, but its pages may have reached the disk. Any later commit
        takes their place.
        """
        self.settle()
        if self._may_return:
            with self.change():
                _log.info("a commit that failed is replaced")

    def _clean_up(self, adopted: Iterable[UnitOfWork]) -> None:
        """Do the work that follows a commit, and may take a while."""
        for each in adopted:
            self.on_arrivals(each.arrivals)
            self._garbage.bury(each.buried)

    @contextmanager
    def _once(self) -> Iterator[None]:
        assert not self._is_inside, "a change inside another one"
        self._is_inside = True
        try:
            yield
        finally:
            self._is_inside = False

    def _settle_doubt(self) -> bool:
        """Find out whether a change whose commit failed was committed after all; if so, adopt it."""
        doubtful = self._doubtful
        if doubtful is None:
            return False
        self._catalog.settle()
        happened = int(self._catalog.meta(COMMITS) or 0) > self._commits
        self._doubtful = None
        if happened:
            self._adopt(doubtful)
        else:
            self._may_return = True
        return happened

    def _adopt(self, change: UnitOfWork) -> None:
        """Update the mirror after a committed change, and wake everybody who waits for one."""
        self._commits, self._doubtful, self._may_return = self._commits + 1, None, False
        for follow in change.followers:
            follow()
        self._queues = None if change.mirror is None else replace(change.mirror, memory=self._memory)
        self._adopted.append(change)
        self.guard.notify()

    # --- looking and reading

    def enter(self) -> int:
        """Begin to read files: those of the present queues stay until `leave`, whatever is committed."""
        return self._garbage.enter()

    def leave(self, reader: int) -> None:
        """Stop reading; takes the number that `enter` gave."""
        self._garbage.leave(reader)

    def writing(self) -> AbstractContextManager[None]:
        """Write files that a change inside names: until it ends, they are not taken for orphans."""
        return self._garbage.writing()

    @contextmanager
    def snapshot(self) -> Iterator[tuple[Queues, Catalog]]:
        """Queues and catalogue as of one moment, which can be read for any length of time."""
        with self._catalog.reader() as catalog:
            with self.guard:
                queues = self.queues
                catalog.begin()
            yield queues, catalog

    @contextmanager
    def reading(self) -> Iterator[Queues]:
        """Read files: those of these queues stay until the end, whatever is committed meanwhile."""
        with self._garbage.reading():
            yield self.queues
