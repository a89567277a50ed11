"""Forward interval propagation: predicates at a gate, found by trial (Aurora 4.5).

If no box says what a value was computed from, some attribute at the gate may still show which tuples matter
little. Each attribute is tried with a few ranges of its values that hold the volume to be shed; around the
best of them the range is moved in ever smaller steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from australis.algebra.expr import Attribute, text_of
from australis.algebra.network import Ref
from australis.algebra.types import STRING
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.predicates import membership, range_of
from australis.policy.shed.semantic import (
    CLOSE,
    NOTHING,
    Gate,
    Trial,
    Try,
    Where,
    by_backward,
    is_better,
    thinned,
    utility_of,
)
from australis.qos.histograms import Bins
from australis.qos.intervals import Axis

HALVINGS = 4
"""How often the steps by which a range is moved are halved."""
CATEGORIES_MAX = 12
"""How many texts of an attribute are tried, the most frequent first."""

Samples = Mapping[str, Mapping[str, npt.NDArray[Any]]]
"""Values at a gate by stream and attribute, without NULL and NaN; timestamps in microseconds."""


@dataclass(frozen=True)
class Candidate:
    """A predicate that was tried: the fraction shed, and the utility lost with it."""

    where: Where
    shed: float
    lost: float

    @property
    def price(self) -> float:
        """The utility lost per fraction shed."""
        return self.lost / self.shed if self.shed > 0 else float("inf")


def by_value(gate: Gate, rate: float, try_: Try, samples: Samples | None = None) -> DropBox | None:
    """A drop box that sheds the least important values, if one does clearly better than chance.

    First backward, by what values are computed from, which is exact; then by trial.
    """
    bins = gate.bins
    if bins is None or not 0.0 < rate <= 1.0:
        return None
    box = by_backward(gate, rate, try_)
    if box is not None and is_better(bins, box, try_):
        return box
    box = by_trial(gate, rate, try_, samples or {})
    return box if box is not None and is_better(bins, box, try_) else None


def for_stages(
    gates: Mapping[str, Gate], try_: Callable[[str, DropBox], Trial], samples: Callable[[str], Samples]
) -> Callable[[str, float], DropBox | None]:
    """The function that gives a shedder semantic drop boxes; `gates` has the stages with only one output.

    `try_` runs a sample of what arrives at the gate of a stage, `samples` has its values.
    """

    def box(stage: str, rate: float) -> DropBox | None:
        gate = gates.get(stage)
        return by_value(gate, rate, partial(try_, stage), samples(stage)) if gate else None

    return box


def by_trial(gate: Gate, rate: float, try_: Try, samples: Samples) -> DropBox | None:
    """The best drop box among those tried on every attribute at the gate."""
    bins = gate.bins
    if bins is None:
        return None
    laboratory = _Laboratory(try_, bins)
    found = [_best(laboratory, column, rate) for column in _columns(gate, samples)]
    enough = [candidate for candidate in found if candidate.shed >= rate - CLOSE]
    best = min(enough, key=lambda candidate: candidate.price, default=None)
    return thinned(rate, best.where, best.shed) if best else None


class _Laboratory:
    """Tries predicates and compares the results with and without them."""

    def __init__(self, try_: Try, bins: Bins) -> None:
        self._try, self._bins = try_, bins
        self._whole = utility_of(try_(NOTHING), bins)

    def candidate(self, where: Where) -> Candidate:
        trial = self._try(DropBox(1.0, where))
        return Candidate(where, trial.shed, self._whole - utility_of(trial, self._bins))


@dataclass(frozen=True)
class _Column:
    """An attribute of a stream at the gate, with sampled values; numbers in ascending order."""

    stream: str
    attribute: Attribute
    values: npt.NDArray[Any]

    def range(self, place: float, width: float) -> Where:
        """The predicate for a part of the values: at their beginning for place 0, at their end for 1."""
        size = max(1, round(width * len(self.values)))
        first = round(place * (len(self.values) - size))
        last = first + size - 1
        axis = Axis(self.attribute.type)
        low = axis.position(_plain(self.values[first])) if first else axis.first
        high = axis.position(_plain(self.values[last])) if last < len(self.values) - 1 else axis.last
        return {self.stream: text_of(range_of(self.attribute, axis, low, high))}

    def members(self, names: list[str]) -> Where:
        """The predicate for some texts."""
        return {self.stream: text_of(membership(self.attribute, names))}


def _columns(gate: Gate, samples: Samples) -> Iterator[_Column]:
    for stream, columns in samples.items():
        schema = gate.network.schemas[Ref.parse(stream)]
        for name, values in columns.items():
            field = schema[name]
            if len(values) and (field.type == STRING or Axis.has(field.type)):
                yield _Column(stream, Attribute(name, field.type, field.nullable), np.sort(values))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _best(laboratory: _Laboratory, column: _Column, rate: float) -> Candidate:
    return (_by_category if column.attribute.type == STRING else _by_range)(laboratory, column, rate)


def _by_range(laboratory: _Laboratory, column: _Column, rate: float) -> Candidate:
    """The best range of values that holds a fraction, by its place among the sorted values."""
    tried = {place: laboratory.candidate(column.range(place, rate)) for place in (0.0, 0.5, 1.0)}
    step = 0.25
    for _ in range(HALVINGS):
        best = min(tried, key=lambda place: tried[place].price)
        for place in (best - step, best + step):
            if 0.0 <= place <= 1.0 and place not in tried:
                tried[place] = laboratory.candidate(column.range(place, rate))
        step /= 2
    best = min(tried, key=lambda place: tried[place].price)
    return _widened(laboratory, column, best, rate, tried[best])


def _widened(
    laboratory: _Laboratory, column: _Column, place: float, rate: float, found: Candidate
) -> Candidate:
    """The range widened until it sheds what it should, if other streams arrive at the gate as well."""
    width = rate
    for _ in range(HALVINGS):
        if found.shed >= rate - CLOSE or width >= 1.0 or found.shed <= 0:
            break
        width = min(1.0, width * rate / found.shed)
        found = laboratory.candidate(column.range(place, width))
    return found


def _by_category(laboratory: _Laboratory, column: _Column, rate: float) -> Candidate:
    """The texts whose tuples cost least, as many as hold a fraction."""
    names, often = np.unique(column.values.astype(str), return_counts=True)
    frequent = [str(names[index]) for index in np.argsort(-often, kind="stable")[:CATEGORIES_MAX]]
    tried = {name: laboratory.candidate(column.members([name])) for name in frequent}
    chosen: list[str] = []
    for name in sorted(frequent, key=lambda name: tried[name].price):
        if sum(tried[each].shed for each in chosen) >= rate - CLOSE:
            break
        chosen.append(name)
    return laboratory.candidate(column.members(chosen))
