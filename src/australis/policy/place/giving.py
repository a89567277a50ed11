"""What a site gives away: one thing at a time, to a neighbour that has agreed (Aurora* 5.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from australis.algebra.network import Ref
from australis.policy.machines import Refuse, Say
from australis.policy.place.chart import Chart
from australis.policy.place.manners import Manners, micros
from australis.policy.place.messages import Begin, Form, Home, Offer, Serial, Slide, Split, Unsplit
from australis.policy.place.moves import Judged, Move, Splitting, overloads, ranked, troubles
from australis.policy.place.slide import Direction, Sliding, stop
from australis.policy.place.survey import Line, Survey


class Open(msgspec.Struct, forbid_unknown_fields=True):
    """What this site has offered to give away, or is giving."""

    to: str
    offer: Offer
    command: Begin
    since: int
    begun: bool = False


class GiverState(msgspec.Struct, forbid_unknown_fields=True):
    """What survives a restart."""

    number: int
    open: Open | None
    gave: Serial | None
    since: dict[str, int]
    calm: dict[str, int]
    rests: dict[str, int]
    came: dict[str, tuple[str, int]]
    declined: dict[str, int]
    settled: int


class Giver:
    """Decides what leaves a site."""

    def __init__(self, chart: Chart, manners: Manners) -> None:
        self.chart, self.manners = chart, manners
        self.number = 0
        """Of the last offer."""
        self.open: Open | None = None
        self.gave: Serial | None = None
        """The last move that was done."""
        self.since: dict[str, int] = {}
        """When each current overload began."""
        self.calm: dict[str, int] = {}
        """Since when there has been room at home for each copy."""
        self.rests: dict[str, int] = {}
        """Until when boxes stay where they are."""
        self.came: dict[str, tuple[str, int]] = {}
        """Where boxes came from, and when."""
        self.declined: dict[str, int] = {}
        """Until when sites that have declined are not asked again."""
        self.settled = 0
        """When this site may give again."""

    # --- at each tick

    def look(self, survey: Survey | None, incarnation: int, now: int, *, is_taking: bool) -> list[Any]:
        """Note overloads; offer something if one has lasted, or repeat what is not answered."""
        found = troubles(survey, self.chart.site, self.manners.limits.high) if survey is not None else []
        self.since = {_key(place): self.since.get(_key(place), now) for _, place in found}
        self.calm = {copy: self.calm.get(copy, now) for copy in self._fitting(survey)}
        self.declined = {site: until for site, until in self.declined.items() if until > now}
        self.rests = {box_id: until for box_id, until in self.rests.items() if until > now}
        if self.open is not None:
            return self._again(self.open, now)
        if survey is None or is_taking or now < self.settled:
            return []
        chosen = self._relief(survey, [place for _, place in found], now) or self._return(survey, now)
        return self._offered(survey, chosen, incarnation, now) if chosen is not None else []

    def _again(self, open_: Open, now: int) -> list[Any]:
        if open_.begun:
            return []
        if now - open_.since > micros(self.manners.patience_s):
            self._decline(now)
            return []
        return [Say(open_.to, open_.offer)]

    def started(self) -> list[Any]:
        """What was to be done may not have been."""
        if self.open is None:
            return []
        return [self.open.command] if self.open.begun else [Say(self.open.to, self.open.offer)]

    # --- what is chosen

    def _relief(self, survey: Survey, places: list[str | Line], now: int) -> Move | None:
        for place in places:
            if now - self.since[_key(place)] >= micros(self.manners.persists_s):
                found = ranked(survey, self.chart.site, place, self.manners.limits)
                chosen = next((each for each in found if self._may(each, now)), None)
                if chosen is not None:
                    return chosen.move
        return None

    def _may(self, judged: Judged, now: int) -> bool:
        """Whether no box of a move rests, and none goes back for too little gain."""
        move, copies = judged.move, self._copies()
        if move.target in self.declined or any(box_id in self.rests for box_id in move.touched):
            return False
        if isinstance(move, Splitting):
            return True
        homes = [home for each in move.boxes if (home := copies.get(each)) and home.site == move.target]
        if homes:
            # A copy goes home by itself.
            return len(move.boxes) == 1
        return judged.gain >= self.manners.back_gain or not self._is_return(move, now)

    def _copies(self) -> dict[str, Home]:
        return self.chart.runs.copies if self.chart.runs is not None else {}

    def _is_return(self, move: Sliding, now: int) -> bool:
        came = (self.came.get(box_id) for box_id in move.boxes)
        remembered = micros(self.manners.remembered_s)
        return any(
            each is not None and each[0] == move.target and now - each[1] < remembered for each in came
        )

    def _fitting(self, survey: Survey | None) -> Iterator[str]:
        """The copies for which there is room at home, if nothing but that were to move."""
        for copy, home in self._copies().items():
            if survey is None or copy in survey.pinned or not self._can(survey, home.site, copy):
                continue
            after = survey.with_boxes({copy: home.site})
            grows = overloads(survey, after, self.manners.limits.low)
            if after.is_possible and not grows and after.loads[home.site] <= self.manners.merged:
                yield copy

    def _can(self, survey: Survey, site: str, box_id: str) -> bool:
        there = survey.sites.get(site)
        return there is not None and there.can(survey.network.boxes[box_id].box.kind)

    def _return(self, survey: Survey, now: int) -> Move | None:
        """A copy that can be given back, since there has long been room for it."""
        for copy, since in self.calm.items():
            home = self._copies()[copy].site
            if (
                now - since >= micros(self.manners.calm_s)
                and home not in self.declined
                and copy not in self.rests
            ):
                return Sliding((copy,), self.chart.site, home, Direction.UP)
        return None

    # --- the offer

    def _offered(self, survey: Survey, move: Move, incarnation: int, now: int) -> list[Any]:
        self.number += 1
        command = self._command(survey, move, (incarnation, self.number))
        self.open = Open(move.target, _offer(survey, move, command), command, now)
        return [Say(move.target, self.open.offer)]

    def _command(self, survey: Survey, move: Move, serial: Serial) -> Begin:
        still = stop(survey.network, sorted(move.touched & survey.network.boxes.keys()))
        hold, drain = tuple(map(str, still.held)), still.drained
        if isinstance(move, Splitting):
            box, portion = move.parting.box, move.portion
            return Split(serial, box, move.target, portion.keeps, portion.kept, move.merge, hold, drain)
        home = self._copies().get(move.boxes[0])
        if home is not None and home.site == move.target:
            return Unsplit(serial, move.boxes[0], home.box, move.target, hold, drain)
        return Slide(serial, move.boxes, move.target, move.way.value, hold, drain)

    # --- answers

    def accepted(self, taker: str, serial: Serial) -> list[Any]:
        """Begin, unless what was offered has changed meanwhile."""
        open_ = self.open
        if open_ is None or (open_.to, open_.offer.serial) != (taker, serial) or open_.begun:
            return [Refuse("late")]
        network = self.chart.network
        if network is None or not network.boxes.keys() >= set(open_.offer.boxes):
            self.open = None
            return []
        open_.begun = True
        return [open_.command]

    def rejected(self, taker: str, serial: Serial, now: int) -> list[Any]:
        """Ask somebody else."""
        open_ = self.open
        if open_ is None or (open_.to, open_.offer.serial) != (taker, serial) or open_.begun:
            return [Refuse("late")]
        self._decline(now)
        return []

    def _decline(self, now: int) -> None:
        if self.open is not None:
            self.declined[self.open.to] = now + micros(self.manners.persists_s)
        self.open = None

    def done(self, serial: Serial, now: int, *, succeeded: bool) -> str | None:
        """A move is over; returns who took part, None if it was none."""
        open_ = self.open
        if open_ is None or not open_.begun or open_.offer.serial != serial:
            return None
        self.open, self.settled = None, now + micros(self.manners.settle_s)
        if succeeded:
            self.gave = serial
        if succeeded and isinstance(open_.command, Split):
            self.rests[open_.command.box] = now + micros(self.manners.rest_s)
        return open_.to

    def arrived(self, box_id: str, giver: str | None, now: int) -> None:
        """A box that was not here before rests, and does not return to its giver for little."""
        self.rests[box_id] = now + micros(self.manners.rest_s)
        if giver is not None:
            self.came[box_id] = (giver, now)

    def keep(self, boxes: frozenset[str]) -> None:
        """Forget boxes that are gone."""
        self.came = {box_id: came for box_id, came in self.came.items() if box_id in boxes}


def _key(place: str | Line) -> str:
    return place if isinstance(place, str) else " ".join(place)


def _offer(survey: Survey, move: Move, command: Begin) -> Offer:
    """What a move would mean for its target."""
    after, site = move.apply(survey), move.target
    work = (after.loads[site] - survey.loads[site]) * survey.sites[site].capacity
    boxes = {each for each, place in after.placement.boxes.items() if place == site}
    kinds = tuple(sorted({after.network.boxes[each].box.kind for each in boxes}))
    form, named = _FORMS[type(command)], (move.parting.box,) if isinstance(move, Splitting) else move.boxes
    comes, goes = (
        ({}, {}) if form is Form.UNSPLIT else (_comes(after, boxes, site), _goes(after, boxes, site))
    )
    return Offer(command.serial, form, named, kinds, max(0.0, work), comes, goes)


_FORMS = {Slide: Form.SLIDE, Split: Form.SPLIT, Unsplit: Form.UNSPLIT}


def _comes(after: Survey, boxes: set[str], site: str) -> dict[str, float]:
    refs = {
        source for each in boxes for source in after.network.boxes[each].sources if source.id not in boxes
    }
    return _summed(((after.maker(ref), ref) for ref in sorted(refs, key=str)), after, site)


def _goes(after: Survey, boxes: set[str], site: str) -> dict[str, float]:
    refs = [
        Ref(each, port) for each in sorted(boxes) for port in range(after.network.boxes[each].box.outputs)
    ]
    return _summed(((to, ref) for ref in refs for to in sorted(after.readers(ref))), after, site)


def _summed(ways: Iterator[tuple[str, Ref]], after: Survey, site: str) -> dict[str, float]:
    """Bytes per second, by the site at the other end."""
    found: dict[str, float] = {}
    for other, ref in ways:
        if other != site:
            found[other] = found.get(other, 0.0) + after.flows[ref] * after.size(ref)
    return found
