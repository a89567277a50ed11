"""The machine of membership: SWIM (Das, Gupta, Motivala 2002), and comparisons for what gossip misses.

In each period a node pings another one; if that does not answer, some others try. A node that nobody reaches
is suspected, all are told, and if it does not answer that with a greater incarnation it is dead. Claims
travel with pings and their answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from australis.cluster.identity import Seals
from australis.cluster.membership.messages import (
    SUMMARY_MOST,
    Ack,
    Attest,
    Attested,
    Changed,
    Claim,
    Death,
    Expire,
    Forgot,
    Late,
    Leave,
    Lost,
    Message,
    Met,
    News,
    Overdue,
    Pace,
    Ping,
    Presence,
    Probe,
    Seek,
    State,
    Summary,
    Tick,
    Wanted,
    presence_bytes,
)
from australis.cluster.membership.table import Member, Table, shuffled
from australis.policy.machines import Machine, Refuse, Say, Started, Value, Wake

FAREWELLS = 8
_PROBES_MOST = 1000


class Setup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a machine of membership is made with."""

    authorities: tuple[bytes, ...]
    """The certificates by which presences are examined, as DER."""
    pace: Pace = Pace()


class Pinged(msgspec.Struct):
    """A ping that is not answered yet."""

    target: str
    helpers: tuple[str, ...] = ()
    asker: str = ""
    """Who has asked for it, and under which number; if nobody, this node wants to know."""
    asked_as: int = 0


class Known(msgspec.Struct):
    """What survives a restart in the same incarnation."""

    own: Presence | None
    members: dict[str, Member]
    number: int
    round: int


