"""What a node believes of all nodes: claims in, changes out; a claim counts if it is newer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from math import ceil, log2
from typing import TypeVar

import msgspec

from australis.cluster.membership.messages import (
    CLAIMS_MOST,
    RANKS,
    Claim,
    Death,
    Doubt,
    Entry,
    Presence,
    State,
)

LETTER_BYTES = 24 << 10
"""About how much goes into a letter."""
PIGGYBACK = 6
"""How many claims travel with a ping or its answer."""

Item = TypeVar("Item")


class Member(msgspec.Struct):
    """What is believed of a node."""

    presence: Presence
    state: State = State.ALIVE
    since: int = 0
    told: int = 0
    """In how many letters it was passed on."""

    @property
    def is_live(self) -> bool:
        return self.state is not State.DEAD

    @property
    def age(self) -> tuple[int, int]:
        """The greater of two is the newer."""
        return self.presence.incarnation, RANKS[self.state]

    def claims(self) -> list[Claim]:
        """What makes another node believe the same."""
        name, incarnation = self.presence.name, self.presence.incarnation
        match self.state:
            case State.ALIVE:
                return [self.presence]
            case State.SUSPECT:
                return [self.presence, Doubt(name, incarnation)]
            case State.DEAD:
                return [self.presence, Death(name, incarnation)]


class Table:
    """All nodes that are known, this one included."""

    def __init__(self, members: dict[str, Member] | None = None) -> None:
        self.members = members or {}

    def live(self) -> list[str]:
        """The nodes that are not dead, by name."""
        return sorted(name for name, each in self.members.items() if each.is_live)

    def dead(self) -> list[str]:
        """The nodes that are dead, by name."""
        return sorted(name for name, each in self.members.items() if not each.is_live)

    def digest(self) -> int:
        """A number that two nodes have in common if they know the same living nodes."""
        found = ((name, self.members[name].presence.incarnation) for name in self.live())
        return number_of(*(f"{name} {incarnation}" for name, incarnation in found))

    def put(self, presence: Presence, now: int) -> bool:
        """A node is alive; whether that is new."""
        known = self.members.get(presence.name)
        if known is not None and known.presence.incarnation >= presence.incarnation:
            return False
        self.members[presence.name] = Member(presence, since=now)
        return True

    def mark(self, name: str, incarnation: int, state: State, now: int) -> bool:
        """A node is suspected or dead; whether that is new."""
        known = self.members.get(name)
        if known is None or known.age >= (incarnation, RANKS[state]):
            return False
        known.state, known.since, known.told = state, now, 0
        return True

    def news(self, first: list[Claim]) -> tuple[Claim, ...]:
        """Some claims, then those that were passed on least, as long as they are new to somebody."""
        most = 3 * ceil(log2(len(self.members) + 1))
        found, names = [*first], {each.name for each in first}
        fresh = [(each.told, name) for name, each in self.members.items() if each.told < most]
        for _, name in sorted(fresh):
            if len(found) >= PIGGYBACK:
                break
            if name not in names:
                self.members[name].told += 1
                found += self.members[name].claims()
        return tuple(found)

    def entries(self) -> list[Entry]:
        """All in short, by name."""
        return [
            Entry(name, each.presence.incarnation, each.state) for name, each in sorted(self.members.items())
        ]

    def difference(self, after: str, until: str, entries: tuple[Entry, ...]) -> tuple[list[str], list[str]]:
        """The nodes of which more is known here, and those of which more is known there."""
        theirs = {each.name: (each.incarnation, RANKS[each.state]) for each in entries}
        mine = {
            name: each.age
            for name, each in self.members.items()
            if name > after and (not until or name <= until)
        }
        nothing = (0, 0)
        more = [name for name in sorted(mine) if mine[name] > theirs.get(name, nothing)]
        less = [
            each.name
            for each in entries
            if theirs[each.name] > mine.get(each.name, nothing)
            # Nobody needs to hear of a node only that it is dead.
            and (each.state is not State.DEAD or each.name in mine)
        ]
        return more, less

    def told(self, names: list[str]) -> Iterator[tuple[Claim, ...]]:
        """All claims of some nodes, in as many letters as they take."""
        members = [self.members[name] for name in names if name in self.members]
        for part in portions(members, _size, CLAIMS_MOST // 2):
            yield tuple(claim for each in part for claim in each.claims())


def _size(member: Member) -> int:
    """About how long the claims of a node are in a letter."""
    return 600 + len(member.presence.seal.certificate) * 4 // 3


def portions(items: Iterable[Item], size: Callable[[Item], int], most: int) -> Iterator[tuple[Item, ...]]:
    """As many items at a time as go into a letter.

    >>> list(portions([1, 2, 3], lambda each: 10_000, most=5))
    [(1, 2), (3,)]
    """
    part: list[Item] = []
    total = 0
    for each in items:
        more = size(each)
        if part and (total + more > LETTER_BYTES or len(part) == most):
            yield tuple(part)
            part, total = [], 0
        part.append(each)
        total += more
    if part:
        yield tuple(part)


def number_of(*texts: str) -> int:
    """A number that hardly any other texts have."""
    return int.from_bytes(blake2b("\n".join(texts).encode(), digest_size=6).digest())


def shuffled(names: list[str], *seed: object) -> list[str]:
    """The names in an order that is another one for each seed."""
    head = " ".join(map(str, seed))
    return sorted(names, key=lambda name: (number_of(head, name), name))
