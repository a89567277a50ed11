"""Mutations of ledger, marks, switch and commit: the simulator must find each within a thousand seeds.

A mutation is a mistake that somebody could make: a line left out, two lines in the wrong order. It is put
into running code, and `python -m tests.simulation.campaign --mutations` looks for a seed that notices.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from australis.engine.change.switch import Switch
from australis.engine.deliver.subscriptions import Subscriptions
from australis.engine.ingest.log import Ingest, Placed
from australis.engine.ledger.catalog import Catalog
from australis.engine.ledger.copies import CopiedCatalog, Copies, Recorder
from australis.engine.ledger.copies.copies import Snapshot
from australis.engine.ledger.copies.records import CommitRecord
from australis.engine.ledger.copies.replay import TOKEN
from australis.engine.ledger.garbage import Garbage
from australis.engine.ledger.ledger import Ledger, UnitOfWork
from australis.engine.ledger.log import MarkLog, Receipt
from australis.engine.ledger.transaction import Transaction
from australis.engine.run_state import RunState
from australis.engine.store.disk import Data
from australis.engine.store.root import Root
from australis.engine.train import commit

Mutation = Callable[[], AbstractContextManager[Any]]


def no_sync() -> AbstractContextManager[Any]:
    """A file is written without a sync."""

    def write(self: Root, name: str, data: Data) -> None:
        self.disk.create(name, data)

    return patch.object(Root, "write", write)


def no_full_synchronous() -> AbstractContextManager[Any]:
    """SQLite does not wait for the disk at a commit."""
    opened = Catalog._open

    def open_lazily(self: Catalog) -> None:
        self._db.execute("pragma synchronous = off")
        opened(self)

    return patch.object(Catalog, "_open", open_lazily)


def copy_after_commit() -> AbstractContextManager[Any]:
    """A commit is copied to the root only when it is on the disk."""

    @contextmanager
    def transaction(self: CopiedCatalog) -> Iterator[Recorder]:
        with self._lock, self._explained():
            self._db.execute("begin immediate")
            try:
                recorder = Recorder(self._db)
                yield recorder
                number, token = int(self.meta("commits") or 0), self._copies.root.disk.token()
                record = CommitRecord(number, token, self.meta(TOKEN) or "", "", "", recorder.statements)
                recorder.execute("insert or replace into meta values (?, ?)", (TOKEN, token))
                self._db.execute("commit")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise
            self._put(record)
            self._note_commit(record)

    return patch.object(CopiedCatalog, "transaction", transaction)


def pruned_before_the_snapshot() -> AbstractContextManager[Any]:
    """Copies of commits are deleted before there is the snapshot that replaces them."""
    write = Copies.write_snapshot

    def write_late(self: Copies, snapshot: Snapshot, image: bytes) -> None:
        self.prune(snapshot, ())
        write(self, snapshot, image)

    return patch.object(Copies, "write_snapshot", write_late)


def mirror_before_commit() -> AbstractContextManager[Any]:
    """The mirror follows a change before it is committed, and stays so when the commit fails."""
    finish = UnitOfWork.finish

    @contextmanager
    def mutated() -> Iterator[None]:
        ledgers: dict[int, Ledger] = {}
        settle = Ledger._settle_doubt

        def remember(self: Ledger) -> bool:
            ledgers[0] = self
            return settle(self)

        def finish_early(self: UnitOfWork, number: int, catalog: Catalog) -> None:
            finish(self, number, catalog)
            ledgers[0]._queues = self._queues

        with (
            patch.object(Ledger, "_settle_doubt", remember),
            patch.object(UnitOfWork, "finish", finish_early),
        ):
            yield

    return mutated()


def files_go_before_commit() -> AbstractContextManager[Any]:
    """Files are deleted inside the change that drops them."""

    @contextmanager
    def mutated() -> Iterator[None]:
        ledgers: dict[int, Ledger] = {}
        settle, finish = Ledger._settle_doubt, UnitOfWork.finish

        def remember(self: Ledger) -> bool:
            ledgers[0] = self
            return settle(self)

        def delete_early(self: UnitOfWork, number: int, catalog: Catalog) -> None:
            finish(self, number, catalog)
            ledgers[0]._garbage.bury(self.buried)

        with (
            patch.object(Ledger, "_settle_doubt", remember),
            patch.object(UnitOfWork, "finish", delete_early),
        ):
            yield

    return mutated()


def readers_are_ignored() -> AbstractContextManager[Any]:
    """Files are deleted though somebody reads them."""

    def bury(self: Garbage, names: Iterable[str]) -> None:
        self._delete(list(names))

    return patch.object(Garbage, "bury", bury)


def head_is_not_committed() -> AbstractContextManager[Any]:
    """A train commits what it wrote, but not how far it came, if it took no tuples with a state."""

    def move_heads(change: UnitOfWork, account: Any) -> None:
        if any(manifest.states for manifest in account.manifests):
            _move_heads(change, account)

    _move_heads = commit._move_heads
    return patch.object(commit, "_move_heads", move_heads)


def state_is_not_committed() -> AbstractContextManager[Any]:
    """A train commits its head and its tuples, but the old states stay."""
    return patch.object(commit, "_set_states", lambda change, superbox, manifests: None)


def position_in_another_change() -> AbstractContextManager[Any]:
    """How far a source has come is committed after its tuples, not with them."""
    write = Ingest.write

    @contextmanager
    def mutated() -> Iterator[None]:
        committed = Ingest._commit

        def without(self: Ingest, change: UnitOfWork, placed: Placed) -> None:
            write(self, change, Placed(placed.event, placed.segments, None, placed.also))

        def commit_twice(self: Ingest, placed: Placed) -> int:
            end = committed(self, placed)
            if placed.position is not None:
                with self._ledger.change() as change:
                    change.set_position(*placed.position)
            return end

        with patch.object(Ingest, "write", without), patch.object(Ingest, "_commit", commit_twice):
            yield

    return mutated()


def receipt_in_another_change() -> AbstractContextManager[Any]:
    """What came of a push with a key is committed after its tuples, not with them."""
    write, committed = Ingest.write, Ingest._commit

    def without(self: Ingest, change: UnitOfWork, placed: Placed) -> None:
        write(self, change, replace(placed, key=None))

    def commit_twice(self: Ingest, placed: Placed) -> int:
        end = committed(self, placed)
        if placed.key is not None:
            with self._ledger.change() as change:
                receipt = Receipt(placed.event.rows, placed.rejected, end)
                change.note_receipt(placed.key, receipt, placed.event.now)
        return end

    both = ExitStack()
    both.enter_context(patch.object(Ingest, "write", without))
    both.enter_context(patch.object(Ingest, "_commit", commit_twice))
    return both


def switch_does_not_wait() -> AbstractContextManager[Any]:
    """A change takes over while what it replaces has not come to one number."""
    return patch.object(Switch, "_wait_until", lambda self, happened, check=None: None)


def switch_does_not_hold() -> AbstractContextManager[Any]:
    """What is about to be replaced is not held where it is."""
    return patch.object(RunState, "hold", lambda self, numbers: None)


def train_is_not_claimed() -> AbstractContextManager[Any]:
    """Two trains of one superbox may run at the same time."""

    def claim(
        self: RunState, superboxes: Collection[str], hi: int, reader: int, *, stepping: bool = False
    ) -> bool:
        with self._guard:
            if self.is_halted or self.stopping:
                return False
            self.busy |= {f"{name}?{reader}": reader for name in superboxes}
            return True

    def release(self: RunState, superboxes: Collection[str], reader: int) -> None:
        with self._changing():
            for name in superboxes:
                self.busy.pop(f"{name}?{reader}", None)

    return _both(patch.object(RunState, "claim", claim), patch.object(RunState, "release", release))


def acknowledged_too_early() -> AbstractContextManager[Any]:
    """A consumer's tuples count as read when they are handed out, not when the next ones are asked for."""
    read = Subscriptions._read

    def read_and_acknowledge(self: Subscriptions, output: str, lo: int, hi: int) -> Any:
        found = read(self, output, lo, hi)
        for consumer, consumed in list(self._ledger.queues.consumers):
            if consumed == output and found is not None:
                self.acknowledge(consumer, output, hi)
        return found

    return patch.object(Subscriptions, "_read", read_and_acknowledge)


