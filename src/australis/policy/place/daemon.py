"""The daemon of one site, which gives load away when it must, and takes load when it can (Aurora* 5.1).

It is slow to move: an overload has to last, a move has to be worth it, a site that moved something rests, and
a box does not go back unless that gains much more. So fluctuating loads do not move boxes to and fro.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from australis.errors import PolicyError, Problem
from australis.policy.place.messages import (
    Answer,
    Answered,
    Begin,
    Command,
    Done,
    Event,
    Looked,
    Offer,
    Offered,
)
from australis.policy.place.moves import Judged, Limits, Move, Splitting, ranked, troubles
from australis.policy.place.slide import Sliding, stop
from australis.policy.place.survey import Line, Survey


@dataclass(frozen=True)
class Manners:
    """How slow a daemon is to move."""

    limits: Limits = field(default_factory=Limits)
    persists_s: float = 10.0
    """How long an overload has to last."""
    settle_s: float = 10.0
    """How long a site waits after giving something away."""
    rest_s: float = 60.0
    """How long a box that has moved stays where it is."""
    back_gain: float = 0.25
    """The gain needed to move a box back to where it came from."""
    remembered_s: float = 900.0
    """For how long a move counts as going back."""
    patience_s: float = 60.0
    """How long an offer waits for its answer, and a promise for its move."""

    def __post_init__(self) -> None:
        if not 0 < self.limits.low <= self.limits.high:
            what = f"has the marks {self.limits.low:g} and {self.limits.high:g}"
            raise PolicyError(Problem("limits", what, "a low one above 0 and at most the high one"))


HASTY = Manners(Limits(high=0.8, low=0.8, gain_least=0.0), 0.0, 0.0, 0.0, 0.0, 0.0)
"""No hysteresis, to show what it is good for."""


@dataclass(frozen=True)
class _Offered:
    """What this site has offered to give away, or is giving."""

    serial: int
    move: Move
    since: float
    survey: Survey
    begun: bool = False


@dataclass(frozen=True)
class _Promise:
    """Capacity reserved for what this site promised to take."""

    load: float
    until: float


class Daemon:
    """Events in, commands out. It gives one thing at a time, and nothing while it is about to take."""

    def __init__(self, site: str, manners: Manners | None = None) -> None:
        self.site, self.manners = site, manners or Manners()
        self._serial = 0
        self._offer: _Offered | None = None
        self._since: dict[str | Line, float] = {}
        """When each current overload began."""
        self._rests: dict[str, float] = {}
        """Until when boxes stay where they are."""
        self._settled = -inf
        """When this site may give again."""
        self._came: dict[str, tuple[str, float]] = {}
        """Where boxes came from, and when."""
        self._promises: dict[str, _Promise] = {}

    def handle(self, event: Event) -> Sequence[Command]:
        """The commands that follow from an event."""
        match event:
            case Looked():
                return self._looked(event)
            case Offered():
                return [self._answer(event)]
            case Answered():
                return self._answered(event)
            case Done():
                return self._done(event)

    # --- giving

    def _looked(self, seen: Looked) -> list[Command]:
        now, found = seen.now, troubles(seen.survey, self.site, self.manners.limits.high)
        self._since = {place: self._since.get(place, now) for _, place in found}
        self._give_up(now)
        if self._offer is not None or now < self._settled or self._is_taking(now):
            return []
        for _, place in found:
            if now - self._since[place] >= self.manners.persists_s:
                chosen = self._chosen(seen, place)
                if chosen is not None:
                    return [self._offered(now, chosen.move, seen.survey)]
        return []

    def _give_up(self, now: float) -> None:
        offer = self._offer
        if offer is not None and not offer.begun and now - offer.since > self.manners.patience_s:
            self._offer = None

    def _chosen(self, seen: Looked, place: str | Line) -> Judged | None:
        found = ranked(seen.survey, self.site, place, self.manners.limits)
        return next((each for each in found if self._may(seen.now, each)), None)

    def _may(self, now: float, judged: Judged) -> bool:
        """Whether no box of a move rests, and none goes back for too little gain."""
        if any(now < self._rests.get(box_id, now) for box_id in judged.move.touched):
            return False
        return judged.gain >= self.manners.back_gain or not self._is_return(now, judged.move)

    def _is_return(self, now: float, move: Move) -> bool:
        came = (self._came.get(box_id) for box_id in move.touched)
        return isinstance(move, Sliding) and any(
            each is not None and each[0] == move.target and now - each[1] < self.manners.remembered_s
            for each in came
        )

    def _offered(self, now: float, move: Move, survey: Survey) -> Command:
        self._serial += 1
        self._offer = _Offered(self._serial, move, now, survey)
        return Offer(move.target, self._serial, move)

    def _answered(self, answer: Answered) -> list[Command]:
        offer = self._offer
        if offer is None or offer.serial != answer.serial or offer.begun:
            return []
        if not answer.accepted:
            self._offer = None
            return []
        self._offer = _Offered(offer.serial, offer.move, offer.since, offer.survey, begun=True)
        there = offer.move.touched & offer.survey.network.boxes.keys()
        return [Begin(offer.move, stop(offer.survey.network, sorted(there)))]

    # --- taking

    def _answer(self, offered: Offered) -> Command:
        why = self._refusal(offered)
        if not why:
            added = self._added(offered)
            until = offered.now + self.manners.patience_s
            self._promises[offered.sender] = _Promise(added, until)
        return Answer(offered.sender, offered.serial, not why, why)

    def _refusal(self, offered: Offered) -> str:
        """Why an offer is not taken; empty if it is."""
        survey, move = offered.survey, offered.move
        if self._offer is not None:
            return "gives something away itself"
        if not _is_there(survey, move):
            return "the boxes have moved or changed"
        if not move.apply(survey).is_possible:
            return "it cannot run here"
        after = survey.loads[self.site] + self._added(offered) + self._promised(offered)
        return "has no room" if after > self.manners.limits.low + 1e-9 else ""

    def _added(self, offered: Offered) -> float:
        """The load that a move would bring here."""
        return offered.move.apply(offered.survey).loads[self.site] - offered.survey.loads[self.site]

    def _promised(self, offered: Offered) -> float:
        """The load that this site promised to take, without promises that have expired."""
        kept = {s: p for s, p in self._promises.items() if p.until > offered.now and s != offered.sender}
        self._promises = kept
        return sum(promise.load for promise in kept.values())

    def _is_taking(self, now: float) -> bool:
        return any(promise.until > now for promise in self._promises.values())

    # --- both

    def _done(self, done: Done) -> list[Command]:
        move, rested = done.move, done.now + self.manners.rest_s
        if move.source == self.site:
            self._offer = None
            self._settled = done.now + self.manners.settle_s
        if move.target == self.site:
            self._promises.pop(move.source, None)
        if done.succeeded and self.site in (move.source, move.target):
            self._rests |= dict.fromkeys(move.touched, rested)
            if isinstance(move, Sliding) and move.target == self.site:
                self._came |= dict.fromkeys(move.boxes, (move.source, done.now))
        return []


def _is_there(survey: Survey, move: Move) -> bool:
    """Whether the boxes of a move are unchanged and still at its source."""
    if isinstance(move, Splitting) and not move.parting.fits(survey.network):
        return False
    boxes = [move.parting.box] if isinstance(move, Splitting) else move.boxes
    return all(survey.placement.boxes.get(box_id) == move.source for box_id in boxes)
