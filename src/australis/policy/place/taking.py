"""What a site takes: what fits, counted with all that it has promised to others."""

from __future__ import annotations

from typing import Any

import msgspec

from australis.policy.machines import Refuse, Say
from australis.policy.place.chart import Chart
from australis.policy.place.manners import Manners, micros
from australis.policy.place.messages import Accepted, Dismiss, Expect, Form, Offer, Rejected, Report, Serial
from australis.policy.place.survey import Survey


class Promise(msgspec.Struct, forbid_unknown_fields=True):
    """Room that is kept for what this site has promised to take."""

    serial: Serial
    boxes: tuple[str, ...]
    work: float
    until: int


class TakerState(msgspec.Struct, forbid_unknown_fields=True):
    """What survives a restart."""

    promises: dict[str, Promise]
    answered: dict[str, Serial]


class Taker:
    """Decides what comes to a site."""

    def __init__(self, chart: Chart, manners: Manners) -> None:
        self.chart, self.manners = chart, manners
        self.promises: dict[str, Promise] = {}
        """By giver: each gives one thing at a time."""
        self.answered: dict[str, Serial] = {}
        """The last offer of each neighbour that was answered or is over."""

    @property
    def promised(self) -> float:
        """The work that this site has promised to take."""
        return sum(promise.work for promise in self.promises.values())

    def offered(self, giver: str, offer: Offer, survey: Survey | None, now: int, *, gives: bool) -> list[Any]:
        """Answer an offer; the same answer again if it is repeated."""
        promise = self.promises.get(giver)
        if promise is not None and promise.serial == offer.serial:
            return [Say(giver, Accepted(offer.serial))]
        answered = self.answered.get(giver, (0, 0))
        if offer.serial <= answered:
            return (
                [Say(giver, Rejected(offer.serial, "it is over"))]
                if offer.serial == answered
                else [Refuse("late")]
            )
        if len(set(offer.boxes)) < len(offer.boxes):
            return [Refuse("twice")]
        before = self._drop(giver)
        why = "gives something away itself" if gives else self._why_not(giver, offer, survey)
        self.answered[giver] = offer.serial
        if why:
            return [*before, Say(giver, Rejected(offer.serial, why))]
        until = now + micros(self.manners.patience_s)
        self.promises[giver] = Promise(offer.serial, offer.boxes, offer.work, until)
        expect = Expect(giver, offer.serial, offer.form, offer.boxes)
        return [*before, expect, Say(giver, Accepted(offer.serial))]

    def _why_not(self, giver: str, offer: Offer, survey: Survey | None) -> str:
        """Why an offer is not taken; empty if it is."""
        chart = self.chart
        if chart.runs is None or chart.measured is None:
            return "has not begun"
        here = survey.network.boxes.keys() if survey is not None else frozenset[str]()
        if offer.form is Form.UNSPLIT:
            if not any(copies[-1:] == offer.boxes for copies in chart.runs.divided.values()):
                return "it is not the last copy of a box here"
        elif offer.form is Form.SLIDE and here & set(offer.boxes):
            return "it is here already"
        if not all(chart.own.can(kind) for kind in offer.kinds):
            return "it cannot run here"
        if not self._has_links(giver, offer, survey):
            return "has no link that is wide enough"
        asked = survey.loads[chart.site] * chart.own.capacity if survey else chart.measured.other_work
        after = (asked + self.promised + offer.work) / chart.own.capacity
        return "has no room" if after > self.manners.limits.low + 1e-9 else ""

    def _has_links(self, giver: str, offer: Offer, survey: Survey | None) -> bool:
        """Whether the streams have links; what the one from the giver and back can carry, the giver knows."""
        assert self.chart.measured is not None
        links, site = self.chart.measured.links, self.chart.site
        if not (offer.comes.keys() | offer.goes.keys()) <= links.keys() | {site}:
            return False
        for other, size in offer.goes.items():
            used = survey.uses.get((site, other), 0.0) if survey is not None else 0.0
            if (
                other not in (site, giver)
                and size > max(0.0, self.manners.limits.low - used) * links[other].width
            ):
                return False
        return True

    # --- the end of a promise

    def told(self, giver: str, report: Report, now: int) -> list[Any]:
        """What a giver tells of its moves: a promise is over, or goes on."""
        promise = self.promises.get(giver)
        if promise is None or report.last < promise.serial:
            return []
        if report.giving == promise.serial:
            promise.until = now + micros(self.manners.patience_s)
            return []
        return self._drop(giver)

    def look(self, now: int) -> list[Any]:
        """Give up promises whose giver is not heard of."""
        over = [giver for giver, promise in self.promises.items() if promise.until < now]
        return [command for giver in over for command in self._drop(giver)]

    def gone(self, giver: str) -> list[Any]:
        """A neighbour is gone for good, and begins with nothing if it comes back."""
        self.answered.pop(giver, None)
        return self._drop(giver)

    def _drop(self, giver: str) -> list[Any]:
        promise = self.promises.pop(giver, None)
        return [Dismiss(giver, promise.serial)] if promise is not None else []

    def giver_of(self, box_id: str) -> str | None:
        """Who was to bring a box."""
        return next((giver for giver, each in self.promises.items() if box_id in each.boxes), None)
