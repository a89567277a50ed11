"""Utility of an output over a window, computed from its graphs (Aurora 4.1 and 4.4)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from australis.algebra.quality import Points, Quality
from australis.qos.graphs import utilities, utility
from australis.qos.histograms import Counts, bins_of, mean_utility


@dataclass(frozen=True)
class Delivery:
    """What an output received over a window."""

    delays: Mapping[float, int]
    """How many tuples were delivered, by their delay in seconds."""
    fraction: float = 1.0
    """The fraction of the tuples due to it that were neither shed, late nor quarantined."""
    values: Counts | None = None
    """The histogram of their values, in the bins of the output's value graph."""
    waiting: float | None = None
    """How many seconds the oldest undelivered tuple has waited; None without any."""
    used: float = 1.0
    """The fraction of the tuples due to it that were neither late nor quarantined, shed or not."""


@dataclass(frozen=True)
class Worth:
    """The utility of an output, graph by graph."""

    delay: float
    loss: float
    value: float
    weight: float

    @property
    def utility(self) -> float:
        """The output's contribution to the total."""
        return self.weight * self.delay * self.loss * self.value


def worth(quality: Quality, delivery: Delivery) -> Worth | None:
    """The utility of a delivery by the graphs of its output; None if nothing was due.

    >>> quality = Quality(delay=((0, 1), (2, 1), (10, 0)), loss=((0, 0), (1, 1)), weight=3)
    >>> worth(quality, Delivery({1.0: 30, 6.0: 10}, fraction=0.8)).utility
    2.1
    >>> worth(quality, Delivery({}, waiting=11)).utility
    0.0
    >>> worth(quality, Delivery({}, waiting=1)) is None
    True
    """
    delay = _delay_utility(quality.delay, delivery.delays)
    if delay is None and not _was_due(quality.delay, delivery):
        return None
    value = _value_utility(quality, delivery)
    return Worth(delay or 0.0, _loss_utility(quality.loss, delivery), value, quality.weight)


def total(worths: Iterable[Worth | None]) -> float:
    """The utility of all outputs; those to which nothing was due contribute nothing."""
    return math.fsum(found.utility for found in worths if found is not None)


def _delay_utility(points: Points, delays: Mapping[float, int]) -> float | None:
    """The mean utility of tuples by their delay; None without tuples."""
    tuples = np.fromiter(delays.values(), np.float64, len(delays))
    if not tuples.sum():
        return None
    seconds = np.fromiter(delays, np.float64, len(delays))
    return float(tuples @ utilities(points, seconds) / tuples.sum())


def _loss_utility(points: Points, delivery: Delivery) -> float:
    """The utility by the loss graph; without one, nothing is shed, and discarded tuples count in full."""
    return utility(points, delivery.fraction) if points else delivery.used


def _was_due(points: Points, delivery: Delivery) -> bool:
    """Whether an output without tuples should have had some: all were shed, or they have waited too long."""
    end = points[-1][0] if points else math.inf
    return delivery.fraction == 0 or (delivery.waiting is not None and delivery.waiting > end)


def _value_utility(quality: Quality, delivery: Delivery) -> float:
    if quality.value is None or delivery.values is None:
        return 1.0
    return mean_utility(bins_of(quality.value), delivery.values)
