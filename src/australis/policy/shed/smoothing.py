"""Smoothing: rates, costs and yields over seconds, since what was measured last is mostly noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from australis.policy.load import Situation, Stage
from australis.policy.shed.regulator import follow

RATES_S, COSTS_S = 5.0, 30.0
"""In what time rates are followed, and costs and yields: what these are worth decides who loses more."""
SUDDEN = 0.5
"""A rate that differs by more than this fraction is another load, not noise."""


@dataclass
class Smoothing:
    """What was measured of stages, smoothed; a sudden change of the load is believed at once.

    >>> smoothing = Smoothing()
    >>> def seen(rate):
    ...     return Situation(0, {"s": Stage("s", rate=rate)}, {})
    >>> for rate in (1000.0, 1100.0, 900.0, 3000.0):
    ...     print(round(smoothing.of(seen(rate), seconds=0.2).stages["s"].rate))
    1000
    1004
    1000
    3000
    """

    _known: dict[str, Stage] = field(default_factory=dict)

    def of(self, situation: Situation, seconds: float, *, at_once: bool = False) -> Situation:
        """A situation with smoothed stages."""
        rates, costs = (1.0 if at_once else follow(seconds, time_s) for time_s in (RATES_S, COSTS_S))
        stages = situation.stages.items()
        self._known = {name: self._smoothed(stage, rates, costs) for name, stage in stages}
        return replace(situation, stages=self._known, known=None)

    def _smoothed(self, stage: Stage, rates: float, costs: float) -> Stage:
        before = self._known.get(stage.id)
        if before is None or abs(stage.rate - before.rate) > SUDDEN * before.rate:
            return stage
        return replace(
            stage,
            rate=_between(before.rate, stage.rate, rates),
            direct=_between(before.direct, stage.direct, rates),
            tuple_us=_between(before.tuple_us, stage.tuple_us, costs),
            train_us=_between(before.train_us, stage.train_us, costs),
            feeds=_all_between(before.feeds, stage.feeds, costs),
        )


def _all_between(before: Mapping[str, float], now: Mapping[str, float], part: float) -> dict[str, float]:
    return {name: _between(before.get(name, each), each, part) for name, each in now.items()}


def _between(before: float, now: float, part: float) -> float:
    return before + (now - before) * part