def sweep_before_the_catalogue_is_read() -> AbstractContextManager[Any]:
    """Orphans are swept by what the catalogue knew of segments alone: states look like orphans."""
    names = Catalog.names

    def segments_only(self: Catalog) -> set[str]:
        return {name for name in names(self) if not name.startswith("states/")}

    return patch.object(Catalog, "names", segments_only)


def doubt_counts_as_failure() -> AbstractContextManager[Any]:
    """A commit that reported a failure is taken for undone, and the mirror stays as it was."""

    def ignore(self: Ledger) -> bool:
        self._doubtful = None
        return False

    return patch.object(Ledger, "_settle_doubt", ignore)


def marks_stay_at_an_end() -> AbstractContextManager[Any]:
    """The end of the streams is not recorded with the marks: the log has them beyond it."""
    return patch.object(Transaction, "end_marks", lambda self, maker, base: None)


def marks_are_forgotten_at_reopening() -> AbstractContextManager[Any]:
    """A root that is opened again does not know what its inputs have promised."""
    return patch.object(Catalog, "promised", lambda self: {})


def mark_before_is_lost() -> AbstractContextManager[Any]:
    """A train that begins between two marks does not know the one that stands."""
    found = Catalog.marks

    def only_new(self: Catalog, maker: str, lo: int, hi: int) -> MarkLog:
        runs = found(self, maker, lo, hi).runs
        return MarkLog(tuple((begin, end, replace(marks, before=None)) for begin, end, marks in runs))

    return patch.object(Catalog, "marks", only_new)


