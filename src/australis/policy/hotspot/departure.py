"""The source of a migration: from the decision until the target has the state (section 3.2).

It can be undone until the state is sent, since no other peer processes a tuple before that. Afterwards the
target has the state, or will have it: the source sends it again until the target confirms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.levels import Loads
from australis.policy.hotspot.messages import (
    Cancel,
    Command,
    Drain,
    Holding,
    Kill,
    Migration,
    Request,
    Send,
    Ship,
    Task,
    UpdateReply,
    UpdateRequest,
)


class Phase(Enum):
    """What the source waits for."""

    REQUESTED = "the target's reply"
    REDIRECTING = "replies of all upstream components"
    DRAINING = "the last tuples that they specified"
    SHIPPING = "the target to have the state"
    UNDOING = "upstream components to send to the source again"


@dataclass
class _Leaving:
    """A migration in progress."""

    id: Migration
    operator: str
    target: str
    tasks: tuple[Task, ...]
    """The tasks that move; others that arrive meanwhile stay."""
    loads: Loads
    phase: Phase = Phase.REQUESTED
    ticks: int = 0
    waiting: set[str] = field(default_factory=set)
    """The streams whose writers have not replied."""
    last: dict[str, int] = field(default_factory=dict)
    holding: Holding | None = None
    """What was sent, once it was."""


class Departure:
    """One migration at a time; lost messages are repeated at each tick."""

    def __init__(self, name: str, holdings: Holdings, patience: int) -> None:
        self._name, self._holdings = name, holdings
        self._patience = patience
        """How many ticks the target has to reply."""
        self._serial = 0
        self._leaving: _Leaving | None = None

    @property
    def phase(self) -> Phase | None:
        """What it waits for, if a migration is in progress."""
        return self._leaving.phase if self._leaving else None

    def begun(self, operator: str, target: str, loads: Loads) -> list[Command]:
        """Phase 2: ask the target."""
        self._serial += 1
        tasks = tuple(self._holdings.tasks[operator].values())
        self._leaving = _Leaving(Migration(self._name, self._serial), operator, target, tasks, loads)
        return self._ask(self._leaving)

    def replied(self, sender: str, migration: Migration) -> list[Command]:
        """Phase 3 is over: the target is ready, unless the migration was given up."""
        leaving = self._leaving
        if leaving is None or leaving.id != migration or leaving.phase is Phase.UNDOING:
            return [Send(sender, Cancel(migration))]
        if leaving.phase is not Phase.REQUESTED:
            return []
        leaving.phase = Phase.REDIRECTING
        return self._redirect(leaving)

    def refused(self, migration: Migration) -> list[Command]:
        """The target refuses; end this migration."""
        if self._leaving and self._leaving.id == migration and self._leaving.phase is Phase.REQUESTED:
            self._leaving = None
        return []

    def updated(self, reply: UpdateReply) -> list[Command]:
        """Phase 5: one more upstream component sends elsewhere."""
        leaving, stream = self._leaving, reply.stream
        if leaving is None or leaving.id != reply.migration or stream not in leaving.waiting:
            return []
        if reply.version != self._holdings.versions[stream]:
            return []
        leaving.waiting.remove(stream)
        leaving.last[stream] = reply.last
        return [] if leaving.waiting else self._redirected(leaving)

    def _redirected(self, leaving: _Leaving) -> list[Command]:
        if leaving.phase is Phase.UNDOING:
            self._leaving = None
            return []
        leaving.phase = Phase.DRAINING
        return self._again(leaving)

    def drained(self, migration: Migration) -> list[Command]:
        """Phase 6: all of the last tuples are processed, and the state is sent.

        It waits for streams that are being switched, since their last tuples are known only here.
        """
        leaving = self._leaving
        if leaving is None or leaving.id != migration or leaving.phase is not Phase.DRAINING:
            return []
        if self._holdings.switching(leaving.tasks):
            return []
        leaving.phase = Phase.SHIPPING
        leaving.holding = self._holdings.remove(leaving.operator, leaving.tasks, leaving.target)
        return self._again(leaving)

    def taken(self, migration: Migration) -> list[Command]:
        """The target has the state: the execution here ends."""
        leaving = self._leaving
        if leaving is None or leaving.id != migration or leaving.holding is None:
            return []
        self._leaving = None
        return [Kill(migration, leaving.holding)]

    def failed(self, peer: str) -> list[Command]:
        """A peer has failed: if it was the target and the state has not been sent, restore everything."""
        leaving = self._leaving
        if leaving is None or leaving.target != peer:
            return []
        if leaving.phase is Phase.REQUESTED:
            return self._give_up(leaving)
        if leaving.phase not in (Phase.REDIRECTING, Phase.DRAINING):
            return []
        leaving.phase = Phase.UNDOING
        return [Send(leaving.target, Cancel(leaving.id)), *self._redirect(leaving)]

    def ticked(self) -> list[Command]:
        """Repeat what was not answered."""
        leaving = self._leaving
        if leaving is None:
            return []
        leaving.ticks += 1
        if leaving.phase is Phase.REQUESTED and leaving.ticks > self._patience:
            return self._give_up(leaving)
        return self._again(leaving)

    def _again(self, leaving: _Leaving) -> list[Command]:
        if leaving.phase is Phase.REQUESTED:
            return self._ask(leaving)
        if leaving.phase is Phase.DRAINING:
            return [Drain(leaving.id, dict(leaving.last))]
        if leaving.holding is not None:
            return [Ship(leaving.id, leaving.target, leaving.holding)]
        return self._updates(leaving)

    def _ask(self, leaving: _Leaving) -> list[Command]:
        holding = self._holdings.holding(leaving.operator, leaving.tasks)
        return [Send(leaving.target, Request(leaving.id, holding, leaving.loads))]

    def _give_up(self, leaving: _Leaving) -> list[Command]:
        self._leaving = None
        return [Send(leaving.target, Cancel(leaving.id))]

    def _redirect(self, leaving: _Leaving) -> list[Command]:
        """Phase 4: send a new version of the streams' routes; writers ignore older ones."""
        leaving.waiting = {stream for task in leaving.tasks for stream in task.reads}
        for stream in leaving.waiting:
            self._holdings.versions[stream] += 1
        return self._updates(leaving)

    def _updates(self, leaving: _Leaving) -> list[Command]:
        home = self._name if leaving.phase is Phase.UNDOING else leaving.target
        held = self._holdings
        return [
            Send(held.upstreams[each].peer, UpdateRequest(leaving.id, each, held.versions[each], home))
            for each in sorted(leaving.waiting)
        ]
