"""QoS graphs as data: what lateness, loss and unimportant values cost an output (Aurora 4.1)."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import NoneType
from typing import Any

from australis.algebra.guards import guard, guard_texts, is_a, shown
from australis.errors import AlgebraError, Problem

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class ValueGraph:
    """The utility of an output tuple by the value of one attribute: at points, or for categories by name."""

    attribute: str
    points: Points = ()
    categories: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        guard_texts(self, "attribute")
        object.__setattr__(self, "points", _points(self.points, "points"))
        object.__setattr__(self, "categories", _categories(self.categories))
        if bool(self.points) == bool(self.categories):
            raise AlgebraError(
                Problem("", f"value graph of {self.attribute!r}", "either points or categories")
            )


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
        object.__setattr__(self, "delay", _points(self.delay, "delay", least=0))
        object.__setattr__(self, "loss", _points(self.loss, "loss", least=0, most=1))
        guard(self.value, (ValueGraph, NoneType), "value", "a ValueGraph")
        object.__setattr__(self, "weight", _number(self.weight, "weight", "a number greater than 0"))
        if not self.weight > 0:
            raise AlgebraError(Problem("weight", f"{self.weight!r} is no weight", "a number greater than 0"))


def _points(
    value: Iterable[tuple[float, float]], path: str, least: float = -math.inf, most: float = math.inf
) -> Points:
    points = _pairs(value, path, "a pair (position, utility)")
    xs = [_number(x, path, "a number as a position") for x, _ in points]
    if outside := [x for x in xs if not least <= x <= most]:
        expected = f"a number from {least} to {most}" if most == 1 else f"a number, {least} or greater"
        raise AlgebraError(Problem(path, f"position {outside[0]!r} is out of range", expected))
    if any(b <= a for a, b in pairwise(xs)):
        raise AlgebraError(Problem(path, f"positions {xs} do not ascend", "each greater than the one before"))
    return tuple(zip(xs, _utilities([utility for _, utility in points], path), strict=True))


def _categories(value: Mapping[str, float] | Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    path = "categories"
    pairs = _pairs(value.items() if isinstance(value, Mapping) else value, path, "a pair (name, utility)")
    for name, _ in pairs:
        guard(name, str, path, "a text as the name of a category")
    utilities = _utilities([utility for _, utility in pairs], path)
    return tuple((name, utility) for (name, _), utility in zip(pairs, utilities, strict=True))


def _pairs(value: Iterable[Any], path: str, expected: str) -> list[tuple[Any, Any]]:
    guard(value, Iterable, path, "a list of pairs")
    found = list(value)
    for index, pair in enumerate(found):
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise AlgebraError(Problem(f"{path}[{index}]", f"is {shown(pair)}", expected))
    return found


def _number(value: Any, path: str, expected: str) -> float:
    """A number as a double; NaN and infinities are none, nor is what a double cannot hold."""
    if not is_a(value, (int, float)) or not abs(value) <= sys.float_info.max:
        raise AlgebraError(Problem(path, f"is {shown(value)}", expected))
    return float(value)


def _utilities(values: list[Any], path: str) -> list[float]:
    utilities = [_number(value, path, "a number from 0 to 1 as a utility") for value in values]
    for utility in utilities:
        if not 0 <= utility <= 1:
            raise AlgebraError(
                Problem(path, f"utility {utility!r} is not normalised", "a number from 0 to 1")
            )
    return utilities
