"""The machine of names: keeps its share of the records, publishes what this node has, and asks for others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from australis.cluster.catalogue import Kind
from australis.cluster.identity import Seals
from australis.cluster.membership import portions
from australis.cluster.names import questions
from australis.cluster.names.messages import (
    VERSIONS_MOST,
    Absent,
    Answer,
    Ask,
    Found,
    Have,
    Listing,
    Look,
    Matched,
    Message,
    Present,
    Publish,
    Record,
    Retract,
    Scan,
    Search,
    Sign,
    Signed,
    Slow,
    Store,
    Tick,
    TooLate,
    Version,
    Want,
)
from australis.cluster.names.ring import Ring
from australis.cluster.names.shelf import Shelf, parts
from australis.policy.machines import Count, Machine, Refuse, Say, Started, Wake

OFFERS_MOST = 10_000
LISTED_MOST = 5_000
"""How many names a node lists at a time."""


class Setup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a machine of names is made with."""

    authorities: tuple[bytes, ...]
    """The certificates by which records are examined, as DER."""
    copies: Count = 3
    lifetime_us: Count = 600_000_000
    """For how long a record is kept if its owner does not renew it."""
    period_us: Count = 1_000_000
    audit_us: Count = 60_000_000
    """So often a node asks whether the other keepers still have what they had."""
    slow_us: Count = 700_000
    """After how long the other keepers are asked."""
    late_us: Count = 4_000_000
    """After how long a question is given up."""


class Own(msgspec.Struct):
    """Something that this node publishes."""

    kind: Kind
    detail: str
    version: int = 0
    renew_at: int = 0


class Known(msgspec.Struct):
    """What survives a restart in the same incarnation."""

    own: dict[str, Own]
    records: list[Record]
    nodes: list[str]
    number: int
    audit_at: int


