"""Fairness: the total utility is weighed against how alike outputs are served (beyond the papers)."""

from __future__ import annotations

import numpy as np

from australis.algebra.quality import Points
from australis.qos.graphs import utilities

PIECES = 16
"""Into how many straight parts a piece of a curve is bent."""
POWER_MAX = 20.0
"""For fairness alone: the output that has lost most counts so much that hardly any other does."""


def fair(curve: Points, fairness: float) -> Points:
    """The curve of an output as shedding takes it: what it has lost counts to the power 1 / (1 - fairness).

    With 0 it is the curve itself, so the sum of utilities decides. The greater it is, the less does the first
    loss of an output count, and the more the next one of an output that has lost much: outputs lose alike,
    whatever their weights and costs. A concave curve stays concave.

    >>> fair(((0, 0), (1, 1)), 0.0)
    ((0, 0), (1, 1))
    >>> [point for point in fair(((0, 0), (1, 1)), 0.5) if point[0] in (0, 0.25, 0.5, 1)]
    [(0.0, 0.0), (0.25, 0.4375), (0.5, 0.75), (1.0, 1.0)]
    """
    if fairness <= 0:
        return curve
    power = min(1.0 / (1.0 - fairness), POWER_MAX) if fairness < 1 else POWER_MAX
    xs = np.array([x for x, _ in curve], np.float64)
    parts = np.linspace(0.0, 1.0, PIECES, endpoint=False)
    places = np.append((xs[:-1, None] + np.diff(xs)[:, None] * parts).ravel(), xs[-1])
    found = 1.0 - (1.0 - utilities(curve, places)) ** power
    return tuple(zip(places.tolist(), found.tolist(), strict=True))
