"""Whether trains run: which do, what holds others back, and how to wait for that to change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager

from australis.engine.ledger import Ledger, Queues
from australis.errors import AustralisError, EngineError, Problem


class RunState:
    """What a node is doing at the moment. Change it only under the ledger's lock."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._guard = ledger, ledger.guard
        self.busy: dict[str, int] = {}
        """The superboxes with a running train, and the train's number as a reader of files."""
        self.held: dict[str, int] = {}
        """The number at which each superbox that is about to be replaced stops."""
        self.changing = 0
        """How many changes of the plan are under way, during which waiting tuples may not show."""
        self.unheard = 0
        """How many committed trains listeners have not been told of yet."""
        self.paused = False
        self.stopping = False
        self.error: AustralisError | None = None
        """The error that stopped all trains."""
        self.failed: dict[str, AustralisError] = {}
        """The ad hoc queries with a failed train, and why it failed: they are stopped, all else continues."""

    # --- what is to be done

    def due(self, queues: Queues) -> dict[str, int]:
        """The superboxes with work to do, and the numbers up to which their next trains may go.

        They have tuples, stored tables, time or an end of stream to process. Those of failed queries are not
        due.
        """
        places = queues.places_within(self.held)
        positions = places.positions
        found = {name: end for name, end in places.ends.items() if positions[name] < end}
        if not self.failed and not queues.plan.views:
            return found
        plan, views = queues.plan, queues.plan.views
        return {
            name: end
            for name, end in found.items()
            if plan.query_of(name) not in self.failed and views.get(name) != 0
        }

    def is_idle(self) -> bool:
        """Whether nothing waits, nothing runs, and listeners were told of every commit."""
        return not self.unheard and not self._is_under_way() and not self.due(self._ledger.queues)

    def is_resting(self) -> bool:
        """Whether nothing runs, and nothing will before somebody changes that."""
        if self._is_under_way():
            return False
        return self.paused or self.stopping or not self.due(self._ledger.queues)

    def _is_under_way(self) -> bool:
        return bool(self.busy or self.held or self.changing)

    def is_busy(self, superboxes: Iterable[str]) -> bool:
        """Whether any of some superboxes has a running train."""
        return any(name in self.busy for name in superboxes)

    # --- what holds trains back

    @property
    def is_halted(self) -> bool:
        """Whether no train starts by itself."""
        return self.paused or self.error is not None

    def check(self, superbox: str = "") -> None:
        """Raise the error that stopped all trains, or those of the query that a superbox belongs to."""
        error = self.error or self.failed.get(self._ledger.plan.query_of(superbox) or "")
        if error is not None:
            raise error

    def check_going(self, path: str, before: str) -> None:
        """Raise if no train can start until somebody intervenes; `before` says what will not happen then."""
        self.check()
        if self.stopping:
            raise EngineError(Problem(path, f"is stopped before {before}"))
        if self.paused:
            raise EngineError(Problem(path, f"is paused before {before}", "resume() first"))

    # --- changes: each wakes everybody who waits for one

    def stop(self) -> None:
        """Start no more trains."""
        with self._changing():
            self.stopping = True

    def pause(self) -> None:
        """Start no train until `resume`."""
        with self._changing():
            self.paused = True

    def resume(self) -> None:
        """Start trains again, also after an error whose cause is fixed."""
        with self._changing():
            self.paused, self.error, self.failed = False, None, {}

    def fail(self, error: AustralisError) -> None:
        """Stop all trains because of an error, unless another one already did."""
        with self._changing():
            self.error = self.error or error

    def fail_query(self, query: str, error: AustralisError) -> None:
        """Stop the trains of an ad hoc query."""
        with self._changing():
            self.failed = {**self.failed, query: error}

    def forget_failures(self, queries: Container[str]) -> None:
        """Forget the failures of all queries but these: the others are no longer attached."""
        with self._changing():
            self.failed = {name: error for name, error in self.failed.items() if name in queries}

    def claim(self, superboxes: Collection[str], hi: int, reader: int, *, stepping: bool = False) -> bool:
        """Begin a train of some superboxes up to a number, unless something has changed meanwhile."""
        with self._guard:
            held = [self.held[name] for name in superboxes if name in self.held]
            is_halted = self.is_halted and not stepping
            if self.stopping or is_halted or any(hi > number for number in held):
                return False
            self.busy |= dict.fromkeys(superboxes, reader)
            return True

    def release(self, superboxes: Collection[str], reader: int) -> None:
        """End a train, unless it has already ended: then another one may be running."""
        with self._changing():
            ended = [name for name in superboxes if self.busy.get(name) == reader]
            self.busy = {name: each for name, each in self.busy.items() if name not in ended}

    def note_commit(self) -> None:
        """Note that a train was committed; `note_told` follows when listeners have heard of it."""
        with self._changing():
            self.unheard += 1

    def note_told(self) -> None:
        """Note that listeners have heard of a train."""
        with self._changing():
            self.unheard -= 1

    @contextmanager
    def change_of_plan(self) -> Iterator[None]:
        """Mark the block as a change of the plan; superboxes held in it are released at its end."""
        with self._changing():
            self.changing += 1
        try:
            yield
        finally:
            with self._changing():
                self.held, self.changing = {}, self.changing - 1

    def hold(self, numbers: Mapping[str, int]) -> None:
        """Let superboxes run up to a number and no further."""
        with self._changing():
            self.held = {**self.held, **numbers}

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._guard:
            yield
            self._guard.notify()

    # --- waiting

    def wait_until(self, happened: Callable[[], bool], path: str, before: str) -> None:
        """Wait until a condition holds; raises if no train can make it hold."""
        self._guard.wait_until(happened, lambda: self.check_going(path, before))
