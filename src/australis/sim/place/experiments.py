"""The same load with boxes that stay, that slide, that also split, and that move without hysteresis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from australis.policy.place import HASTY, Limits, Manners
from australis.sim.place.run import Run
from australis.sim.place.tally import Outcome
from australis.sim.place.workload import Setting

VARIANTS: dict[str, Manners | None] = {
    "still": None,
    "slides": Manners(Limits(splits=False)),
    "slides and splits": Manners(),
    "hasty": HASTY,
}
"""The daemons' settings, by name; none for the first."""


@dataclass(frozen=True)
class Compared:
    """The results of a variant, as means over runs."""

    delivered: float
    in_time: float
    delay_s: float
    traffic: float
    overloaded: float
    slides: float
    splits: float
    returns: float
    last_move_s: float


@dataclass(frozen=True)
class Placed:
    """All variants; plots and lists of moves are of the first run."""

    seed: int
    runs: int
    variants: dict[str, Compared]
    curves: dict[str, tuple[tuple[float, float], ...]]
    moves: dict[str, tuple[tuple[float, str], ...]]


def placed(seed: int, runs: int, done: Callable[[int], object], setting: Setting | None = None) -> Placed:
    """Run all variants with the same seeds."""
    found: dict[str, list[Outcome]] = {name: [] for name in VARIANTS}
    for each in range(seed, seed + runs):
        for name, manners in VARIANTS.items():
            found[name].append(Run(setting or Setting(), each, manners).outcome())
            done(1)
    return Placed(
        seed,
        runs,
        {name: _compared(outcomes) for name, outcomes in found.items()},
        {name: outcomes[0].delays for name, outcomes in found.items()},
        {name: outcomes[0].moves for name, outcomes in found.items()},
    )


def _compared(found: Sequence[Outcome]) -> Compared:
    names = Compared.__dataclass_fields__
    return Compared(**{name: fmean(getattr(each, name) for each in found) for name in names})
