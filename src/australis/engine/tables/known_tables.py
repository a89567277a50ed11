"""What a node knows of its stored tables: how each is read, when it was last, and what failed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime

from australis.algebra.network import Input, Network, Ref
from australis.algebra.store import Pull, Store
from australis.engine.clock import wall_clock
from australis.engine.ledger import PUSH, Catalog, Ledger, UnitOfWork
from australis.errors import Problem
from australis.plan.superboxes import Superbox
from australis.rewrite.rewrite import kept

PAUSE_US = 1_000_000
PAUSE_MOST_US = 60_000_000
"""The pause after the first failure, and the longest one; each is twice as long as the one before."""
NEVER = float("inf")


@dataclass(frozen=True)
class TableState:
    """The state of a stored table. Times are microseconds since 1970."""

    how: str = Pull.LOAD.value
    """`load`, `lookup`, or `push`."""
    version: int = 0
    """How often it was read, or its answers were renewed."""
    rows: int | None = None
    """The number of rows when it was read; None for one that is looked up."""
    read: int | None = None
    trouble: str = ""
    """Why it cannot be read, if it cannot."""
    since: int | None = None
    next_try: int | None = None
    tries: int = 0

    def failed(self, trouble: str, now: int) -> TableState:
        """The state after one more failure."""
        pause = min(PAUSE_US << min(self.tries, 30), PAUSE_MOST_US)
        since = self.since if self.since is not None else now
        return replace(self, trouble=trouble, since=since, next_try=now + pause, tries=self.tries + 1)

    def well(self) -> TableState:
        return replace(self, trouble="", since=None, next_try=None, tries=0)

    def __str__(self) -> str:
        if self.trouble and self.since is not None and self.next_try is not None:
            return f"stale since {_time(self.since)}, {self.trouble}; next try {_time(self.next_try)}"
        at = "" if self.read is None else f" at {_time(self.read)}"
        if self.how == Pull.LOOKUP:
            return f"looked up, refreshed{at}" if at else "looked up"
        rows = "" if self.rows is None else f" {self.rows:,} rows"
        return f"{'pushed' if self.how == PUSH else 'loaded'}{rows}{at}"


def _time(moment_us: int) -> str:
    return datetime.fromtimestamp(moment_us / 1e6, UTC).isoformat(sep=" ", timespec="seconds")


def key_of(name: str) -> str:
    """The key of a table's state in the catalogue."""
    return f"table {name}"


def table_states(network: Network, catalog: Catalog) -> dict[str, TableState]:
    """The recorded states of a network's stored tables."""
    texts = {name: catalog.meta(key_of(name)) for name, each in network.inputs.items() if each.store}
    return {name: TableState(**json.loads(text)) for name, text in texts.items() if text}


@dataclass
class Tables:
    """The stored tables of a running network.

    Databases follow the real clock, even if that of the node stands still.
    """

    states: dict[str, TableState] = field(default_factory=dict)
    clock: Callable[[], int] = wall_clock

    def alter(self, change: UnitOfWork, name: str, altered: Callable[[TableState], TableState]) -> None:
        """Change the state of a table: no train sees what is committed with it without this."""
        state = altered(self.states.get(name, TableState()))
        change.set_meta(key_of(name), json.dumps(asdict(state)))
        change.follow(lambda: self._follow(name, state))

    def _follow(self, name: str, state: TableState) -> None:
        # Others may be iterating over them now.
        self.states = {**self.states, name: state}

    def note_failure(self, problem: Problem, ledger: Ledger) -> None:
        """Note that a table could not be read, or did not answer; the path of the problem names it."""
        name, now = problem.path.rpartition(".")[2], self.clock()
        with ledger.change() as change:
            self.alter(change, name, lambda known: known.failed(problem.what, now))

    def note_answers(self, change: UnitOfWork, names: Collection[str]) -> None:
        """Note that looked-up tables have answered: none of them is in trouble any more."""
        for name, state in self.states.items():
            if name in names and state.how == Pull.LOOKUP and state.trouble:
                self.alter(change, name, TableState.well)

    def versions(self) -> dict[str, int]:
        """The tables that are looked up, and their versions."""
        return {name: each.version for name, each in self.states.items() if each.how == Pull.LOOKUP}

    def free(self, waiting: Mapping[str, int], superboxes: Mapping[str, Superbox]) -> dict[str, int]:
        """The superboxes with work to do that need no table that does not answer."""
        now = self.clock()
        silent = {name for name, at in self._tried_again().items() if at > now}
        if not silent:
            return dict(waiting)
        return {name: due for name, due in waiting.items() if not silent & superboxes[name].tables.keys()}

    def pause_s(self) -> float:
        """The seconds until a table that does not answer is asked again."""
        now = self.clock()
        return min(((at - now) / 1e6 for at in self._tried_again().values() if at > now), default=NEVER)

    def silent(self) -> dict[str, str]:
        """The tables that are looked up and do not answer, and why."""
        return {name: each.trouble for name, each in self._asked().items() if each.trouble}

    def _tried_again(self) -> dict[str, int]:
        """When to retry the tables that do not answer."""
        return {name: each.next_try for name, each in self._asked().items() if each.next_try is not None}

    def _asked(self) -> dict[str, TableState]:
        return {name: each for name, each in self.states.items() if each.how == Pull.LOOKUP}


# --- what another network cannot reuse


def outdated(old: Network, new: Network) -> frozenset[str]:
    """The inputs of a network whose rows another one no longer has, or must read again.

    The rows of a table are the state of its joins, and are dropped with them.
    """
    states = kept(old, new)
    return frozenset(
        name
        for name, given in old.inputs.items()
        if (given.table or given.store)
        and (name not in new.inputs or _is_elsewhere(given, new.inputs[name]) or readers(new, name) - states)
    )


def readers(network: Network, name: str) -> frozenset[str]:
    """The joins that read a stored table."""
    is_table = network.inputs[name].table
    return frozenset(box for box, _ in network.consumers.get(Ref(name), ()) if is_table)


def _is_elsewhere(before: Input, after: Input) -> bool:
    """Whether an input has another store than before."""
    return after.store is not None and place(before.store) != place(after.store)


def place(store: Store | None) -> tuple[str, str] | None:
    """Where the rows of a store are, however they are read."""
    return None if store is None else (store.at, store.table)
