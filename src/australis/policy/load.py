"""What decisions are made of: the stages of a node, the goals of its outputs, and how both are doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from australis.algebra.quality import Quality

SHED_US = 0.1
"""What it costs to read a tuple that is shed, as long as nothing is known of it."""


@dataclass(frozen=True)
class Stage:
    """A superbox, as those see it who decide: what waits at its gate, and what a tuple costs it.

    Times are in microseconds; costs are of a worker's time: a node has as much of it as it has workers.
    """

    id: str
    feeds: Mapping[str, float] = field(default_factory=dict)
    """The stages that read what it emits, and how many tuples each gets for a tuple that is let in here."""
    outputs: frozenset[str] = frozenset()
    """All outputs downstream of it: those that lose when tuples are shed at its gate."""
    waiting: int = 0
    """Tuples in the queue at its gate."""
    oldest: int | None = None
    """When the oldest of them arrived."""
    rate: float = 0.0
    """Tuples that arrive at its gate in a second, whether they are let in or shed."""
    direct: float = 0.0
    """Of these the ones that come straight from inputs, where other stages feed it, too."""
    tuple_us: float = 0.0
    """What each tuple costs that is let in."""
    train_us: float = 0.0
    """What each train costs besides."""
    kept: float = 1.0
    """The fraction that its drop boxes let in."""
    sheds: float = 0.0
    """The fraction that the drop box at its gate is meant to shed, from the next train on."""
    shed_us: float = SHED_US
    """What each tuple costs that is shed."""
    head: int = 0
    """How far it has come: stages with the same head have nothing waiting between them."""
    view: float | None = None
    """Of a stage that leads to nothing but views, how important these are."""
    joins: bool = False
    """Whether a train can come to it straight from another stage: no drop box stands between."""


@dataclass(frozen=True)
class Goal:
    """An output: what it wants, and what it got lately."""

    id: str
    quality: Quality
    way: tuple[str, ...] = ()
    """The stages that lead to it, nearest last."""
    delay: float | None = None
    """How late its tuples have been lately, in seconds, at the 95th percentile; None without any."""
    lag: float = 0.0
    """How much of the delay is not for waiting at gates of stages, but windows and trains; in seconds."""
    tuples: float = 0.0
    """Tuples delivered in a second."""
    fraction: float = 1.0
    """Of the tuples that it should have got, those that were not shed."""


@dataclass(frozen=True)
class Situation:
    """Everything that a decision may look at."""

    now: int
    stages: Mapping[str, Stage]
    """Each behind those that feed it."""
    goals: Mapping[str, Goal]
    workers: int = 1
    headroom: float = 1.0
    """The part of the workers' time that may be used in steady state (Aurora's H)."""
    busy: frozenset[str] = frozenset()
    """Stages with a train on its way."""

    @property
    def capacity(self) -> float:
        """The workers' time that may be used in a second."""
        return self.workers * self.headroom
