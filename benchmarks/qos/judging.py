"""Rating: what outputs received in a run, and its utility by their graphs, with one formula for all sides.

An output's part of a run consists of pieces: tuples that were due together, when the oldest tuple that
contributes to them arrived, and when they could be read. Utility is that of `australis.qos`: the mean over
all tuples due of the utility of their delay, times the utility of the fraction that was not shed, times the
weight. A tuple that was too late for the run is rated by its delay so far. Streams continue after the rated
time for as long as any delay graph reaches, so such a tuple has no utility.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from australis import Quality
from australis.qos.utility import Delivery, total, worth

_ROUND_S = 0.001


@dataclass(frozen=True)
class Pieces:
    """What was due to an output, in seconds since the stream began; infinity if it never arrived."""

    arrived: np.ndarray
    delivered: np.ndarray
    tuples: np.ndarray
    kept: np.ndarray
    """The fraction of each piece that was not shed."""

    def between(self, begin: float, end: float) -> Pieces:
        """The pieces that arrived in a period."""
        return self.where((self.arrived >= begin) & (self.arrived < end))

    def where(self, chosen: np.ndarray) -> Pieces:
        return Pieces(self.arrived[chosen], self.delivered[chosen], self.tuples[chosen], self.kept[chosen])

    @property
    def fraction(self) -> float:
        """The fraction that was not shed."""
        due = self.tuples.sum()
        return float(self.tuples @ self.kept / due) if due else 1.0

    def delays(self, until: float) -> np.ndarray:
        """How late each piece was by the end of the run."""
        found: np.ndarray = np.minimum(self.delivered, until) - self.arrived
        return found

    def delivery(self, until: float) -> Delivery:
        """In the form that `australis.qos` takes."""
        rounded = np.round(self.delays(until) / _ROUND_S).astype(np.int64)
        keys, places = np.unique(rounded, return_inverse=True)
        tuples = np.bincount(places, self.tuples * self.kept, max(1, len(keys)))
        delays = {float(key) * _ROUND_S: each for key, each in zip(keys, tuples.tolist(), strict=False)}
        return Delivery(delays, self.fraction)

    def p95(self, until: float) -> float | None:
        """The delay that one tuple in twenty exceeds."""
        if not len(self.arrived):
            return None
        delays = self.delays(until)
        order = np.argsort(delays)
        cumulated = np.cumsum((self.tuples * self.kept)[order])
        if not cumulated[-1]:
            return None
        return float(delays[order][np.searchsorted(cumulated, 0.95 * cumulated[-1])])

    def to_json(self) -> dict[str, Any]:
        never = [None if np.isinf(each) else round(float(each), 4) for each in self.delivered]
        rounded = {name: np.round(getattr(self, name), 4).tolist() for name in ("arrived", "tuples", "kept")}
        return {**rounded, "delivered": never}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Pieces:
        delivered = [np.inf if each is None else each for each in given["delivered"]]
        return cls(*(np.array(each, float) for each in _columns(given, delivered)))


def _columns(given: Mapping[str, Any], delivered: list[float]) -> tuple[list[float], ...]:
    return given["arrived"], delivered, given["tuples"], given["kept"]


Run = Mapping[str, Pieces]
"""What every output received."""


def judged(
    run: Run, qualities: Mapping[str, Quality], begin: float, end: float, until: float
) -> dict[str, float]:
    """The weighted utility of each output, for the tuples that arrived in a period."""
    found = {
        name: worth(quality, run[name].between(begin, end).delivery(until))
        for name, quality in qualities.items()
    }
    return {name: 0.0 if each is None else total([each]) for name, each in found.items()}


def run_to_json(run: Run) -> dict[str, Any]:
    return {name: pieces.to_json() for name, pieces in run.items()}


def run_from_json(given: Mapping[str, Any]) -> dict[str, Pieces]:
    return {name: Pieces.from_json(pieces) for name, pieces in given.items()}
