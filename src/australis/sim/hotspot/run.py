"""The paper's experiment: peers whose loads are measured, with hot spots alleviated or not."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from statistics import fmean, pstdev, quantiles

from australis.policy.hotspot import messages as m
from australis.sim.hotspot.overlay import Overlay
from australis.sim.hotspot.workload import Request, Setting, workload
from australis.sim.kernel import Links

SAMPLE_S = 5.0
"""How often Linux samples the run queue."""
MINUTE_S = 60.0
LOAD_UPDATES = ("LoadUpdate",)
MIGRATION_MESSAGES = (
    *("Decision", "Request", "Reply", "Refusal", "UpdateRequest", "UpdateReply"),
    *("State", "Taken", "Shipped", "Wanted", "Cancel", "Elsewhere", "Introduce", "Introduced"),
)


@dataclass(frozen=True)
class Messages:
    """The messages between peers while a number of tuples were delivered."""

    delivered: int
    data: int
    load_updates: int
    migration: int

    @property
    def overhead(self) -> float:
        """Messages about load and migrations, per message that carries a tuple."""
        return (self.load_updates + self.migration) / self.data


@dataclass(frozen=True)
class Outcome:
    """The result of a run."""

    balanced: bool
    entered: int
    delivered: int
    delay_s: float
    """The mean delay of the delivered tuples, from source to receiver."""
    delay_s_p95: float
    spread: float
    """How far loads are from their mean: the standard deviation over peers, averaged over time."""
    peak: float
    """The greatest load of a peer, averaged over time."""
    overloaded: float
    """How many peers are overloaded, averaged over time."""
    migrations: int
    returns: int
    """Tasks that returned to where they had come from."""
    first: Messages
    """Until the first 2,000 tuples were delivered."""
    whole: Messages
    loads: tuple[tuple[float, float], ...]
    """Loads of peers, each with the minute of the run."""
    delays: tuple[tuple[float, float], ...]
    """The mean delay of the tuples that were delivered in each minute."""


COUNTED = 2000
"""The delivered tuples for which the paper counts messages."""


class Run:
    """One run of a setting, determined by a seed."""

    def __init__(self, setting: Setting, seed: int, *, balanced: bool) -> None:
        self._setting, self._seed, self._balanced = setting, seed, balanced
        self._chance = Random(seed)
        drawn = workload(setting, self._chance)
        self.overlay = Overlay(
            drawn.offers,
            drawn.costs,
            manners=setting.manners,
            links=Links(latency=setting.latency_s),
            chance=self._chance,
        )
        self._entered = 0
        self._loads: list[tuple[float, float]] = []
        self._spreads: list[tuple[float, float, int]] = []
        self._counted: Messages | None = None
        for request in drawn.requests:
            self._begin(request)
        self._plan()

    def _begin(self, request: Request) -> None:
        """Schedule tuples at random times, the same with and without balancing."""
        stream = request.application.sources[0]
        self.overlay.place(request.placed, {stream: request.peer})
        chance = Random(f"{self._seed} {stream}")
        self.overlay.clock.after(chance.expovariate(request.rate), self._emit, request, stream, chance)

    def _emit(self, request: Request, stream: str, chance: Random) -> None:
        clock = self.overlay.clock
        self._entered += 1
        self.overlay.stations[request.peer].emit(stream, (clock.now, 0))
        clock.after(chance.expovariate(request.rate), self._emit, request, stream, chance)

    def _plan(self) -> None:
        clock, draw = self.overlay.clock, self._chance
        clock.every(SAMPLE_S, self._sample)
        clock.every(MINUTE_S, self._note)
        for station in self.overlay.stations.values():
            clock.every(MINUTE_S, self._monitor, station.name, first=draw.uniform(0, MINUTE_S))
            clock.every(MINUTE_S, station.ticked, None, first=draw.uniform(0, MINUTE_S))
            if self._balanced:
                clock.every(MINUTE_S, self._balance, station.name, first=draw.uniform(0, MINUTE_S))

    def _sample(self) -> None:
        for station in self.overlay.stations.values():
            station.measured(SAMPLE_S)
        delivered = sum(len(each) for each in self.overlay.deliveries.values())
        if self._counted is None and delivered >= COUNTED:
            self._counted = self._messages(delivered)

    def _monitor(self, peer: str) -> None:
        station = self.overlay.stations[peer]
        station.tell(m.Measured(station.loads))

    def _balance(self, peer: str) -> None:
        self.overlay.stations[peer].tell(m.Look())

    def _note(self) -> None:
        loads = [station.loads.one for station in self.overlay.stations.values()]
        minute = self.overlay.clock.now / MINUTE_S
        self._loads += [(minute, load) for load in loads]
        hot = sum(load > self._setting.manners.criteria.overload for load in loads)
        self._spreads.append((pstdev(loads), max(loads), hot))

    def _messages(self, delivered: int) -> Messages:
        sent = self.overlay.sent
        updates = sum(sent[kind] for kind in LOAD_UPDATES)
        return Messages(delivered, sent["Data"], updates, sum(sent[kind] for kind in MIGRATION_MESSAGES))

    def outcome(self) -> Outcome:
        """Run, and return the result."""
        self.overlay.clock.run(until=self._setting.minutes * MINUTE_S)
        found = [each for stream in self.overlay.deliveries.values() for each in stream]
        delays = [each.time - each.origin for each in found]
        whole = self._messages(len(found))
        spread, peak, hot = (fmean(each) for each in zip(*self._spreads, strict=True))
        return Outcome(
            self._balanced,
            self._entered,
            len(found),
            fmean(delays),
            quantiles(delays, n=20)[-1],
            spread,
            peak,
            hot,
            len(self.overlay.moves),
            len(self.overlay.returns()),
            self._counted or whole,
            whole,
            tuple(self._loads),
            tuple(self._by_minute()),
        )

    def _by_minute(self) -> list[tuple[float, float]]:
        delays: dict[int, list[float]] = {}
        for each in (each for stream in self.overlay.deliveries.values() for each in stream):
            delays.setdefault(int(each.time // MINUTE_S), []).append(each.time - each.origin)
        return [(minute + 1.0, fmean(delays[minute])) for minute in sorted(delays)]


def simulated(setting: Setting, seed: int = 0, *, balanced: bool = True) -> Outcome:
    """One run; the initial state is the same with and without balancing."""
    return Run(setting, seed, balanced=balanced).outcome()
