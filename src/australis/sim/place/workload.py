"""Readings of four regions over eight sites, with a hot region that changes every few minutes."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from random import Random

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.policy.place import Line, Placement, Site, Survey
from australis.rewrite.statistics import Measure, Statistics

REGIONS = ("north", "east", "south", "west")
SCHEMA = "sid int not null, at timestamp not null, value int"
WEAK = frozenset(["filter", "map", "union"])
"""What a proxy of sensors can run."""


@dataclass(frozen=True)
class Setting:
    """What the papers leave open."""

    seconds: float = 2400.0
    hot_s: float = 300.0
    """How long a region is hot."""
    ramp_s: float = 20.0
    """How long its rate takes to rise, and to fall."""
    calm: float = 1500.0
    """Tuples per second."""
    hot: float = 9000.0
    noise: float = 0.12
    """The relative noise of the rates."""
    noise_s: float = 10.0
    """How long a deviation lasts."""
    proxy: float = 0.3
    """The capacity of a proxy; servers have 1."""
    bandwidth: float = 200_000.0
    """Bytes per second, of each line in each direction."""
    state_bytes: float = 2e6
    """The state of a window."""


def network() -> Network:
    """Each region's readings are cleaned, scaled and counted; those of the first are joined with zones."""
    net = NetworkBuilder("regions")
    zones = net.table("zones", "sid int, zone string")
    counts = []
    for region in REGIONS:
        clean = net.input(region, SCHEMA).filter("value > 0", as_=f"clean_{region}")
        scale = clean.map({"sid": "sid", "at": "at", "value": "value * 10"}, as_=f"scale_{region}")
        order = Order("at", group_by=("sid",))
        functions = {"n": "count(*)", "most": "max(value)"}
        counts.append(scale.aggregate(functions, order, "10 s", align=True, as_=f"count_{region}"))
        if region == REGIONS[0]:
            paired = scale.join(zones, "left.sid = right.sid", left=order, as_="zoned")
            paired.output("zones")
    joined = counts[0].union(*counts[1:], as_="all").filter("n > 0", as_="busy")
    joined.output("counts")
    return net.build()


def known() -> Statistics:
    """The cost and selectivity of each box."""
    found = {"all": Measure(5.0), "busy": Measure(5.0, (0.5, 0.5)), "zoned": Measure(30.0, (2.5,))}
    for region in REGIONS:
        found[f"clean_{region}"] = Measure(20.0, (0.5, 0.5))
        found[f"scale_{region}"] = Measure(20.0)
        found[f"count_{region}"] = Measure(200.0, (0.05,))
    return Statistics(found)


def survey(setting: Setting) -> Survey:
    """The initial placement: everything at the server of its region."""
    made = network()
    servers = {region: f"server_{region}" for region in REGIONS}
    boxes = {b: servers.get(b.rpartition("_")[2], servers[REGIONS[0]]) for b in made.boxes}
    first, other = servers[REGIONS[0]], servers[REGIONS[2]]
    placement = Placement(
        boxes,
        {**{region: f"proxy_{region}" for region in REGIONS}, "zones": first},
        {"counts": first, "zones": other},
    )
    sites = {server: Site() for server in servers.values()}
    sites |= {f"proxy_{region}": Site(setting.proxy, WEAK) for region in REGIONS}
    states = {f"count_{region}": setting.state_bytes for region in REGIONS}
    return Survey(
        made, placement, sites, _lines(setting), dict.fromkeys(REGIONS, setting.calm), known(), states=states
    )


def _lines(setting: Setting) -> dict[Line, float]:
    """All servers are connected; a proxy only with the server of its region."""
    servers = [f"server_{region}" for region in REGIONS]
    pairs = [(a, b) for a in servers for b in servers if a != b]
    for region in REGIONS:
        proxy, server = f"proxy_{region}", f"server_{region}"
        pairs += [(proxy, server), (server, proxy)]
    return dict.fromkeys(pairs, setting.bandwidth)


class Rates:
    """The rates of all regions by second, determined by a seed."""

    def __init__(self, setting: Setting, chance: Random) -> None:
        self._setting, self._chance = setting, chance
        self._drift = dict.fromkeys(REGIONS, 0.0)

    def at(self, time: float) -> dict[str, float]:
        """The rates in a second; to be called once for each, in order."""
        return {region: self.meant(region, time) * self._noise(region) for region in REGIONS}

    def meant(self, region: str, time: float) -> float:
        """Without noise."""
        setting = self._setting
        turn, into = divmod(time, setting.hot_s)
        place = REGIONS.index(region)
        rising = min(1.0, into / setting.ramp_s) if setting.ramp_s else 1.0
        part = rising if int(turn) % len(REGIONS) == place else 0.0
        if turn and int(turn - 1) % len(REGIONS) == place:
            part = 1.0 - rising
        return setting.calm + part * (setting.hot - setting.calm)

    def _noise(self, region: str) -> float:
        stays = exp(-1.0 / self._setting.noise_s)
        fresh = self._chance.gauss(0.0, self._setting.noise * (1 - stays * stays) ** 0.5)
        self._drift[region] = stays * self._drift[region] + fresh
        return exp(self._drift[region])
