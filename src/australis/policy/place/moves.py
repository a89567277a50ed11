"""Moves and their worth: the load relieved, less the cost of moving and of the additional traffic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Protocol

from australis.errors import AustralisError
from australis.policy.place.parting import Assumed, Parting, part
from australis.policy.place.portions import Portion, portion
from australis.policy.place.slide import Sliding, slides
from australis.policy.place.survey import Line, Survey

SPLIT_PRICE = 0.05
"""What a split must gain more than a slide, because it is heavier and costs two boxes permanently."""
TRAFFIC_PRICE = 0.2
"""The cost of using a whole line, as a fraction of a site's capacity."""
HORIZON_S = 60.0
"""The time over which the bytes of a moving state are spread, as if they were traffic."""
ROOM_USED = 0.9
"""The fraction of a site's free capacity that a split is made for: predicates rarely split exactly."""
NEIGHBOURS = 2
"""How many sites, those with the most free capacity, are considered for a copy."""
GRAIN = 0.02
"""Scores that differ by less are equal; the neighbour with the most free capacity wins."""


@dataclass(frozen=True)
class Splitting:
    """A box that is split, with its copy on another site."""

    parting: Parting
    portion: Portion
    source: str
    target: str
    merge: str
    """The site where the two outputs are merged."""

    @property
    def touched(self) -> frozenset[str]:
        """The boxes that are stopped meanwhile."""
        return frozenset([self.parting.box, self.parting.copy])

    def apply(self, survey: Survey) -> Survey:
        """The survey after it."""
        made = self.parting
        network = made.apply(survey.network)
        sites = dict.fromkeys(made.routes, self.source) | dict.fromkeys(made.merges, self.merge)
        values = survey.values
        if made.box in values:
            values = {**values, made.copy: values[made.box]}
        return replace(
            survey,
            network=network,
            placement=survey.placement.with_boxes({**sites, made.copy: self.target}),
            statistics=made.learned(network, survey.statistics, self.portion.kept),
            values=values,
            states=_parted_state(survey.states, made, self.portion.kept),
        )

    def state_bytes(self, survey: Survey) -> float:
        """The bytes to transfer: those of the groups that move, if groups stay whole."""
        gone = 1 - self.portion.kept if self.parting.divides else 0.0
        return gone * survey.states.get(self.parting.box, 0.0)

    def __str__(self) -> str:
        gone = f"{1 - self.portion.kept:.0%}"
        return f"{self.parting.box} split, {gone} of its tuples from {self.source} to {self.target}"


Move = Sliding | Splitting


class Carried(Protocol):
    """Anything that transfers state from a site to another."""

    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...
    def state_bytes(self, survey: Survey) -> float: ...


@dataclass(frozen=True)
class Limits:
    """The limits for overload and for accepting load."""

    high: float = 0.9
    """A site or a line that is used more than this has to give some away."""
    low: float = 0.7
    """No site takes more load than up to this mark; a site that gives continues until it is there."""
    gain_least: float = 0.05
    """The fraction of the capacity that a move must be worth."""
    splits: bool = True
    assumed: Assumed = field(default_factory=Assumed)


@dataclass(frozen=True)
class Judged:
    """A move, and what it is worth."""

    move: Move
    after: Survey
    gain: float
    """What it relieves, as far as needed, as a fraction of the overloaded capacity."""
    price: float
    room: float
    """The free capacity left on the target."""

    @property
    def score(self) -> float:
        return self.gain - self.price


def troubles(survey: Survey, site: str, high: float) -> list[tuple[float, str | Line]]:
    """What is overloaded, the worst first: the site itself, and lines that end or begin there."""
    found: list[tuple[float, str | Line]] = [(survey.loads[site], site)]
    found += [(use, line) for line, use in survey.uses.items() if site in line]
    return sorted((each for each in found if each[0] > high), key=lambda each: (-each[0], str(each[1])))


def ranked(survey: Survey, site: str, trouble: str | Line, limits: Limits) -> list[Judged]:
    """What the site may do about an overload, the best first; only what helps, and overloads nothing else."""
    found = [judge(survey, move, trouble, limits) for move in slides(survey, site)]
    best = max((each.score for each in found if each is not None), default=0.0)
    # No split can be worth more than the whole need, less its cost.
    if limits.splits and trouble == site and best < survey.loads[site] - limits.low - SPLIT_PRICE:
        found += [judge(survey, move, trouble, limits) for move in splits(survey, site, limits)]
    worth = [each for each in found if each is not None]
    return sorted(worth, key=lambda each: (-round(each.score / GRAIN), -each.room, str(each.move)))


