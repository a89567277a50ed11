"""The inputs of decisions: the stages of a node, the goals of its outputs, and the state of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from australis.algebra.quality import Quality
from australis.policy.columns import Columns

SHED_US = 0.1
"""The cost of reading a tuple that is shed, until it is measured."""


@dataclass(frozen=True)
class Stage:
    """A superbox as policies see it: what waits at its gate, and what a tuple costs.

    Times are in microseconds; costs are worker time, of which a node has as much as it has workers.
    """

    id: str
    feeds: Mapping[str, float] = field(default_factory=dict)
    """The stages that read its output, and how many tuples each gets per tuple admitted here."""
    outputs: frozenset[str] = frozenset()
    """All outputs downstream of it: those that lose when tuples are shed at its gate."""
    waiting: int = 0
    """Tuples in the queue at its gate."""
    oldest: int | None = None
    """When the oldest of them arrived."""
    rate: float = 0.0
    """Tuples that arrive at its gate per second, whether admitted or shed."""
    direct: float = 0.0
    """Of these, the ones that come directly from inputs, if other stages feed it, too."""
    tuple_us: float = 0.0
    """The cost of each admitted tuple."""
    train_us: float = 0.0
    """The fixed cost of each train."""
    kept: float = 1.0
    """The fraction that its drop boxes admit."""
    sheds: float = 0.0
    """The fraction that the drop box at its gate should shed, from the next train on."""
    shed_us: float = SHED_US
    """The cost of each shed tuple."""
    head: int = 0
    """How far it has processed: stages with the same head have nothing waiting between them."""
    view: float | None = None
    """For a stage that leads only to views, how important these are."""
    joins: bool = False
    """Whether a train can come to it directly from another stage: there is no drop box between."""
    abreast: float = 1.0
    """How many workers its trains use at a time, lately."""
    triggered: int | None = None
    """When the cause of its oldest tuple was logged; None if no output downstream counts delays from then."""


@dataclass(frozen=True)
class Goal:
    """An output: its quality graphs, and what it received recently."""

    id: str
    quality: Quality
    way: tuple[str, ...] = ()
    """The stages that lead to it, nearest last."""
    delay: float | None = None
    """The recent delay of its tuples, in seconds, at the 95th percentile; None without any."""
    lag: float = 0.0
    """The part of the delay that is spent in windows and trains, not waiting at gates; in seconds."""
    tuples: float = 0.0
    """Tuples delivered per second."""
    fraction: float = 1.0
    """The fraction of the tuples due to it that were not shed."""


@dataclass(frozen=True)
class Situation:
    """Everything that a decision may depend on."""

    now: int
    stages: Mapping[str, Stage]
    """Each after those that feed it."""
    goals: Mapping[str, Goal]
    workers: int = 1
    headroom: float = 1.0
    """The fraction of the workers' time that may be used in steady state (Aurora's H)."""
    busy: frozenset[str] = frozenset()
    """Stages with a train in progress."""
    known: Columns | None = field(default=None, repr=False, compare=False)
    """Stages and goals as columns, where these are known."""

    @cached_property
    def columns(self) -> Columns:
        """Stages and goals as columns, for comparisons of all of them."""
        return self.known or Columns.of(self.now, self.stages, self.goals, self.busy)

    @property
    def capacity(self) -> float:
        """The workers' time per second that may be used."""
        return self.workers * self.headroom


Made = TypeVar("Made")


class OnDemand(Mapping[str, Made]):
    """Values that are made when they are asked for: a choice among many looks closely at a few.

    >>> squares = OnDemand({"two": 2, "three": 3}, lambda name: len(name) ** 2)
    >>> squares["two"], list(squares), dict(squares)
    (9, ['two', 'three'], {'two': 9, 'three': 25})
    """

    def __init__(self, names: Mapping[str, object], make: Callable[[str], Made]) -> None:
        self._names, self._make = names, make
        self._made: dict[str, Made] = {}

    def __getitem__(self, name: str) -> Made:
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
