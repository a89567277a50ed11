"""Whether trains run: which do, what keeps others from it, and a way to wait for a change of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from australis.engine.ledger import ALL, Ledger, Queues
from australis.errors import AustralisError, EngineError, Problem


class RunState:
    """What a node does at a moment. Whoever changes it holds the ledger's lock."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._guard = ledger, ledger.guard
        self.busy: dict[str, int] = {}
        """The superboxes with a train that is running, and its number as a reader of files."""
        self.held: dict[str, int] = {}
        """The number at which each superbox stops that is about to be replaced."""
        self.changing = 0
        """How many changes of the plan are under way, so that what waits does not show."""
        self.unheard = 0
        """How many trains were committed that listeners have not been told of."""
        self.paused = False
        self.stopping = False
        self.error: AustralisError | None = None
        """What has stopped all trains."""
        self.failed: dict[str, AustralisError] = {}
        """The ad hoc queries of which a train failed, and why: they stand still, and all else continues."""

    # --- what is to be done

    def due(self, queues: Queues) -> dict[str, int]:
        """The superboxes that have something to do, and the numbers up to which their next trains may go.

        Tuples, stored tables, time or an end wait for them. Those of queries that have failed are not due.
        """
        plan, held = queues.plan, self.held
        positions, found = queues.positions_within(held), {}
        for name, superbox in plan.superboxes.items():
            end = min(queues.end(superbox, positions), held.get(name, ALL))
            is_to_go = plan.query_of(name) not in self.failed and plan.views.get(name) != 0
            if is_to_go and queues.reached(superbox, end, positions) < end:
                found[name] = end
        return found

    def is_idle(self) -> bool:
        """Whether nothing waits, nothing runs, and everyone was told of what did."""
        return not self.unheard and not self._is_under_way() and not self.due(self._ledger.queues)

    def is_resting(self) -> bool:
        """Whether nothing runs, and nothing will before somebody changes that."""
        if self._is_under_way():
            return False
        return self.paused or self.stopping or not self.due(self._ledger.queues)

    def _is_under_way(self) -> bool:
        return bool(self.busy or self.held or self.changing)

    def is_busy(self, superboxes: Iterable[str]) -> bool:
        """Whether any of some superboxes has a train that is running."""
        return any(name in self.busy for name in superboxes)

    # --- what stands in the way

    @property
    def is_halted(self) -> bool:
        """Whether no train starts by itself."""
        return self.paused or self.error is not None

    def check(self, superbox: str = "") -> None:
        """Raise the error that has stopped all trains, or those of the query that a superbox belongs to."""
        error = self.error or self.failed.get(self._ledger.plan.query_of(superbox) or "")
        if error is not None:
            raise error

    def check_going(self, path: str, before: str) -> None:
        """Raise if no train starts until somebody changes that; `before` says what will not happen then."""
        self.check()
        if self.stopping:
            raise EngineError(Problem(path, f"is stopped before {before}"))
        if self.paused:
            raise EngineError(Problem(path, f"is paused before {before}", "resume() first"))

    # --- changes and waiting

    def alter(self, change: Callable[[RunState], None]) -> None:
        """Change something, and wake everybody who waits for it."""
        with self._guard:
            change(self)
            self._guard.changed()

    def wait_until(self, happened: Callable[[], bool], path: str, before: str) -> None:
        """Wait until something has happened; raises where no train will make it happen."""
        self._guard.wait_until(happened, lambda: self.check_going(path, before))
