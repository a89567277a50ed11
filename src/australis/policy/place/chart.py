"""The chart of a site: what runs and was measured here, and what its neighbours told, as a survey.

A site knows its own boxes, and where their streams come from and go to. Of its neighbours it knows their load
and their links, of nobody else anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from australis.algebra.form import loads
from australis.algebra.network import Network, Ref
from australis.errors import AustralisError
from australis.policy.place.messages import End, Measured, Report, Runs
from australis.policy.place.parting import Beyond, first_ordered
from australis.policy.place.survey import Line, Placement, Site, Survey, Values, usual_size
from australis.rewrite.statistics import Measure, Statistics

LEAST_WIDTH = 1.0
"""The bytes per second of a link, below which it is none: what it carries is divided by that."""


@lru_cache(maxsize=64)
def read(text: str) -> Network | None:
    """The network of a form; None if there is none, or it makes no sense."""
    try:
        return loads(text) if text else None
    except AustralisError:
        # What a neighbour reports may be anything; without a sense, it is nothing.
        return None


class Told(msgspec.Struct, forbid_unknown_fields=True):
    """The last report of a neighbour, and when it came."""

    report: Report
    at: int


class Chart:
    """What one site knows."""

    def __init__(self, site: str, own: Site) -> None:
        self.site, self.own = site, own
        self.runs: Runs | None = None
        self.measured: Measured | None = None
        self.told: dict[str, Told] = {}

    # --- what is told

    def is_sound(self, runs: Runs) -> bool:
        """Whether what is said to run here fits together."""
        network = read(runs.network)
        if network is None:
            return not (runs.network or runs.comes or runs.goes or runs.copies or runs.divided)
        ends = runs.comes.keys() == network.inputs.keys() and runs.goes.keys() == network.outputs.keys()
        return ends and network.boxes.keys() >= {*runs.fixed, *runs.copies, *runs.divided}

    def hear(self, sender: str, report: Report, now: int) -> bool:
        """Note a report, unless a later one has come."""
        before = self.told.get(sender)
        if before is not None and report.at <= before.report.at:
            return False
        self.told[sender] = Told(report, now)
        return True

    def measure(self, measured: Measured) -> None:
        """Note what was measured; who is no neighbour any more is forgotten."""
        self.measured = measured
        self.told = {name: told for name, told in self.told.items() if name in measured.links}

    def fresh(self, now: int, stale_us: float) -> frozenset[str]:
        """The neighbours that were heard of lately."""
        return frozenset(name for name, told in self.told.items() if now - told.at <= stale_us)

    @property
    def neighbours(self) -> Iterable[str]:
        return self.measured.links if self.measured is not None else ()

    # --- what follows

    @property
    def network(self) -> Network | None:
        return read(self.runs.network) if self.runs is not None else None

    def survey(self, fresh: frozenset[str]) -> Survey | None:
        """The boxes here, with this site and its neighbours; None if nothing runs here or was measured.

        A neighbour that was not heard of lately is there, but takes nothing.
        """
        runs, measured, network = self.runs, self.measured, self.network
        if runs is None or measured is None or network is None:
            return None
        names = {
            self.site,
            *measured.links,
            *(end.site for end in [*runs.comes.values(), *runs.goes.values()]),
        }
        sites = {name: self._site(name, fresh) for name in sorted(names)}
        lines = self._lines()
        return Survey(
            network,
            self._placement(network, runs),
            sites,
            lines,
            {name: self._rate(name, end) for name, end in runs.comes.items()},
            _statistics(network, measured),
            {Ref.parse(name): size for name, size in measured.sizes.items() if size > 0},
            {box_id: use.state_bytes for box_id, use in measured.boxes.items() if use.state_bytes},
            _values(network, measured),
            frozenset(runs.fixed),
            frozenset(runs.divided),
            {name: self._work(name) for name in sites},
            self._bytes(lines),
            self._beyond(runs),
        )

    def _site(self, name: str, fresh: frozenset[str]) -> Site:
        if name == self.site:
            return self.own
        told = self.told.get(name)
        if told is None or name not in fresh:
            return Site(told.report.capacity if told else 1.0, frozenset())
        kinds = told.report.kinds
        return Site(told.report.capacity, None if kinds is None else frozenset(kinds))

    def _placement(self, network: Network, runs: Runs) -> Placement:
        return Placement(
            dict.fromkeys(network.boxes, self.site),
            {name: end.site for name, end in runs.comes.items()},
            {name: end.site for name, end in runs.goes.items()},
            dict.fromkeys(network.connection_points, self.site),
        )

    def _rate(self, name: str, end: End) -> float:
        """What a neighbour would send if it could, or else what arrives."""
        told = self.told.get(end.site)
        sent = told.report.sends.get(end.stream) if told is not None else None
        if sent is not None:
            return sent
        return self.measured.rates.get(name, 0.0) if self.measured is not None else 0.0

    def _lines(self) -> dict[Line, float]:
        """The links from here and those that neighbours told; until then one is as wide back as there."""
        assert self.measured is not None
        own = {name: link.width for name, link in self.measured.links.items() if link.width >= LEAST_WIDTH}
        found = {(self.site, name): width for name, width in own.items()}
        found |= {(name, self.site): width for name, width in own.items()}
        for name, told in self.told.items():
            found |= {(name, to): width for to, width in told.report.links.items() if width >= LEAST_WIDTH}
        return found

    def _work(self, name: str) -> float:
        if name == self.site:
            return self.measured.other_work if self.measured is not None else 0.0
        told = self.told.get(name)
        return told.report.work if told is not None else 0.0

    def _bytes(self, lines: Mapping[Line, float]) -> dict[Line, float]:
        """What lines carry besides the streams of this site."""
        assert self.measured is not None
        found = {(self.site, name): link.other for name, link in self.measured.links.items()}
        for name, told in self.told.items():
            for to, used in told.report.used.items():
                found[name, to] = max(0.0, used - self._told_bytes(name)) if to == self.site else used
        return {line: used for line, used in found.items() if line in lines}

    def _told_bytes(self, name: str) -> float:
        """What a neighbour sends here, as far as this site counts it among its own streams."""
        network, runs, measured = self.network, self.runs, self.measured
        if network is None or runs is None or measured is None:
            return 0.0
        sizes, inputs = measured.sizes, network.inputs
        return sum(
            self._rate(each, end) * (sizes.get(each) or usual_size(inputs[each].schema))
            for each, end in runs.comes.items()
            if end.site == name and not inputs[each].table
        )

    def _beyond(self, runs: Runs) -> Beyond:
        """What neighbours told of streams that go there; until then, order matters to them."""
        readers = {}
        for name, end in runs.goes.items():
            if end.site != self.site:
                told = self.told.get(end.site)
                reads = told.report.reads if told is not None else {}
                if box_id := reads.get(end.stream, f"what runs at {end.site}"):
                    readers[name] = box_id
        return Beyond(readers, frozenset(name for name, end in runs.comes.items() if end.site != self.site))

    # --- what is reported

    def reads(self, survey: Survey, neighbour: str) -> dict[str, str]:
        """The streams from a neighbour, each with the first box downstream that depends on order."""
        assert self.runs is not None
        return {
            end.stream: first_ordered(survey.network, frozenset([Ref(name)]), survey.beyond) or ""
            for name, end in self.runs.comes.items()
            if end.site == neighbour
        }

    def sends(self, survey: Survey, neighbour: str) -> dict[str, float]:
        """The streams to a neighbour, in tuples per second."""
        assert self.runs is not None
        return {
            end.stream: survey.flows[survey.network.outputs[name].source]
            for name, end in self.runs.goes.items()
            if end.site == neighbour
        }


def _statistics(network: Network, measured: Measured) -> Statistics:
    """What was measured, of boxes that are here and have as many ports."""
    found = {}
    for box_id, use in measured.boxes.items():
        node = network.boxes.get(box_id)
        if node is not None and len(use.selectivity) == node.box.outputs:
            found[box_id] = Measure(use.tuple_us, use.selectivity)
    return Statistics(found)


def _values(network: Network, measured: Measured) -> dict[str, Values]:
    return {
        box_id: Values(counted.attribute, dict(counted.counts))
        for box_id, counted in measured.values.items()
        if box_id in network.boxes
    }
