"""A daemon at server a of the chain of `worlds`, in the hands of a test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.policy.machines.hosting import Hosted
from tests.policy.place.worlds import world

from australis.policy.machines import ENCODE, Say, decoded
from australis.policy.place import messages as m
from australis.policy.place.daemon import Daemon, DaemonState
from australis.policy.place.manners import Manners
from australis.policy.place.moves import Limits
from australis.policy.place.survey import Survey
from australis.sim.place.pieces import measured_at, runs_at

MANNERS = Manners(
    Limits(splits=False),
    persists_s=10,
    settle_s=20,
    rest_s=30,
    back_gain=0.25,
    remembered_s=900,
    calm_s=100,
)
NARROW = world(1000, bandwidth=21_000)
"""The line from the sensor is too narrow for what comes, and `thin` could go there."""
S = 1_000_000
"""A second."""


class AtSite(Hosted):
    """The daemon of a site of a world; its neighbours are what the world says."""

    def __init__(self, survey: Survey, site: str = "a", manners: Manners = MANNERS) -> None:
        super().__init__(Daemon(site, survey.sites[site], manners))
        self.site, self.serial = site, 0
        self.become(survey)

    def become(self, survey: Survey, now: int = 0, **told: Any) -> None:
        """Another world: what runs here, and what all neighbours report."""
        self.survey = survey
        self.handle(runs_at(survey, self.site, {}), now * S)
        self.handle(measured_at(survey, self.site, self.machine.chart.runs), -1)
        for site in sorted(survey.sites.keys() - {self.site}):
            self.hear(site, self.report(site, **told.get(site, {})), now * S)

    def report(self, site: str, **changes: Any) -> m.Report:
        """What a neighbour says of itself, and of streams that go to and fro."""
        self.serial += 1
        own, seen = self.survey.sites[site], self.survey
        ends = self.machine.chart.runs
        facts: dict[str, Any] = {
            "at": (1, self.serial),
            "capacity": own.capacity,
            "kinds": None if own.kinds is None else tuple(sorted(own.kinds)),
            "work": seen.loads[site] * own.capacity,
            "links": {to: width for (source, to), width in seen.lines.items() if source == site},
            "used": {to: size for (source, to), size in seen.traffic.items() if source == site},
            "sends": {},
            "reads": {end.stream: "" for end in ends.goes.values() if end.site == site},
            "giving": None,
            "last": (1, 0),
            "gave": None,
        }
        return m.Report(**{**facts, **changes})

    def look(self, now: int, survey: Survey | None = None, **told: Any) -> list[Any]:
        """A tick: neighbours report, this site measures; what it does but for reports."""
        if survey is not None:
            self.survey = survey
        for site in sorted(self.survey.sites.keys() - {self.site}):
            self.hear(site, self.report(site, **told.get(site, {})), now * S)
        measured = measured_at(self.survey, self.site, self.machine.chart.runs)
        return without_reports(self.handle(measured, now * S))


def kept(here: AtSite) -> DaemonState:
    """What it remembers, as it was at this moment."""
    found = decoded(DaemonState, ENCODE(here.machine.state()))
    assert isinstance(found, DaemonState)
    return found


def without_reports(commands: list[Any]) -> list[Any]:
    return [each for each in commands if not (isinstance(each, Say) and isinstance(each.message, m.Report))]


def offered(here: AtSite) -> m.Offer:
    """What a daemon offers, when an overload has lasted."""
    assert here.look(0) == []
    (said,) = here.look(10)
    assert isinstance(said.message, m.Offer)
    return said.message


def giving(here: AtSite) -> m.Begin:
    """What it begins, when that is accepted."""
    offer = offered(here)
    (command,) = here.hear(here.machine.giver.open.to, m.Accepted(offer.serial), 11 * S)
    return command


def at(survey: Survey, **sites: str) -> Survey:
    """The same with boxes elsewhere."""
    return replace(survey, placement=survey.placement.with_boxes(sites))
