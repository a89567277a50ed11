"""The machine of a catalogue: nodes pass on what they know of each other, and compare it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from australis.cluster.catalogue.messages import (
    HOLDINGS_MOST,
    Absent,
    Announce,
    Delta,
    Digest,
    Gone,
    Holding,
    Message,
    Position,
    Present,
    Tick,
    Withdraw,
)
from australis.cluster.membership import portions, shuffled
from australis.policy.machines import Count, Machine, Refuse, Say, Started, Wake


class Setup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a machine of a catalogue is made with."""

    period_us: Count = 2_000_000
    """So often a node compares what it knows with another one."""


class Inventory(msgspec.Struct):
    """What a node has, as far as it is known here."""

    life: int
    until: int = 0
    holdings: dict[str, Holding] = {}

    def after(self, version: int) -> list[Holding]:
        """What has changed after a version, in order."""
        found = [each for each in self.holdings.values() if each.version > version]
        return sorted(found, key=lambda each: each.version)


class Known(msgspec.Struct):
    """What survives a restart in the same incarnation."""

    inventories: dict[str, Inventory]
    gone: dict[str, int]
    live: list[str]
    round: int


class Catalogue(Machine):
    """One node's copy of the catalogue of its participant."""

    POLICY = "catalogue"
    MESSAGES = Message
    EVENTS = Started | Announce | Withdraw | Present | Absent | Gone | Tick
    STATE = Known
    SETUP = Setup

    def __init__(self, name: str, setup: Setup, incarnation: int = 1) -> None:
        super().__init__(name, incarnation)
        self._setup = setup
        self._home = f"{name.partition('/')[0]}/"
        self._inventories = {name: Inventory(incarnation)}
        self._gone: dict[str, int] = {}
        """The nodes that were forgotten, with their last lives."""
        self._live: set[str] = set()
        self._round = 0

    @classmethod
    def of(cls, name: str, setup: Any, incarnation: int) -> Catalogue:
        return cls(name, setup, incarnation)

    def setup(self) -> Setup:
        return self._setup

    def state(self) -> Known:
        return Known(self._inventories, self._gone, sorted(self._live), self._round)

    def resume(self, state: Any) -> None:
        self._inventories, self._gone = state.inventories, state.gone
        self._live, self._round = set(state.live), state.round

    def partners(self) -> Iterable[str]:
        return self._live

    def knows(self, name: str) -> bool:
        """The nodes of the participant trust each other; others read nothing here."""
        return name.startswith(self._home)

    # --- what is known

    def places(self, name: str) -> list[tuple[str, Holding]]:
        """The nodes that have or had something, and what they say of it."""
        return [
            (owner, each.holdings[name])
            for owner, each in sorted(self._inventories.items())
            if name in each.holdings
        ]

    def all(self) -> Iterator[tuple[str, Holding]]:
        """All that any node has, by node."""
        for owner, each in sorted(self._inventories.items()):
            yield from ((owner, held) for held in each.holdings.values() if not held.is_gone)

    def positions(self) -> list[Position]:
        """How much of each node is known."""
        return [Position(owner, each.life, each.until) for owner, each in sorted(self._inventories.items())]

    # --- events

    def decide(self, event: Any, now: int) -> Sequence[Any]:
        match event:
            case Started():
                return [Wake(now + self._setup.period_us, Tick())]
            case Announce(name, kind, detail):
                known = self._own.holdings.get(name)
                if known and (known.kind, known.detail, known.is_gone) == (kind, detail, False):
                    return []
                return self._put(Holding(name, kind, self._own.until + 1, detail))
            case Withdraw(name, moved):
                known = self._own.holdings.get(name)
                if known is None or known.is_gone:
                    return []
                return self._put(
                    Holding(name, known.kind, self._own.until + 1, known.detail, is_gone=True, moved=moved)
                )
            case Present(name) if self.knows(name) and name != self.name:
                self._live.add(name)
                return [self._digest(name)]
            case Absent(name):
                self._live.discard(name)
            case Gone(name) if name in self._inventories and name != self.name:
                # Others forget it at other times, and must not bring it back.
                self._gone[name] = self._inventories.pop(name).life
            case Tick():
                return self._tick(now)
        return []

    @property
    def _own(self) -> Inventory:
        return self._inventories[self.name]

    def _put(self, holding: Holding) -> list[Say]:
        """Note a change of this node's holdings, and tell all; who does not hear of it compares later."""
        after = self._own.until
        self._own.holdings[holding.name] = holding
        self._own.until = holding.version
        delta = Delta(self.name, self._own.life, after, holding.version, (holding,))
        return [Say(each, delta) for each in sorted(self._live)]

    def _tick(self, now: int) -> list[Any]:
        self._round += 1
        partner = shuffled(sorted(self._live), self.name, self._round)[:1]
        return [Wake(now + self._setup.period_us, Tick()), *map(self._digest, partner)]

    def _digest(self, to: str, *, is_answer: bool = False) -> Say:
        return Say(to, Digest(tuple(self.positions()), is_answer))

    # --- messages

    def hear(self, sender: str, message: Any, now: int) -> Sequence[Any]:
        match message:
            case Digest():
                return self._compare(sender, message)
            case Delta():
                return self._take(sender, message)
        return [Refuse("message")]

    def _compare(self, sender: str, digest: Digest) -> list[Any]:
        """Send what the sender lacks, and ask once for what it has more of."""
        theirs = {each.owner: each for each in digest.positions if self._is_open(each)}
        for owner, position in theirs.items():
            known = self._inventories.get(owner)
            if not position.until and (known is None or known.life < position.life):
                # It has begun, and has nothing yet.
                self._inventories[owner] = Inventory(position.life)
        commands: list[Any] = []
        for owner, inventory in sorted(self._inventories.items()):
            there = theirs.get(owner, Position(owner, 1, 0))
            if (inventory.life, inventory.until) > (there.life, there.until):
                after = there.until if there.life == inventory.life else 0
                commands += self._deltas(sender, owner, after)
        if not digest.is_answer and any(self._lacks(each) for each in theirs.values()):
            commands.append(self._digest(sender, is_answer=True))
        return commands

    def _is_open(self, position: Position) -> bool:
        """Whether a position is of a node of this participant that was not forgotten in that life."""
        return self.knows(position.owner) and position.life > self._gone.get(position.owner, 0)

    def _lacks(self, position: Position) -> bool:
        known = self._inventories.get(position.owner)
        return known is None or (known.life, known.until) < (position.life, position.until)

    def _deltas(self, to: str, owner: str, after: int) -> Iterator[Say]:
        inventory = self._inventories[owner]
        for part in portions(inventory.after(after), _size, HOLDINGS_MOST):
            until = part[-1].version
            yield Say(to, Delta(owner, inventory.life, after, until, part))
            after = until

    def _take(self, sender: str, delta: Delta) -> Sequence[Any]:
        if not self.knows(delta.owner):
            return [Refuse("foreign")]
        if delta.owner == self.name:
            # Nobody knows better what this node has.
            return [Refuse("own")]
        versions = [each.version for each in delta.holdings]
        if not versions or versions != sorted(set(versions)) or not delta.after < versions[0]:
            return [Refuse("versions")]
        if versions[-1] != delta.until:
            return [Refuse("versions")]
        known = self._inventories.get(delta.owner)
        position = Position(delta.owner, delta.life, delta.until)
        if not self._is_open(position) or not self._lacks(position):
            return []
        if known is None or delta.life != known.life:
            known = Inventory(delta.life)
        if delta.after > known.until:
            # Something before it has not come: compare.
            return [self._digest(sender)]
        known.holdings.update((each.name, each) for each in delta.holdings if each.version > known.until)
        known.until = delta.until
        self._inventories[delta.owner] = known
        return []


def _size(holding: Holding) -> int:
    """About how long a holding is in a letter."""
    return 300 + len(holding.name.encode()) + len(holding.detail.encode())
