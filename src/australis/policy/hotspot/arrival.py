"""The target of a migration: from the request until it has the state (section 3.2)."""

from __future__ import annotations

from typing import Any

from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.messages import (
    Drop,
    Install,
    Migration,
    Refusal,
    Reply,
    Request,
    Spawn,
    State,
    Taken,
    Task,
    Wanted,
)
from australis.policy.machines import Refuse, Say


class Arrival:
    """One migration at a time; a state is taken once, however often it arrives."""

    def __init__(self, holdings: Holdings, patience: int) -> None:
        self._holdings = holdings
        self._patience = patience
        """After how many ticks the source is reminded that the target waits."""
        self.awaited: Migration | None = None
        self.ticks = 0
        self.taken: dict[str, int] = {}
        """The last migration of each source whose state arrived; all earlier ones are over."""
        self.accepted: dict[str, tuple[int, str, tuple[Task, ...]]] = {}
        """The last migration of each source that was accepted: its serial, operator and tasks."""

    @property
    def waiting(self) -> bool:
        """Whether a state is awaited."""
        return self.awaited is not None

    def requested(self, request: Request, *, willing: bool) -> list[Any]:
        """Phase 2: prepare, unless something prevents it; a source that asks again has given up before."""
        migration = request.migration
        if self._is_over(migration) or self._is_older(migration):
            return [Refuse("late")]
        if migration == self.awaited:
            return [Say(migration.source, Reply(migration))]
        given_up = self._dropped() if self._waits_for(migration.source) else []
        if self.waiting or not willing:
            return [*given_up, Say(migration.source, Refusal(migration))]
        self.awaited, self.ticks = migration, 0
        holding = request.holding
        self.accepted[migration.source] = (migration.serial, holding.operator, holding.tasks)
        spawn = Spawn(migration, request.holding)
        return [*given_up, spawn, Say(migration.source, Reply(migration))]

    def came(self, state: State) -> list[Any]:
        """Phase 6: continue from the state."""
        migration = state.migration
        taken = Say(migration.source, Taken(migration))
        if self._is_over(migration):
            return [taken]
        holding = state.holding
        expected = self.accepted.get(migration.source)
        if expected != (migration.serial, holding.operator, holding.tasks):
            return [Refuse("unexpected")]
        self.taken[migration.source] = migration.serial
        if self.awaited == migration:
            self.awaited = None
        self._holdings.add(state.holding)
        return [Install(migration, state.holding, state.payload), taken]

    def asked(self, migration: Migration) -> list[Any]:
        """The source asks whether the state has come."""
        if self._is_over(migration):
            return [Say(migration.source, Taken(migration))]
        expected = self.accepted.get(migration.source)
        if expected is None or expected[0] != migration.serial:
            return [Refuse("unexpected")]
        return [Say(migration.source, Wanted(migration))]

    def cancelled(self, migration: Migration) -> list[Any]:
        """The source has given up."""
        return self._dropped() if migration == self.awaited else [Refuse("late")]

    def failed(self, peer: str) -> list[Any]:
        """A peer has failed: stop waiting for it; if its state still arrives, it is taken."""
        return self._dropped() if self._waits_for(peer) else []

    def ticked(self) -> list[Any]:
        """Repeat now and then that all is ready; a source that has given up then says so."""
        self.ticks += 1
        if self.awaited is None or self.ticks % self._patience:
            return []
        return [Say(self.awaited.source, Reply(self.awaited))]

    def _is_over(self, migration: Migration) -> bool:
        return migration.serial <= self.taken.get(migration.source, 0)

    def _is_older(self, migration: Migration) -> bool:
        waits = self.awaited
        return waits is not None and waits.source == migration.source and waits.serial > migration.serial

    def _waits_for(self, source: str) -> bool:
        return self.awaited is not None and self.awaited.source == source

    def _dropped(self) -> list[Any]:
        dropped, self.awaited = self.awaited, None
        return [Drop(dropped)] if dropped else []
