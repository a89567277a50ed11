"""QoS graphs as data: what lateness, loss and unimportant values cost an output (Aurora 4.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from australis.errors import AlgebraError, Problem

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class ValueGraph:
    """The utility of an output tuple by the value of one attribute: at points, or for categories by name."""

    attribute: str
    points: Points = ()
    categories: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", _points(self.points, "points"))
        object.__setattr__(self, "categories", tuple((str(name), float(u)) for name, u in self.categories))
        if bool(self.points) == bool(self.categories):
            raise AlgebraError(
                Problem("", f"value graph of {self.attribute!r}", "either points or categories")
            )
        _check_utilities([u for _, u in self.categories], "categories")


@dataclass(frozen=True)
class Quality:
    """The graphs of one output: utility by delay in seconds, by fraction delivered, by value; and a weight.

    >>> Quality(delay=((0, 1), (2, 1), (10, 0))).delay
    ((0.0, 1.0), (2.0, 1.0), (10.0, 0.0))
    """

    delay: Points = ()
    loss: Points = ()
    value: ValueGraph | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delay", _points(self.delay, "delay"))
        object.__setattr__(self, "loss", _points(self.loss, "loss"))
        object.__setattr__(self, "weight", float(self.weight))
        if not self.weight > 0:
            raise AlgebraError(Problem("weight", f"{self.weight!r} is no weight", "a number greater than 0"))


def _points(value: Iterable[tuple[float, float]], path: str) -> Points:
    points = tuple((float(x), float(utility)) for x, utility in value)
    xs = [x for x, _ in points]
    if any(b <= a for a, b in pairwise(xs)):
        raise AlgebraError(Problem(path, f"positions {xs} do not ascend", "each greater than the one before"))
    _check_utilities([utility for _, utility in points], path)
    return points


def _check_utilities(utilities: list[float], path: str) -> None:
    for utility in utilities:
        if not 0.0 <= utility <= 1.0:
            raise AlgebraError(
                Problem(path, f"utility {utility!r} is not normalised", "a number from 0 to 1")
            )