def judge(survey: Survey, move: Move, trouble: str | Line, limits: Limits) -> Judged | None:
    """The worth of a move; None if it is not possible, overloads something, or is worth too little."""
    after = move.apply(survey)
    if not after.is_possible or overloads(survey, after, limits.low):
        return None
    used = _use(survey, trouble)
    gain = min(used - _use(after, trouble), used - limits.low)
    found = Judged(move, after, gain, _price(survey, after, move), limits.low - after.loads[move.target])
    return found if gain > 0 and min(gain, found.score) >= limits.gain_least else None


def _use(survey: Survey, place: str | Line) -> float:
    return survey.loads[place] if isinstance(place, str) else survey.uses[place]


def overloads(before: Survey, after: Survey, low: float) -> bool:
    """Whether a site or a line gets more load than it had, and then more than it should."""
    sites = any(after.loads[site] > max(low, before.loads[site] + 1e-9) for site in after.sites)
    grown = (line for line in after.lines if after.uses[line] > before.uses[line] + 1e-9)
    return sites or any(after.uses[line] > low for line in grown)


def _price(before: Survey, after: Survey, move: Move) -> float:
    """New traffic, and the state to transfer; saved traffic counts for nothing."""
    grown = max(0.0, sum(after.uses[line] - before.uses[line] for line in after.lines))
    traffic = TRAFFIC_PRICE * (grown + carry_s(before, move) / HORIZON_S)
    return traffic + (SPLIT_PRICE if isinstance(move, Splitting) else 0.0)


def carry_s(survey: Survey, move: Carried) -> float:
    """How long it takes to transfer the state of the boxes; infinite, if there is no line."""
    size, width = move.state_bytes(survey), survey.lines.get((move.source, move.target), 0.0)
    return size / width if width else inf if size else 0.0


def splits(survey: Survey, site: str, limits: Limits) -> Iterator[Splitting]:
    """Each box of a site split in two, moving as much to another site as is needed and fits there."""
    excess = (survey.loads[site] - limits.low) * survey.sites[site].capacity
    for box_id, place in survey.placement.boxes.items():
        work = survey.work[box_id]
        if place != site or box_id in survey.fixed or work < limits.gain_least * survey.sites[site].capacity:
            continue
        for target in _roomiest(survey, survey.network.boxes[box_id].box.kind, site):
            room = (limits.low - survey.loads[target]) * survey.sites[target].capacity
            gone = min(excess, ROOM_USED * room) / work
            if 0 < gone < 1:
                yield from _split(survey, box_id, target, 1 - gone, limits)


def _roomiest(survey: Survey, kind: str, but: str) -> list[str]:
    """The sites with the most free capacity that can run a kind of box, the best first."""
    able = [name for name, site in survey.sites.items() if name != but and site.can(kind)]
    room = {name: (1 - survey.loads[name]) * survey.sites[name].capacity for name in able}
    return sorted(able, key=lambda name: (-room[name], name))[:NEIGHBOURS]


def _split(survey: Survey, box_id: str, target: str, kept: float, limits: Limits) -> Iterator[Splitting]:
    found = portion(survey, box_id, kept)
    if found is None:
        return
    try:
        parting = part(survey.network, box_id, found.keeps, limits.assumed, survey.beyond)
    except AustralisError:
        # A box that cannot be split is moved whole, or stays.
        return
    source = survey.placement.boxes[box_id]
    yield Splitting(parting, found, source, target, _merge_site(survey, parting, source, target))


def _merge_site(survey: Survey, parting: Parting, source: str, target: str) -> str:
    """Where the copy is, if the stream is read only there, and it can merge; else where the box is."""
    readers = frozenset().union(*(survey.readers(ref) for ref in parting.moved))
    kinds = [parting.put[box_id].box.kind for box_id in parting.merges]
    is_read = readers == {target} and all(survey.sites[target].can(kind) for kind in kinds)
    return target if is_read else source


def _parted_state(states: Mapping[str, float], made: Parting, kept: float) -> Mapping[str, float]:
    """The state bytes of the box and its copy, if its state is split."""
    own = states.get(made.box)
    if own is None or not made.divides:
        return states
    return {**states, made.box: kept * own, made.copy: (1 - kept) * own}
