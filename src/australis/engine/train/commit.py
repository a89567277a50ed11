"""The commit of a train: one unit of work that makes its results visible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from australis.engine.crash_points import crash_point
from australis.engine.ledger import (
    Head,
    Ledger,
    StateFile,
    UnitOfWork,
    arcs_with_history,
    expire,
    log_needed_from,
)
from australis.engine.steer import Account
from australis.engine.tables import Tables
from australis.engine.train.dispatch import Dispatched
from australis.engine.worker import Manifest, WrittenState
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Superbox


@dataclass(frozen=True)
class Train:
    """A committed train."""

    superbox: str
    lo: int
    hi: int
    received: int
    emitted: int
    tasks: int
    run_us: int
    commit_us: int
    boxes: tuple[str, ...] = ()
    """The boxes that it went through, in order."""
    reads: tuple[str, ...] = ()
    """The arcs that it took tuples from."""
    writes: tuple[str, ...] = ()
    """The arcs that it put tuples on."""

    def __str__(self) -> str:
        """One line for a log.

        >>> str(Train("fast", 1, 9, 8, 3, 2, 41_000, 2_500))
        'train of fast, numbers 1 to 9: 8 tuples in, 3 out, 2 tasks, ran 41.0 ms, committed in 2.5 ms'
        """
        tuples = f"{self.received} tuples in, {self.emitted} out, {self.tasks} tasks"
        times = f"ran {self.run_us / 1e3:.1f} ms, committed in {self.commit_us / 1e3:.1f} ms"
        return f"train of {self.superbox}, numbers {self.lo} to {self.hi}: {tuples}, {times}"


class Replaced(EngineError):
    """The result of a train is no longer wanted: its superbox was replaced, or had the same train before."""


def commit_train(ledger: Ledger, account: Account, dispatched: Dispatched, tables: Tables) -> None:
    """Commit heads, states, segments and statistics of a train, and drop what nobody needs any more.

    Also notes that the stored tables it looked up have answered.
    """
    crash_point("train.committing")
    with ledger.change() as change:
        _check_current(change, dispatched)
        _move_heads(change, account)
        _set_states(change, account.superbox, account.manifests)
        change.add_segments(account.segments, account.now)
        expire(change, _touched(change, account.superbox), account.now)
        change.forget_events(log_needed_from(change.queues))
        account.write(change)
        tables.note_answers(change, account.superbox.tables)
        crash_point("train.changed")
    crash_point("train.committed")


def _check_current(change: UnitOfWork, dispatched: Dispatched) -> None:
    """Refuse a train of a superbox that no longer runs, or that has advanced meanwhile.

    A switch waits for the trains of what it replaces, and a superbox has one train at a time. But while it
    was in doubt whether a commit took effect, decisions may have been made that are outdated.
    """
    queues, members = change.queues, dispatched.members
    before, now = dispatched.plan.superboxes, queues.plan.superboxes
    if any(now.get(member) != before[member] for member in members):
        raise Replaced(Problem(dispatched.superbox.id, "was replaced while its train ran"))
    if tuple(queues.heads[member].version for member in members) != dispatched.versions:
        raise Replaced(Problem(dispatched.superbox.id, "has had its train already"))


def _move_heads(change: UnitOfWork, account: Account) -> None:
    """Move the heads of all members to the train's end."""
    deadlines = [each.deadline for each in account.manifests if each.deadline is not None]
    plan, heads = change.queues.plan, change.queues.heads
    for member in account.superbox.members:
        due = min(deadlines, default=None) if plan.superboxes[member].has_timeouts else None
        awaits = plan.superboxes[member].goes_by_progress and any(m.awaits_marks for m in account.manifests)
        change.set_head(member, Head(account.hi, heads[member].version + 1, due, awaits))


def _set_states(change: UnitOfWork, superbox: Superbox, manifests: Sequence[Manifest]) -> None:
    """Make the states that the train has written current."""
    written = [state for manifest in manifests for state in manifest.states]
    for member in superbox.members:
        boxes = change.queues.plan.superboxes[member].ordered
        own = [state for state in written if state.box in boxes]
        files = [StateFile(state.box, state.partition, state.name, state.bytes) for state in own]
        change.add_states(member, files, [name for state in own for name in _replaced(change, member, state)])


def _replaced(change: UnitOfWork, superbox: str, state: WrittenState) -> Sequence[str]:
    """The files that a state replaces; layers below may have been merged while the train ran."""
    return change.state_names(superbox, state.box, state.partition) if state.is_whole else state.replaces


def _touched(change: UnitOfWork, superbox: Superbox) -> list[str]:
    """The arcs whose tuples may no longer be needed: those of the train, and those with history."""
    own = (*superbox.reads.values(), *superbox.writes.values())
    return list(dict.fromkeys((*own, *arcs_with_history(change.queues))))
