"""The search for weights: a plan's routing as a vector, and SLSQP from several starts."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from itertools import product
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from australis.errors import PolicyError, Problem
from australis.policy.route.plan import DistributedPlan, RoutedStream, Visited
from australis.policy.route.queueing import Weights, compute_rate, shares

Vector = NDArray[np.float64]

TOLERANCE = 1e-12
"""Far below SLSQP's default, with which it stops early where an optimum is flat."""
LEAST_WEIGHT = 1e-9
"""No weight is exactly 0, so that the only remaining path is always taken."""


class Search:
    """The weights of a plan as a vector: those that matter, where there is a choice."""

    def __init__(self, plan: DistributedPlan) -> None:
        self._plan = plan
        self._shares = shares(plan)
        self._steps = sorted({step for stream in plan.streams for step in _choices(stream)})
        sources = sorted({at for at, _ in self._steps})
        self._rows = np.array([[float(at == source) for at, _ in self._steps] for source in sources])

    def weights(self, point: Vector) -> dict[tuple[str, str], float]:
        """The weights of a point; further coordinates are ignored."""
        return {step: float(weight) for step, weight in zip(self._steps, point, strict=False)}

    def point(self, weights: Weights) -> Vector:
        """The point of some weights."""
        return np.array([weights[step] for step in self._steps])

    def arrivals(self, point: Vector) -> Vector:
        """The tuples that arrive at each operator per tuple that enters."""
        found = compute_rate(self._plan, self.weights(point), self._shares).operators
        return np.array([found[op] for op in self._plan.operators])

    def starts(self) -> Iterator[Vector]:
        """Weights to search from: uniform, and with each operator preferred in turn."""
        for preferred in (None, *self._plan.operators):
            point = np.array([10.0 if to == preferred else 1.0 for _, to in self._steps])
            yield point / (self._rows.T @ (self._rows @ point)) if self._steps else point

    def minimized(
        self, goal: Callable[[Vector], float], start: Vector, room: Callable[[Vector], Vector] | None = None
    ) -> Vector:
        """A point where a goal is low and no constraint negative; other coordinates are unbounded."""
        if not self._steps:
            return start
        others = len(start) - len(self._steps)
        rows = np.hstack([self._rows, np.zeros((len(self._rows), others))])
        constraints: list[dict[str, Any]] = [
            {"type": "eq", "fun": lambda point: rows @ point - 1, "jac": lambda _: rows}
        ]
        if room is not None:
            constraints.append({"type": "ineq", "fun": room})
        found = _minimize()(
            goal,
            start,
            method="SLSQP",
            bounds=[(LEAST_WEIGHT, 1.0)] * len(self._steps) + [(0.0, inf)] * others,
            constraints=constraints,
            options={"ftol": TOLERANCE, "maxiter": 500},
        )
        point: Vector = np.clip(found.x, LEAST_WEIGHT, inf)
        return point


def _minimize() -> Callable[..., Any]:
    """SciPy's minimiser: nothing else needs the package, so it is an extra."""
    try:
        found: Callable[..., Any] = importlib.import_module("scipy.optimize").minimize
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "scipy":
            raise
        what = "the best routing is searched with SciPy, which is not installed"
        raise PolicyError(Problem("scipy", what, "pip install 'australis[simulation]'")) from None
    return found


def _choices(stream: RoutedStream) -> set[tuple[str, str]]:
    """The steps from where a tuple of a stream can have a choice."""
    steps: set[tuple[str, str]] = set()
    seen: set[tuple[str, Visited]] = set()
    ahead: list[tuple[str, Visited]] = [(stream.id, frozenset())]
    while ahead:
        at, visited = ahead.pop()
        ready = stream.ready(visited)
        if len(ready) > 1:
            steps |= set(product([at], ready))
        following = {(op, visited | {op}) for op in ready} - seen
        seen |= following
        ahead += following
    return steps