def mark_comes_before_its_tuple() -> AbstractContextManager[Any]:
    """All marks of a push come with its first number, before the tuples that raise them."""
    write = Ingest.write

    def write_early(self: Ingest, change: UnitOfWork, placed: Placed) -> None:
        rises = placed.rises
        if rises is not None and rises.rows is not None and len(rises.rows):
            rises = replace(rises, rows=rises.rows[:1] * 0 - 1, marks=rises.marks[-1:])
        write(self, change, replace(placed, rises=rises))

    return patch.object(Ingest, "write", write_early)


def marks_in_another_change() -> AbstractContextManager[Any]:
    """The marks of an event are committed after it, not with it."""
    committed, raise_marks = Ingest._commit, UnitOfWork.raise_marks

    @contextmanager
    def mutated() -> Iterator[None]:
        def commit_twice(self: Ingest, placed: Placed) -> int:
            end = committed(self, placed)
            with self._ledger.change() as change:
                raise_marks(change, replace(placed.event, now=change.queues.log_now), placed.rises)
            return end

        nothing = patch.object(UnitOfWork, "raise_marks", lambda self, event, rises=None: None)
        with nothing, patch.object(Ingest, "_commit", commit_twice):
            yield

    return mutated()


def marks_do_not_stir() -> AbstractContextManager[Any]:
    """A superbox that holds something back does not look at marks without tuples."""
    return patch.object(Catalog, "has_marks", lambda self, maker, lo, hi: False)


def _both(*patches: AbstractContextManager[Any]) -> AbstractContextManager[Any]:
    @contextmanager
    def mutated() -> Iterator[None]:
        with patches[0], patches[1]:
            yield

    return mutated()


MUTATIONS: dict[str, Mutation] = {
    each.__name__: each
    for each in (
        no_sync,
        no_full_synchronous,
        mirror_before_commit,
        files_go_before_commit,
        readers_are_ignored,
        head_is_not_committed,
        state_is_not_committed,
        position_in_another_change,
        receipt_in_another_change,
        switch_does_not_wait,
        switch_does_not_hold,
        train_is_not_claimed,
        acknowledged_too_early,
        sweep_before_the_catalogue_is_read,
        doubt_counts_as_failure,
        marks_stay_at_an_end,
        marks_are_forgotten_at_reopening,
        mark_before_is_lost,
        mark_comes_before_its_tuple,
        marks_in_another_change,
        marks_do_not_stir,
        copy_after_commit,
        pruned_before_the_snapshot,
    )
}