class Names(Machine):
    """One node's part of the ring."""

    POLICY = "names"
    MESSAGES = Message
    EVENTS = Started | Publish | Retract | Signed | Present | Absent | Ask | Search | Tick | Slow | TooLate
    STATE = Known
    SETUP = Setup

    def __init__(self, name: str, setup: Setup, incarnation: int = 1) -> None:
        super().__init__(name, incarnation)
        self._setup = setup
        self.ring = Ring()
        self.shelf = Shelf(name, Seals(setup.authorities), self.ring, setup.copies)
        self._own: dict[str, Own] = {}
        self._number = self._audit_at = 0
        self._offers: dict[int, tuple[str, tuple[Version, ...]]] = {}
        self._questions: dict[int, questions.Question] = {}
        self._searches: dict[int, questions.Search] = {}

    @classmethod
    def of(cls, name: str, setup: Any, incarnation: int) -> Names:
        return cls(name, setup, incarnation)

    def setup(self) -> Setup:
        return self._setup

    def state(self) -> Known:
        records = [self.shelf.records[key] for key in sorted(self.shelf.records)]
        return Known(self._own, records, sorted(self.ring.nodes), self._number, self._audit_at)

    def resume(self, state: Any) -> None:
        self._own, self._number, self._audit_at = state.own, state.number, state.audit_at
        for node in state.nodes:
            self.ring.add(node)
        self.shelf.restore(state.records)

    def partners(self) -> Iterable[str]:
        return self.ring.nodes

    def knows(self, name: str) -> bool:
        """Any node whose identity is proved may store and ask: what it stores is signed by its owner."""
        return True

    # --- events

    def decide(self, event: Any, now: int) -> Sequence[Any]:
        match event:
            case Started():
                return [Wake(now + self._setup.period_us, Tick())]
            case Publish(name, kind, detail):
                return self._publish(name, kind, detail, now)
            case Retract(name, moved):
                return self._retract(name, moved, now)
            case Signed(records):
                return self._signed(records, now)
            case Present(name):
                self.ring.add(name)
                self.shelf.unsettle(name)
            case Absent(name):
                self.ring.remove(name)
                self.shelf.unsettle(name)
                return self._no_answer_of(name)
            case Ask(number, name):
                return self._ask(number, name, now)
            case Search(number, pattern):
                return self._search(number, pattern, now)
            case Slow(number):
                return self._ask_others(number)
            case TooLate(number):
                return self._give_up(number)
            case Tick():
                return self._tick(now)
        return []

    # --- what this node publishes

    def _publish(self, name: str, kind: Kind, detail: str, now: int) -> Sequence[Any]:
        if name.partition("/")[0] != self.name.partition("/")[0]:
            return [Refuse("foreign")]
        known = self._own.get(name)
        if known is not None and (known.kind, known.detail) == (kind, detail):
            return []
        self._own[name] = Own(kind, detail, known.version if known else 0)
        return [Sign((self._draft(name, now),))]

    def _draft(self, name: str, now: int) -> Record:
        """The next record of a name, to be signed; it is renewed well before it expires."""
        own = self._own[name]
        own.version = max(now, own.version + 1)
        own.renew_at = now + self._setup.lifetime_us // 3
        return Record(name, self.name, own.kind, own.version, now + self._setup.lifetime_us, own.detail)

    def _retract(self, name: str, moved: str, now: int) -> Sequence[Any]:
        if name not in self._own:
            return []
        last = self._draft(name, now)
        # Records before it expire before it does: it need not be renewed.
        del self._own[name]
        return [Sign((msgspec.structs.replace(last, is_gone=True, moved=moved),))]

    def _signed(self, records: Sequence[Record], now: int) -> Sequence[Any]:
        if any(each.owner != self.name for each in records):
            return [Refuse("identity")]
        for each in records:
            self._count(self.shelf.put(each, now))
        by_keeper: dict[str, list[Record]] = {}
        for each in records:
            for keeper in self.shelf.keepers(each.name):
                by_keeper.setdefault(keeper, []).append(each)
        by_keeper.pop(self.name, None)
        return [Say(keeper, Store(part)) for keeper in sorted(by_keeper) for part in parts(by_keeper[keeper])]

    def _count(self, why: str) -> None:
        if why:
            self.refused[why] += 1

    # --- repair

    def _tick(self, now: int) -> list[Any]:
        self.shelf.expire(now)
        due = [name for name, own in self._own.items() if own.renew_at <= now]
        drafts = [Sign(tuple(self._draft(name, now) for name in due))] if due else []
        if now >= self._audit_at:
            self._audit_at = now + self._setup.audit_us
            self.shelf.audit()
        offers = self.shelf.offers()
        return [
            Wake(now + self._setup.period_us, Tick()),
            *drafts,
            *(
                self._offer(node, part)
                for node in sorted(offers)
                for part in portions(offers[node], _length, VERSIONS_MOST)
            ),
        ]

    def _offer(self, node: str, versions: tuple[Version, ...]) -> Say:
        self._number += 1
        self._offers[self._number] = node, versions
        if len(self._offers) > OFFERS_MOST:
            del self._offers[next(iter(self._offers))]
        return Say(node, Have(self._number, versions))

    def _had(self, sender: str, number: int, versions: Sequence[Version]) -> list[Any]:
        """The sender has records: what is newer there is wanted, what is newer here is sent."""
        wanted: list[Version] = []
        newer: list[Record] = []
        for each in versions:
            known = self.shelf.records.get((each.name, each.owner))
            if known is None or known.version < each.version:
                wanted.append(each)
            elif known.version > each.version:
                newer.append(known)
            else:
                self.shelf.confirm(known.key, known.version, sender)
        return [
            Say(sender, Want(number, tuple(wanted))),
            *(Say(sender, Store(part)) for part in parts(newer)),
        ]

    def _wanted(self, sender: str, number: int, versions: Sequence[Version]) -> Sequence[Any]:
        node, offered = self._offers.get(number, ("", ()))
        if node != sender or not set(versions) <= set(offered):
            return [Refuse("unasked")]
        del self._offers[number]
        wanted = set(versions)
        for each in offered:
            if each not in wanted:
                self.shelf.confirm((each.name, each.owner), each.version, sender)
        found = [self.shelf.records.get((each.name, each.owner)) for each in versions]
        return [Say(sender, Store(part)) for part in parts(each for each in found if each is not None)]

    def _stored(self, sender: str, records: Sequence[Record], now: int) -> list[Any]:
        commands: list[Any] = []
        for each in records:
            why = self.shelf.put(each, now)
            self._count(why)
            if not why:
                self.shelf.confirm(each.key, each.version, sender)
                commands += self._corrected(each, now) if each.owner == self.name else ()
        return commands

    def _corrected(self, record: Record, now: int) -> list[Sign]:
        """Say anew what an earlier life of this node has said, if it is not so any more."""
        own = self._own.get(record.name)
        if own is not None:
            if record.version <= own.version:
                return []
            own.version = record.version
            return [Sign((self._draft(record.name, now),))]
        if record.is_gone:
            return []
        version, expires = max(now, record.version + 1), now + self._setup.lifetime_us
        return [
            Sign(
                (msgspec.structs.replace(record, version=version, expires=expires, is_gone=True, seal=None),)
            )
        ]

    # --- messages

    def hear(self, sender: str, message: Any, now: int) -> Sequence[Any]:
        match message:
            case Store(records):
                return self._stored(sender, records, now)
            case Have(number, versions):
                return self._had(sender, number, versions)
            case Want(number, versions):
                return self._wanted(sender, number, versions)
            case Look():
                return self._look(sender, message, now)
            case Answer(number, name, hops, records):
                return self._answered(number, name, hops, records, now)
            case Scan(number, pattern):
                return self._scanned(sender, number, pattern)
            case Listing(number, names, is_last):
                return self._listed(sender, number, names, is_last)
        return [Refuse("message")]

    def _look(self, sender: str, look: Look, now: int) -> Sequence[Any]:
        if look.hops == 1 and look.asker != sender:
            return [Refuse("asker")]
        found = self.shelf.of(look.name, now)
        if found or look.hops == 2 or self.shelf.keeps(look.name):
            part = next(parts(found), ())
            return [Say(look.asker, Answer(look.number, look.name, look.hops, part))]
        keepers = self.shelf.keepers(look.name)
        return [Say(keepers[0], Look(look.number, look.name, look.asker, 2))] if keepers else []

    # --- questions

    def _ask(self, number: int, name: str, now: int) -> Sequence[Any]:
        mine, keepers = self.shelf.of(name, now), self.shelf.keepers(name)
        others = [node for node in keepers if node != self.name]
        if (mine and self.name in keepers) or not others:
            return [Found(number, name, tuple(mine), 0)]
        self._questions[number] = questions.Question(name, others)
        return [
            *self._looks(number, 1),
            Wake(now + self._setup.slow_us, Slow(number)),
            Wake(now + self._setup.late_us, TooLate(number)),
        ]

    def _looks(self, number: int, most: int) -> list[Say]:
        question = self._questions[number]
        return [Say(node, Look(number, question.name, self.name, 1)) for node in question.next(most)]

    def _ask_others(self, number: int) -> Sequence[Any]:
        return self._looks(number, self._setup.copies) if number in self._questions else []

    def _answered(
        self, number: int, name: str, hops: int, records: Sequence[Record], now: int
    ) -> Sequence[Any]:
        question = self._questions.get(number)
        if question is None:
            # Another keeper was faster.
            return []
        if question.name != name or any(each.name != name for each in records):
            return [Refuse("unasked")]
        problems = [self.shelf.problem(each, now) for each in records]
        for why in problems:
            self._count(why)
        good = [each for each, why in zip(records, problems, strict=True) if not why]
        question.waiting -= 1
        if good or (not question.waiting and not question.rest):
            del self._questions[number]
            return [Found(number, name, tuple(good), hops)]
        # A keeper that has not got it yet; the others may have it.
        return self._ask_others(number)

    def _give_up(self, number: int) -> Sequence[Any]:
        question = self._questions.pop(number, None)
        if question is not None:
            return [Found(number, question.name, (), 0)]
        search = self._searches.pop(number, None)
        if search is not None:
            return [Matched(number, tuple(sorted(search.names)), not search.waiting)]
        return []

    def _search(self, number: int, pattern: str, now: int) -> Sequence[Any]:
        others = sorted(self.ring.nodes - {self.name})
        self._searches[number] = questions.Search(set(others), set(self._matching(pattern)))
        if not others:
            return self._give_up(number)
        asked = [Say(node, Scan(number, pattern)) for node in others]
        return [*asked, Wake(now + self._setup.late_us, TooLate(number))]

    def _matching(self, pattern: str) -> list[tuple[str, str, Kind]]:
        """The names that this node keeps, and that match."""
        found = [
            (record.name, record.owner, record.kind)
            for key, record in sorted(self.shelf.records.items())
            if not record.is_gone and fnmatchcase(record.name, pattern) and self.shelf.keeps(record.name)
        ]
        return found[:LISTED_MOST]

    def _scanned(self, sender: str, number: int, pattern: str) -> list[Any]:
        listed = [*portions(self._matching(pattern), _length, VERSIONS_MOST)] or [()]
        last = len(listed) - 1
        return [Say(sender, Listing(number, part, index == last)) for index, part in enumerate(listed)]

    def _listed(
        self, sender: str, number: int, names: Sequence[tuple[str, str, Kind]], is_last: bool
    ) -> Sequence[Any]:
        search = self._searches.get(number)
        if search is None:
            return []
        if sender not in search.waiting:
            return [Refuse("unasked")]
        search.names.update(names)
        if is_last:
            search.waiting.discard(sender)
        return [] if search.waiting else self._give_up(number)

    def _no_answer_of(self, node: str) -> list[Any]:
        """A dead node lists nothing any more."""
        commands: list[Any] = []
        for number, search in sorted(self._searches.items()):
            search.waiting.discard(node)
            if not search.waiting:
                commands += self._give_up(number)
        return commands


def _length(item: Version | tuple[str, str, Kind]) -> int:
    """About how long a name and its owner are in a letter."""
    name, owner = (item.name, item.owner) if isinstance(item, Version) else item[:2]
    return 40 + len(name.encode()) + len(owner)
