"""The daemon of one site, which gives load away when it must, and takes load when it can (Aurora* 5.1).

It decides from what was measured at its own site and from what its neighbours tell. It is slow to move: an
overload has to last, a move has to be worth it, a site that moved something rests, and a box does not go back
unless that gains much more. So fluctuating loads do not move boxes to and fro.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import msgspec

from australis.policy.machines import Machine, Refuse, Say, Started, put, state_of
from australis.policy.place import messages as m
from australis.policy.place.chart import Chart, Told
from australis.policy.place.giving import Giver, GiverState
from australis.policy.place.manners import Manners, micros
from australis.policy.place.survey import Site, Survey
from australis.policy.place.taking import Taker, TakerState


class DaemonSetup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a daemon is made with."""

    own: Site
    manners: Manners


class DaemonState(msgspec.Struct, forbid_unknown_fields=True):
    """What it must not forget."""

    reports: int
    runs: m.Runs | None
    measured: m.Measured | None
    told: dict[str, Told]
    giver: GiverState
    taker: TakerState


class Daemon(Machine):
    """Gives one thing at a time, and nothing while it is about to take.

    >>> daemon = Daemon("a", Site(2.0))
    >>> [each.kind for each in daemon.handle(m.Measured({}, {}, {"b": m.Link(1e6)}), now=0)]
    ['Report']
    """

    POLICY = "place"
    MESSAGES: ClassVar[Any] = m.Message
    EVENTS: ClassVar[Any] = m.Event | Started
    STATE = DaemonState
    SETUP = DaemonSetup

    def __init__(
        self, name: str, own: Site | None = None, manners: Manners | None = None, incarnation: int = 1
    ) -> None:
        super().__init__(name, incarnation)
        self.manners = manners or Manners()
        self.chart = Chart(name, own or Site())
        self.giver = Giver(self.chart, self.manners)
        self.taker = Taker(self.chart, self.manners)
        self.reports = 0

    # --- as a machine

    @classmethod
    def of(cls, name: str, setup: DaemonSetup, incarnation: int) -> Self:
        """A daemon with a configuration."""
        return cls(name, setup.own, setup.manners, incarnation)

    def setup(self) -> DaemonSetup:
        """What it was made with."""
        return DaemonSetup(self.chart.own, self.manners)

    def state(self) -> DaemonState:
        """What it knows, gives and takes."""
        chart = self.chart
        giver, taker = state_of(self.giver, GiverState), state_of(self.taker, TakerState)
        return DaemonState(self.reports, chart.runs, chart.measured, chart.told, giver, taker)

    def resume(self, state: DaemonState) -> None:
        """Continue from a state."""
        self.reports = state.reports
        self.chart.runs, self.chart.measured, self.chart.told = state.runs, state.measured, state.told
        put(self.giver, state.giver)
        put(self.taker, state.taker)

    def partners(self) -> Iterable[str]:
        """Its neighbours, and those with which something is open."""
        waited = {self.giver.open.to} if self.giver.open is not None else set[str]()
        return {*self.chart.neighbours, *self.taker.promises, *waited}

    def decide(self, event: Any, now: int) -> list[Any]:
        """What to do about an event of the host."""
        return _ABOUT[type(event)](self, event, now)

    def hear(self, sender: str, message: Any, now: int) -> list[Any]:
        """What to do about a message."""
        return _HEARD[type(message)](self, sender, message, now)

    # --- events

    def _started(self, _: Started, now: int) -> list[Any]:
        return self.giver.started()

    def _runs(self, runs: m.Runs, now: int) -> list[Any]:
        chart = self.chart
        if not chart.is_sound(runs):
            return [Refuse("network")]
        first, before, chart.runs = chart.runs is None, _boxes(chart), runs
        for box_id in sorted(_boxes(chart) - before) if not first else ():
            self.giver.arrived(box_id, self.taker.giver_of(box_id), now)
        self.giver.keep(_boxes(chart))
        return []

    def _measured(self, measured: m.Measured, now: int) -> list[Any]:
        if self.name in measured.links:
            return [Refuse("link")]
        self.chart.measure(measured)
        over, survey = self.taker.look(now), self._survey(now)
        is_taking = bool(self.taker.promises)
        given = self.giver.look(survey, self.incarnation, now, is_taking=is_taking)
        return [*over, *given, *(self._report(to, survey) for to in sorted(measured.links))]

    def _done(self, done: m.Done, now: int) -> list[Any]:
        taker = self.giver.done(done.serial, now, succeeded=done.succeeded)
        return [Refuse("late")] if taker is None else [self._report(taker, self._survey(now))]

    def _gone(self, gone: m.Gone, now: int) -> list[Any]:
        self.lost(gone.partner)
        self.chart.told.pop(gone.partner, None)
        open_ = self.giver.open
        if open_ is not None and open_.to == gone.partner and not open_.begun:
            self.giver.open = None
        return self.taker.gone(gone.partner)

    # --- messages

    def _offered(self, giver: str, offer: m.Offer, now: int) -> list[Any]:
        open_ = self.giver.open
        if open_ is not None and open_.to == giver and not open_.begun and giver < self.name:
            # Two that offer something to each other would both decline, and again each time.
            self.giver.open = open_ = None
        return self.taker.offered(giver, offer, self._survey(now), now, gives=open_ is not None)

    def _told(self, sender: str, report: m.Report, now: int) -> list[Any]:
        if not self.chart.hear(sender, report, now):
            return [Refuse("overtaken")]
        return self.taker.told(sender, report, now)

    # --- what is told

    def _survey(self, now: int) -> Survey | None:
        return self.chart.survey(self.chart.fresh(now, micros(self.manners.stale_s)))

    def _report(self, to: str, survey: Survey | None) -> Say:
        self.reports += 1
        chart, giver, own = self.chart, self.giver, self.chart.own
        links = chart.measured.links if chart.measured is not None else {}
        other = chart.measured.other_work if chart.measured is not None else 0.0
        asked = survey.loads[self.name] * own.capacity if survey is not None else other
        open_ = giver.open
        report = m.Report(
            (self.incarnation, self.reports),
            own.capacity,
            None if own.kinds is None else tuple(sorted(own.kinds)),
            asked + self.taker.promised,
            {name: link.width for name, link in links.items()},
            {name: self._used(survey, name, link) for name, link in links.items()},
            chart.sends(survey, to) if survey is not None else {},
            chart.reads(survey, to) if survey is not None else {},
            open_.offer.serial if open_ is not None and open_.to == to else None,
            (self.incarnation, giver.number),
            giver.gave,
        )
        return Say(to, report)

    def _used(self, survey: Survey | None, name: str, link: m.Link) -> float:
        own = survey.traffic.get((self.name, name), 0.0) if survey is not None else 0.0
        return own + link.other


def _boxes(chart: Chart) -> frozenset[str]:
    network = chart.network
    return frozenset(network.boxes) if network is not None else frozenset()


_ABOUT: dict[type, Callable[[Daemon, Any, int], list[Any]]] = {
    Started: Daemon._started,
    m.Runs: Daemon._runs,
    m.Measured: Daemon._measured,
    m.Done: Daemon._done,
    m.Gone: Daemon._gone,
}

_HEARD: dict[type, Callable[[Daemon, str, Any, int], list[Any]]] = {
    m.Report: Daemon._told,
    m.Offer: Daemon._offered,
    m.Accepted: lambda self, taker, message, now: self.giver.accepted(taker, message.serial),
    m.Rejected: lambda self, taker, message, now: self.giver.rejected(taker, message.serial, now),
}
