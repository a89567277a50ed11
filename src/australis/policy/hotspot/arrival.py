"""The target of a migration: from the request until it has the state (section 3.2)."""

from __future__ import annotations

from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.messages import (
    Command,
    Drop,
    Install,
    Migration,
    Refusal,
    Reply,
    Request,
    Send,
    Spawn,
    State,
    Taken,
)


class Arrival:
    """One migration at a time; a state is taken once, however often it arrives."""

    def __init__(self, holdings: Holdings, patience: int) -> None:
        self._holdings = holdings
        self._patience = patience
        """After how many ticks the source is reminded that the target waits."""
        self._waiting: Migration | None = None
        self._ticks = 0
        self._taken: dict[str, int] = {}
        """The last migration of each source whose state arrived; all earlier ones are over."""

    @property
    def waiting(self) -> bool:
        """Whether a state is awaited."""
        return self._waiting is not None

    def requested(self, request: Request, *, willing: bool) -> list[Command]:
        """Phase 2: prepare, unless something prevents it; a source that asks again has given up before."""
        migration = request.migration
        if self._is_over(migration) or self._is_older(migration):
            return []
        if migration == self._waiting:
            return [Send(migration.source, Reply(migration))]
        given_up = self._dropped() if self._waits_for(migration.source) else []
        if self.waiting or not willing:
            return [*given_up, Send(migration.source, Refusal(migration))]
        self._waiting, self._ticks = migration, 0
        spawn = Spawn(migration, request.holding)
        return [*given_up, spawn, Send(migration.source, Reply(migration))]

    def came(self, state: State) -> list[Command]:
        """Phase 6: continue from the state."""
        migration = state.migration
        taken = Send(migration.source, Taken(migration))
        if self._is_over(migration):
            return [taken]
        self._taken[migration.source] = migration.serial
        if self._waiting == migration:
            self._waiting = None
        self._holdings.add(state.holding)
        return [Install(migration, state.holding, state.payload), taken]

    def cancelled(self, migration: Migration) -> list[Command]:
        """The source has given up."""
        return self._dropped() if migration == self._waiting else []

    def failed(self, peer: str) -> list[Command]:
        """A peer has failed: stop waiting for it; if its state still arrives, it is taken."""
        return self._dropped() if self._waits_for(peer) else []

    def ticked(self) -> list[Command]:
        """Repeat now and then that all is ready; a source that has given up then says so."""
        self._ticks += 1
        if self._waiting is None or self._ticks % self._patience:
            return []
        return [Send(self._waiting.source, Reply(self._waiting))]

    def _is_over(self, migration: Migration) -> bool:
        return migration.serial <= self._taken.get(migration.source, 0)

    def _is_older(self, migration: Migration) -> bool:
        waits = self._waiting
        return waits is not None and waits.source == migration.source and waits.serial > migration.serial

    def _waits_for(self, source: str) -> bool:
        return self._waiting is not None and self._waiting.source == source

    def _dropped(self) -> list[Command]:
        dropped, self._waiting = self._waiting, None
        return [Drop(dropped)] if dropped else []
