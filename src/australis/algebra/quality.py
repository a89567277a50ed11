"""QoS graphs as data: what lateness, loss and unimportant values cost an output (Aurora 4.1)."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from types import NoneType
from typing import Any

from australis.algebra.guards import Gathering, guard, guard_texts, is_a, shown
from australis.errors import AlgebraError, Problem

Points = tuple[tuple[float, float], ...]
Held = Mapping[str, int]
"""The boxes that hold the oldest tuple of a result, and for how many microseconds each does."""

_STEEPER = 1e-9
"""The relative difference from which slopes count as different: positions such as 0.3 are not exact doubles.
"""


@dataclass(frozen=True)
class ValueGraph:
    """The utility of an output tuple by the value of one attribute: at points, or for categories by name.

    Positions along a timestamp are seconds since 1970. The graph may have any shape (Aurora 4.1).
    """

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


class Since(StrEnum):
    """From which moment the delay of a result counts."""

    OLDEST = "oldest"
    """The arrival of the oldest tuple that was used (Aurora, footnote 3)."""
    TRIGGER = "trigger"
    """The event that made the result appear: the tuple, or the time, that caused it."""


@dataclass(frozen=True)
class Quality:
    """The graphs of one output: utility by delay in seconds, by fraction delivered, by value; and a weight.

    >>> Quality(delay=((0, 1), (2, 1), (10, 0))).delay
    ((0.0, 1.0), (2.0, 1.0), (10.0, 0.0))
    >>> Quality(delay=((0, 1), (2, 1), (10, 0)), since="trigger").since
    <Since.TRIGGER: 'trigger'>
    """

    delay: Points = ()
    loss: Points = ()
    value: ValueGraph | None = None
    weight: float = 1.0
    since: Since | str = Since.OLDEST
    """What delays are counted from."""

    def __post_init__(self) -> None:
        with Gathering() as found:
            with found.at():
                self._check_delay()
            with found.at():
                self._check_loss()
            with found.at():
                guard(self.value, (ValueGraph, NoneType), "value", "a ValueGraph")
            with found.at():
                self._check_weight()
            self._check_since()

    @property
    def counts_since_trigger(self) -> bool:
        """Whether delays count from the event that triggered a result, not from the oldest tuple."""
        return self.since == Since.TRIGGER

    def _check_since(self) -> None:
        known = tuple(each.value for each in Since)
        if self.since not in known:
            raise AlgebraError(Problem("since", f"is {shown(self.since)}", " or ".join(known)))
        object.__setattr__(self, "since", Since(self.since))

    def _check_delay(self) -> None:
        object.__setattr__(self, "delay", _points(self.delay, "delay", least=0))
        _monotone(self.delay, "delay", "rises", "no more than before it: lateness makes nothing better")

    def _check_loss(self) -> None:
        object.__setattr__(self, "loss", _points(self.loss, "loss", least=0, most=1))
        _monotone(self.loss, "loss", "falls", "no less than before it: loss makes nothing better")

    def _check_weight(self) -> None:
        object.__setattr__(self, "weight", _number(self.weight, "weight", "a number greater than 0"))
        if not self.weight > 0:
            raise AlgebraError(
                Problem("weight", f"{self.weight!r} is not a valid weight", "a number greater than 0")
            )

    def warnings(self, held: Held | None = None) -> Iterator[Problem]:
        """Where greedy decisions along the graphs are only nearly optimal; good zones that nothing can meet.

        `held` says which boxes on the way to the output hold tuples.

        >>> print(*Quality(loss=((0.5, 0), (1, 1))).warnings())
        loss: is steeper above 0.5 than below, so shedding is only nearly optimal; expected a convex graph
        """
        if bend := _bend(_until_lowest(self.delay)):
            yield _not_convex("delay", f"falls less steeply after {bend:g} s than before", "scheduling")
        # To the left of its first point a graph is flat.
        flat = ((0.0, self.loss[0][1]),) if self.loss and self.loss[0][0] > 0 else ()
        if bend := _bend(flat + self.loss):
            yield _not_convex("loss", f"is steeper above {bend:g} than below", "shedding")
        if self.delay[:1] == ((0.0, 1.0),) and any(utility < 1 for _, utility in self.delay[1:2]):
            yield Problem("delay", "no delay is good enough", "utility 1 up to a delay that can be kept")
        if held and self.since == Since.OLDEST:
            yield from self._held_too_long(held)

    def _held_too_long(self, held: Held) -> Iterator[Problem]:
        """A delay graph that is 0 before the oldest tuple of a result can leave the boxes that hold it."""
        held_s = sum(held.values()) / 1e6
        end_s = next((x for x, utility in self.delay if utility == 0), None)
        if end_s is None or held_s < end_s:
            return
        where = ", ".join(f"{box_id}: {us / 1e6:g} s" for box_id, us in held.items())
        full = f"the oldest tuple of a full window is held for {held_s:g} s ({where})"
        expected = f"delay: {{since: trigger, points: ...}}, or a graph above 0 beyond {held_s:g} s"
        what = f"is 0 from {end_s:g} s on, but {full}: its result is worth nothing"
        yield Problem("delay", what, expected)


def _bend(points: Points) -> float | None:
    """The first position where a curve bends upward, so that the area below it is not convex."""
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(points)]
    for (x, _), (before, after) in zip(points[1:], pairwise(slopes), strict=False):
        if after - before > _STEEPER * max(abs(before), abs(after)):
            return x
    return None


def _until_lowest(points: Points) -> Points:
    """A falling curve as far as it falls: at the bottom there is no more to lose."""
    lowest = min((utility for _, utility in points), default=0.0)
    return points[: 1 + next((i for i, (_, utility) in enumerate(points) if utility == lowest), 0)]


def _not_convex(path: str, what: str, who: str) -> Problem:
    return Problem(path, f"{what}, so {who} is only nearly optimal", "a convex graph")


def _monotone(points: Points, path: str, wrong: str, expected: str) -> None:
    for index, ((_, before), (x, after)) in enumerate(pairwise(points), 1):
        if (after > before) if wrong == "rises" else (after < before):
            what = f"utility {wrong} from {before:g} to {after:g} at {x:g}"
            raise AlgebraError(Problem(f"{path}[{index}]", what, expected))


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
    seen: set[str] = set()
    for name, _ in pairs:
        guard(name, str, path, "a text as the name of a category")
        if name in seen:
            raise AlgebraError(Problem(f"{path}.{name}", "occurs twice", "each category only once"))
        seen.add(name)
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
    """A number as a double; NaN, infinities and numbers that a double cannot hold are refused."""
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
    if utilities and max(utilities) < 1:
        what = f"is not normalised: its highest utility is {max(utilities)!r}"
        raise AlgebraError(Problem(path, what, "1 as the highest utility; weights compare outputs"))
    return utilities