class Gossip(Machine):
    """One node's part; its name is that of the node, its incarnation the node's life."""

    POLICY = "members"
    MESSAGES = Message
    EVENTS = Started | Attested | Met | Lost | Leave | Tick | Late | Overdue | Expire
    STATE = Known
    SETUP = Setup

    def __init__(self, name: str, setup: Setup, incarnation: int = 1) -> None:
        super().__init__(name, incarnation)
        self._setup, self._pace = setup, setup.pace
        self._seals = Seals(setup.authorities)
        self._own: Presence | None = None
        self._table = Table()
        self._number = self._round = 0
        self._order: list[str] = []
        self._pinged: dict[int, Pinged] = {}

    @classmethod
    def of(cls, name: str, setup: Any, incarnation: int) -> Gossip:
        return cls(name, setup, incarnation)

    def setup(self) -> Setup:
        return self._setup

    def state(self) -> Known:
        return Known(self._own, self._table.members, self._number, self._round)

    def resume(self, state: Any) -> None:
        self._own, self._table = state.own, Table(state.members)
        self._number, self._round = state.number, state.round

    def partners(self) -> Iterable[str]:
        return self._table.members

    def knows(self, name: str) -> bool:
        """Any node whose identity is proved may join."""
        return True

    @property
    def members(self) -> dict[str, Member]:
        """What is believed of all nodes, this one included."""
        return self._table.members

    # --- events

    def decide(self, event: Any, now: int) -> Sequence[Any]:
        match event:
            case Started():
                return [self._attest(self.incarnation), *self._planned(now)]
            case Attested(presence):
                return self._attested(presence, now)
            case Met(name) if name not in self._table.live():
                return self._ping(name, now, is_first=True)
            case Lost(name) if name in self._table.live():
                return self._ping(name, now)
            case Tick():
                return self._tick(now)
            case Late(number):
                return self._late(number, now)
            case Overdue(number):
                pinged = self._pinged.pop(number, None)
                return self._doubt(pinged.target, now) if pinged and not pinged.asker else []
            case Expire(name, incarnation):
                return self._marked(name, incarnation, State.DEAD, now)
            case Leave():
                return self._leave()
        return []

    def _attest(self, incarnation: int) -> Attest:
        known = self._own.incarnation if self._own else 0
        return Attest(max(incarnation, known + 1))

    def _planned(self, now: int) -> list[Any]:
        """What is to be woken for after a start."""
        suspects = [each for each in self.members.values() if each.state is State.SUSPECT]
        ends = [
            Wake(each.since + self._patience_us, Expire(each.presence.name, each.presence.incarnation))
            for each in suspects
        ]
        return [Wake(now + self._pace.period_us, Tick()), *ends]

    def _attested(self, presence: Presence, now: int) -> Sequence[Any]:
        if presence.name != self.name:
            return [Refuse("identity")]
        if self._own is not None and presence.incarnation <= self._own.incarnation:
            return []
        self._own = presence
        self._table.put(presence, now)
        return [self._changed(self.name)]

    def _tick(self, now: int) -> list[Any]:
        commands: list[Any] = [Wake(now + self._pace.period_us, Tick()), *self._forget(now)]
        self._round += 1
        others = [name for name in self._table.live() if name != self.name]
        dead, is_revisit = self._table.dead(), self._round % self._pace.revisit == 0
        if not others or is_revisit:
            commands.append(Seek())
        if dead and is_revisit:
            commands += self._ping(shuffled(dead, self.name, self._round)[0], now)
        self._order = [name for name in self._order if name in others] or shuffled(
            others, self.name, self._round
        )
        if self._order:
            commands += self._ping(self._order.pop(0), now)
        return commands

    def _forget(self, now: int) -> list[Any]:
        over = [name for name in self._table.dead() if self.members[name].since + self._pace.forget_us <= now]
        for name in over:
            del self.members[name]
        return [Forgot(name) for name in over]

    # --- pings

    def _ping(
        self, target: str, now: int, *, asker: str = "", asked_as: int = 0, is_first: bool = False
    ) -> list[Any]:
        if len(self._pinged) >= _PROBES_MOST:
            return []
        self._number += 1
        self._pinged[self._number] = Pinged(target, asker=asker, asked_as=asked_as)
        first: list[Claim] = [self._own] if is_first and self._own else []
        ping = Ping(self._number, self._table.digest(), self._news(target, first))
        return [Say(target, ping), Wake(now + self._pace.answer_us, Late(self._number))]

    def _late(self, number: int, now: int) -> list[Any]:
        pinged = self._pinged.get(number)
        if pinged is None:
            return []
        others = [name for name in self._table.live() if name not in (self.name, pinged.target)]
        if not pinged.asker:
            helpers = shuffled(others, self.name, number)[: self._pace.helpers]
            pinged.helpers = tuple(helpers)
        asked = [Say(each, Probe(number, pinged.target, self._news(each))) for each in pinged.helpers]
        # A helper waits for its own ping, and its answer must come back.
        return [*asked, Wake(now + 2 * self._pace.answer_us, Overdue(number))]

    def _news(self, to: str, first: list[Claim] | None = None) -> tuple[Claim, ...]:
        """What goes along to a node; if it is doubted itself, it must hear of that."""
        known = self.members.get(to)
        doubts = known.claims()[1:] if known is not None else []
        return self._table.news([*(first or []), *doubts])

    def _doubt(self, name: str, now: int) -> Sequence[Any]:
        known = self.members.get(name)
        if known is None or known.state is not State.ALIVE:
            return []
        return self._marked(name, known.presence.incarnation, State.SUSPECT, now)

    def _leave(self) -> list[Any]:
        if self._own is None:
            return []
        others = [name for name in self._table.live() if name != self.name]
        farewell = News((Death(self.name, self._own.incarnation),))
        return [Say(each, farewell) for each in shuffled(others, self.name, "farewell")[:FAREWELLS]]

    # --- messages

    def hear(self, sender: str, message: Any, now: int) -> Sequence[Any]:
        match message:
            case Ping(number, digest, news):
                commands = self._believe(sender, news, now)
                commands.append(Say(sender, Ack(number, self._news(sender))))
                return [*commands, *(self._summary(sender) if digest != self._table.digest() else ())]
            case Ack(number, news):
                return self._answered(sender, number, news, now)
            case Probe(number, target, news):
                commands = self._believe(sender, news, now)
                return [*commands, *self._help(sender, number, target, now)]
            case Summary(after, until, entries):
                more, less = self._table.difference(after, until, entries)
                wanted = [Say(sender, Wanted(tuple(less)))] if less else []
                return [*(Say(sender, News(claims)) for claims in self._table.told(more)), *wanted]
            case Wanted(names):
                return [Say(sender, News(claims)) for claims in self._table.told(list(names))]
            case News(claims):
                return self._believe(sender, claims, now)
        return [Refuse("message")]

    def _answered(self, sender: str, number: int, news: Sequence[Claim], now: int) -> Sequence[Any]:
        pinged = self._pinged.get(number)
        if pinged is None:
            # It came too late; what it tells is true nevertheless.
            return self._believe(sender, news, now)
        if sender != pinged.target and sender not in pinged.helpers:
            return [Refuse("unasked")]
        del self._pinged[number]
        commands = self._believe(sender, news, now)
        if pinged.asker:
            commands.append(Say(pinged.asker, Ack(pinged.asked_as, self._news(pinged.asker))))
        return commands

    def _help(self, sender: str, number: int, target: str, now: int) -> list[Any]:
        """Ping a node for another one; only nodes that are known, so that nobody is sent to strangers."""
        if target not in self.members or target == self.name:
            return []
        return self._ping(target, now, asker=sender, asked_as=number)

    def _summary(self, to: str) -> list[Say]:
        entries = self._table.entries()
        parts = [entries[at : at + SUMMARY_MOST] for at in range(0, len(entries), SUMMARY_MOST)] or [[]]
        ends = ["", *(part[-1].name for part in parts[:-1]), ""]
        return [
            Say(to, Summary(ends[index], ends[index + 1], tuple(part))) for index, part in enumerate(parts)
        ]

    # --- claims

    def _believe(self, sender: str, claims: Sequence[Claim], now: int) -> list[Any]:
        commands: list[Any] = []
        for claim in claims:
            is_this = claim.name == self.name
            commands += self._of_this(claim, now) if is_this else self._of_other(sender, claim, now)
        return commands

    def _of_this(self, claim: Claim, now: int) -> Sequence[Any]:
        """What others believe of this node: a doubt is answered with a greater incarnation."""
        if self._own is None:
            return []
        if isinstance(claim, Presence):
            # An earlier life, whose clock was ahead; nobody else can have signed it.
            is_later = claim.incarnation > self._own.incarnation and self._is_sealed(claim, now)
            return [self._attest(claim.incarnation + 1)] if is_later else []
        if claim.incarnation > self._own.incarnation:
            self.refused["ahead"] += 1
        return [self._attest(self.incarnation)] if claim.incarnation == self._own.incarnation else []

    def _of_other(self, sender: str, claim: Claim, now: int) -> Sequence[Any]:
        known = self.members.get(claim.name)
        if isinstance(claim, Presence):
            if known is not None and claim.incarnation <= known.presence.incarnation:
                return []
            if not self._is_sealed(claim, now):
                self.refused["seal"] += 1
                return []
            self._table.put(claim, now)
            return [self._changed(claim.name)]
        if known is None:
            return []
        if claim.incarnation > known.presence.incarnation:
            # Only the node itself says that it has another one, and that has not come yet.
            self.refused["ahead"] += 1
            return []
        # Of a death that others tell the node itself must have had time to hear: it is a doubt.
        state = State.DEAD if isinstance(claim, Death) and sender == claim.name else State.SUSPECT
        return self._marked(claim.name, claim.incarnation, state, now)

    def _is_sealed(self, said: Presence, now: int) -> bool:
        data = presence_bytes(said.name, said.host, said.port, said.incarnation)
        return str(self._seals.signer(said.seal, data, now)) == said.name

    def _marked(self, name: str, incarnation: int, state: State, now: int) -> list[Any]:
        if not self._table.mark(name, incarnation, state, now):
            return []
        end: list[Value] = []
        if state is State.SUSPECT:
            end = [Wake(now + self._patience_us, Expire(name, incarnation))]
        return [self._changed(name), *end]

    @property
    def _patience_us(self) -> int:
        """For how long a suspicion lasts: with more nodes it takes longer to hear of it, and to answer."""
        return self._pace.suspect_us * max(1, len(str(len(self.members))))

    def _changed(self, name: str) -> Changed:
        found = self.members[name]
        said = found.presence
        return Changed(name, said.host, said.port, said.incarnation, found.state)
