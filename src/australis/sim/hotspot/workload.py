"""The random applications of the paper's experiment: who offers what, who requests what, how fast."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from australis.policy.hotspot import Manners
from australis.sim.hotspot.applications import Application, chain
from australis.sim.hotspot.overlay import PlacedTask


@dataclass(frozen=True)
class Setting:
    """The experiment of section 4, and what it leaves open."""

    peers: int = 30
    operators: int = 10
    offered: int = 5
    """The components of each peer."""
    stages: int = 5
    """The operators of each application; each peer requests one."""
    rate_max: float = 1.0
    """Tuples of a source per second: 80 Kbit per second, in tuples of 10 KB."""
    utilisation: float = 0.7
    """The fraction of all peers' time that the applications need."""
    latency_s: float = 0.05
    minutes: int = 15
    stateful: bool = False
    """Whether operators have state; those of the paper encrypt, and need none."""
    manners: Manners = field(default_factory=Manners)


@dataclass(frozen=True)
class Request:
    """An application that a peer requested."""

    peer: str
    application: Application
    placed: tuple[PlacedTask, ...]
    rate: float


@dataclass(frozen=True)
class Workload:
    """The initial state."""

    offers: dict[str, tuple[str, ...]]
    costs: dict[str, float]
    """The seconds that each operator needs per tuple."""
    requests: tuple[Request, ...]


def workload(setting: Setting, chance: Random) -> Workload:
    """A random workload: operator costs differ by up to 3; any component of an operator may be chosen."""
    operators = [f"op{number}" for number in range(setting.operators)]
    offers = _offers(setting, operators, chance)
    # Half of the greatest rate, for each stage of one application per peer, within the fraction of its time.
    mean = setting.utilisation / (setting.rate_max / 2 * setting.stages)
    costs = {operator: mean * chance.uniform(0.5, 1.5) for operator in operators}
    requests = tuple(_request(peer, setting, offers, operators, chance) for peer in offers)
    return Workload(offers, costs, requests)


def _offers(setting: Setting, operators: list[str], chance: Random) -> dict[str, tuple[str, ...]]:
    """Components for each peer, until every operator is offered by two."""
    while True:
        names = [f"p{number:02}" for number in range(setting.peers)]
        offers = {name: tuple(sorted(chance.sample(operators, setting.offered))) for name in names}
        if all(sum(each in offered for offered in offers.values()) > 1 for each in operators):
            return offers


def _request(
    peer: str, setting: Setting, offers: dict[str, tuple[str, ...]], operators: list[str], chance: Random
) -> Request:
    application = chain(f"{peer}.app", setting.stages)
    if not setting.stateful:
        application = application.without_state([task.id for task in application.tasks])
    wanted = chance.sample(operators, setting.stages)
    placed = [
        PlacedTask(operator, chance.choice([each for each in offers if operator in offers[each]]), task)
        for operator, task in zip(wanted, application.tasks, strict=True)
    ]
    receive = PlacedTask("receive", peer, application.receive)
    return Request(peer, application, (*placed, receive), chance.uniform(0, setting.rate_max))
