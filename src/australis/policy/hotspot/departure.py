"""The source of a migration: from the decision until the target has the state (section 3.2).

It can be undone until the state is sent, since no other peer processes a tuple before that. Afterwards the
target has the state, or will have it: the source sends it again until the target confirms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.levels import Loads
from australis.policy.hotspot.messages import (
    Cancel,
    Drain,
    Holding,
    Kill,
    Migration,
    Request,
    Ship,
    Shipped,
    State,
    Task,
    UpdateReply,
    UpdateRequest,
)
from australis.policy.machines import Refuse, Say


class Phase(Enum):
    """What the source waits for."""

    REQUESTED = "the target's reply"
    REDIRECTING = "replies of all upstream components"
    DRAINING = "the last tuples that they specified"
    SHIPPING = "the target to have the state"
    UNDOING = "upstream components to send to the source again"


@dataclass
class Leaving:
    """A migration in progress; written down as it is."""

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
        self.serial = 0
        self.leaving: Leaving | None = None

    @property
    def phase(self) -> Phase | None:
        """What it waits for, if a migration is in progress."""
        return self.leaving.phase if self.leaving else None

    def begun(self, operator: str, target: str, loads: Loads) -> list[Any]:
        """Phase 2: ask the target."""
        self.serial += 1
        tasks = tuple(self._holdings.tasks[operator].values())
        self.leaving = Leaving(Migration(self._name, self.serial), operator, target, tasks, loads)
        return self._ask(self.leaving)

    def replied(self, sender: str, migration: Migration) -> list[Any]:
        """Phase 3 is over: the target is ready, unless the migration was given up."""
        leaving = self.leaving
        if migration.source != self._name:
            return [Refuse("sender")]
        if leaving is None or leaving.id != migration or leaving.phase is Phase.UNDOING:
            # Only a migration that was never shipped can be waited for in vain.
            return [Say(sender, Cancel(migration))]
        if leaving.phase is not Phase.REQUESTED or sender != leaving.target:
            return [Refuse("late")]
        leaving.phase = Phase.REDIRECTING
        return self._redirect(leaving)

    def refused(self, sender: str, migration: Migration) -> list[Any]:
        """The target refuses; end this migration."""
        leaving = self._at(sender, migration)
        if leaving is None or leaving.phase is not Phase.REQUESTED:
            return [Refuse("late")]
        self.leaving = None
        return []

    def _at(self, target: str, migration: Migration) -> Leaving | None:
        """The migration in progress, if it is that one, and goes there."""
        leaving = self.leaving
        return leaving if leaving and (leaving.id, leaving.target) == (migration, target) else None

    def updated(self, sender: str, reply: UpdateReply) -> list[Any]:
        """Phase 5: one more upstream component sends elsewhere."""
        leaving, stream = self.leaving, reply.stream
        if leaving is None or leaving.id != reply.migration or stream not in leaving.waiting:
            return [Refuse("late")]
        if reply.version != self._holdings.versions[stream]:
            return [Refuse("late")]
        if sender != self._holdings.upstreams[stream].peer:
            return [Refuse("sender")]
        leaving.waiting.remove(stream)
        leaving.last[stream] = reply.last
        return [] if leaving.waiting else self._redirected(leaving)

    def elsewhere(self, sender: str, stream: str, peer: str) -> list[Any]:
        """A writer has moved on: ask it there."""
        leaving = self.leaving
        if leaving is None or stream not in leaving.waiting:
            return [Refuse("late")]
        writer = self._holdings.upstreams[stream]
        if sender != writer.peer:
            return [Refuse("sender")]
        self._holdings.upstreams[stream] = writer._replace(peer=peer)
        return self._updates(leaving, [stream])

    def _redirected(self, leaving: Leaving) -> list[Any]:
        if leaving.phase is Phase.UNDOING:
            self.leaving = None
            return []
        leaving.phase = Phase.DRAINING
        return self._again(leaving)

    def drained(self, migration: Migration) -> list[Any]:
        """Phase 6: all of the last tuples are processed, and the state is sent.

        It waits for streams that are being switched, since their last tuples are known only here.
        """
        leaving = self.leaving
        if leaving is None or leaving.id != migration or leaving.phase is not Phase.DRAINING:
            return [Refuse("late")]
        if self._holdings.switching(leaving.tasks):
            return []
        leaving.phase = Phase.SHIPPING
        leaving.holding = self._holdings.remove(leaving.operator, leaving.tasks, leaving.target)
        return [Ship(leaving.id, leaving.holding)]

    def packed(self, migration: Migration, payload: bytes) -> list[Any]:
        """The state is ready to be sent."""
        leaving = self.leaving
        if leaving is None or leaving.id != migration or leaving.holding is None:
            return [Refuse("late")]
        return [Say(leaving.target, State(migration, leaving.holding, payload))]

    def wanted(self, sender: str, migration: Migration) -> list[Any]:
        """The state was lost, and is sent again."""
        leaving = self._at(sender, migration)
        if leaving is None or leaving.holding is None:
            return [Refuse("late")]
        return [Ship(migration, leaving.holding)]

    def taken(self, sender: str, migration: Migration) -> list[Any]:
        """The target has the state: the execution here ends."""
        leaving = self._at(sender, migration)
        if leaving is None or leaving.holding is None:
            return [Refuse("late")]
        self.leaving = None
        return [Kill(migration, leaving.holding)]

    def failed(self, peer: str) -> list[Any]:
        """A peer has failed: if it was the target and the state has not been sent, restore everything."""
        leaving = self.leaving
        if leaving is None or leaving.target != peer:
            return []
        if leaving.phase is Phase.REQUESTED:
            return self._give_up(leaving)
        if leaving.phase not in (Phase.REDIRECTING, Phase.DRAINING):
            return []
        leaving.phase = Phase.UNDOING
        return [Say(leaving.target, Cancel(leaving.id)), *self._redirect(leaving)]

    def ticked(self) -> list[Any]:
        """Repeat what was not answered."""
        leaving = self.leaving
        if leaving is None:
            return []
        leaving.ticks += 1
        if leaving.phase is Phase.REQUESTED and leaving.ticks > self._patience:
            return self._give_up(leaving)
        return self._again(leaving)

    def _again(self, leaving: Leaving) -> list[Any]:
        if leaving.phase is Phase.REQUESTED:
            return self._ask(leaving)
        if leaving.phase is Phase.DRAINING:
            return [Drain(leaving.id, dict(leaving.last))]
        if leaving.holding is not None:
            return [Say(leaving.target, Shipped(leaving.id))]
        return self._updates(leaving, leaving.waiting)

    def _ask(self, leaving: Leaving) -> list[Any]:
        holding = self._holdings.holding(leaving.operator, leaving.tasks)
        return [Say(leaving.target, Request(leaving.id, holding, leaving.loads))]

    def _give_up(self, leaving: Leaving) -> list[Any]:
        self.leaving = None
        return [Say(leaving.target, Cancel(leaving.id))]

    def _redirect(self, leaving: Leaving) -> list[Any]:
        """Phase 4: send a new version of the streams' routes; writers ignore older ones."""
        leaving.waiting = {stream for task in leaving.tasks for stream in task.reads}
        for stream in leaving.waiting:
            self._holdings.versions[stream] += 1
        return self._updates(leaving, leaving.waiting)

    def _updates(self, leaving: Leaving, streams: Iterable[str]) -> list[Any]:
        home = self._name if leaving.phase is Phase.UNDOING else leaving.target
        held = self._holdings
        return [
            Say(held.upstreams[each].peer, UpdateRequest(leaving.id, each, held.versions[each], home))
            for each in sorted(streams)
        ]
