"""Measured costs: the cost of a superbox's trains and the rates of arcs; older trains count less."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping

from australis.engine.threads import Threads
from australis.policy.load import SHED_US

FORGETTING = 0.97
"""The weight that a train keeps when the next one has run."""
SPREAD = 0.5
"""How far apart lengths of trains must be to say as much of a tuple's cost as what is assumed of tasks."""
TRAIN_US, TASK_US, TUPLE_US = 30_000.0, 5_000.0, 1.0
"""The assumed cost of a train, of a task in it and of a tuple before anything was measured."""
COLD_TRAINS = 2
SHED_MOSTLY = 0.05
"""A train that lets in less than this fraction of what it sheds only shows what reading costs."""
RATE_WINDOW_US = 2_000_000


class TrainCost:
    """The cost of trains: that of tasks as a line over tuples, by least squares with decay, and the rest.

    >>> cost = TrainCost()
    >>> for tuples in (9_000, 9_000, 100, 1_000, 5_000, 20_000):
    ...     cost.note(tuples, tasks_us=5_000 + 3 * tuples, run_us=40_000 + 3 * tuples)
    >>> round(cost.train_us), round(cost.tuple_us, 3)
    (40000, 3.0)
    """

    def __init__(self) -> None:
        self._trains = 0
        self.tuple_us, self.train_us = TUPLE_US, TRAIN_US
        """The cost of one more tuple in a train, and of a train without tuples."""
        self._weight = self._x = self._y = self._xx = self._xy = self._run = 0.0

    def note(self, tuples: int, tasks_us: float, run_us: float) -> None:
        """Note a train that has run; the first ones load code and do not count."""
        self._trains += 1
        if self._trains <= COLD_TRAINS:
            return
        sums = (1.0, tuples, tasks_us, tuples * tuples, tuples * tasks_us, run_us)
        known = (self._weight, self._x, self._y, self._xx, self._xy, self._run)
        grown = (old * FORGETTING + new for old, new in zip(known, sums, strict=True))
        self._weight, self._x, self._y, self._xx, self._xy, self._run = grown
        self.tuple_us = self._slope()
        self.train_us = max(self._run - self.tuple_us * self._x, 0.0) / self._weight

    def _slope(self) -> float:
        """The cost of one more tuple in a train."""
        if not self._x:
            return TUPLE_US
        mean = self._x / self._weight
        spread = max(self._xx / self._weight - mean * mean, 0.0)
        # Trains of one length do not determine the line: the assumed cost of tasks is used, the less the
        # further lengths are apart. So noise in the times of similar trains is not taken for a slope.
        assumed = max(self._y - self._weight * TASK_US, 0.1 * self._y) / self._x
        measured = self._xy / self._weight - mean * self._y / self._weight
        prior = (SPREAD * mean) ** 2 / math.sqrt(max(self._weight, 1.0))
        slope = (measured + prior * assumed) / (spread + prior)
        return min(max(slope, 0.0), self._y / self._x)


class ArcRate:
    """Tuples per second over the last seconds.

    >>> rate = ArcRate()
    >>> for second in range(10):
    ...     rate.note(second * 1_000_000, 500)
    >>> rate.per_second(9_000_000)
    500.0
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[int, int]] = deque()
        self._tuples = 0

    def note(self, now: int, tuples: int) -> None:
        """Note tuples that have arrived."""
        self._seen.append((now, tuples))
        self._tuples += tuples
        self._forget(now)

    def per_second(self, now: int) -> float:
        """How many arrive per second; for a stream that has just begun, since it began."""
        self._forget(now)
        return self._tuples / (RATE_WINDOW_US / 1e6)

    def _forget(self, now: int) -> None:
        while self._seen and self._seen[0][0] <= now - RATE_WINDOW_US:
            self._tuples -= self._seen.popleft()[1]


class Reading:
    """The cost of reading a tuple that is shed, measured on trains that let almost nothing in.

    >>> reading = Reading()
    >>> reading.each_us
    0.1
    >>> for _ in range(300):
    ...     reading.note(shed=10_000, tasks_us=TASK_US + 7_000)
    >>> round(reading.each_us, 3)
    0.7
    """

    def __init__(self) -> None:
        self.each_us = SHED_US

    def note(self, shed: int, tasks_us: float) -> None:
        """Note a train whose tuples were shed."""
        found = max(tasks_us - TASK_US, 0.0) / shed
        self.each_us = self.each_us * FORGETTING + found * (1 - FORGETTING)


class Yield:
    """How many tuples result from one, lately."""

    def __init__(self) -> None:
        self._taken = self._given = 0.0

    def note(self, taken: int, given: int) -> None:
        """Note how many tuples a train took and emitted."""
        self._taken = self._taken * FORGETTING + taken
        self._given = self._given * FORGETTING + given

    @property
    def each(self) -> float:
        """Tuples emitted for each one let in; 1 as long as nothing is known."""
        return self._given / self._taken if self._taken else 1.0


class Abreast:
    """How many workers trains use at a time, lately.

    >>> abreast = Abreast()
    >>> abreast.each
    1.0
    >>> abreast.note(tasks_us=90_000, longest_us=60_000)
    >>> abreast.each
    1.5
    """

    def __init__(self) -> None:
        self._tasks = self._longest = 0.0

    def note(self, tasks_us: float, longest_us: float) -> None:
        """Note how long the tasks of a train took in total, and the longest of them."""
        self._tasks = self._tasks * FORGETTING + tasks_us
        self._longest = self._longest * FORGETTING + longest_us

    @property
    def each(self) -> float:
        """Workers for each train."""
        return max(1.0, self._tasks / self._longest) if self._longest else 1.0


class Costs:
    """The costs of every superbox, the rates of every arc, and the yields between them."""

    def __init__(self, threads: Threads) -> None:
        self.trains: dict[str, TrainCost] = {}
        self.readings: dict[str, Reading] = {}
        self.abreast: dict[str, Abreast] = {}
        self._rates: dict[str, ArcRate] = {}
        self._flowing: set[str] = set()
        """The arcs that had tuples lately."""
        self._yields: dict[tuple[str, str], Yield] = {}
        self._lock = threads.lock()
        """Tuples arrive at any time, even while somebody asks for the rate."""

    def switch(self, superboxes: Iterable[str], arcs: Iterable[str]) -> None:
        """Switch to other superboxes; what is known of those that stay is kept."""
        self.trains = {name: self.trains.get(name) or TrainCost() for name in superboxes}
        self.readings = {name: self.readings.get(name) or Reading() for name in self.trains}
        self.abreast = {name: self.abreast.get(name) or Abreast() for name in self.trains}
        self._yields = {key: known for key, known in self._yields.items() if key[0] in self.trains}
        with self._lock:
            self._rates = {arc: self._rates.get(arc) or ArcRate() for arc in arcs}
            self._flowing &= self._rates.keys()

    def note_arrivals(self, arrivals: Iterable[tuple[str, int, int]]) -> None:
        """Note tuples that were put on arcs."""
        with self._lock:
            for arc, tuples, now in arrivals:
                if arc in self._rates:
                    self._rates[arc].note(now, tuples)
                    self._flowing.add(arc)

    def per_second(self, arc: str, now: int) -> float:
        """How many tuples arrive on an arc per second."""
        with self._lock:
            return self._rates[arc].per_second(now)

    def rates(self, now: int) -> dict[str, float]:
        """How many tuples per second arrive on the arcs that have any."""
        with self._lock:
            found = {arc: self._rates[arc].per_second(now) for arc in self._flowing}
            self._flowing = {arc for arc, rate in found.items() if rate}
            return found

    def note_train(self, superbox: str, tuples: int, shed: int, tasks_us: float, run_us: float) -> None:
        """Note a train that has run; reading what was shed is not a cost of what was let in."""
        if shed and tuples <= SHED_MOSTLY * shed:
            self.readings[superbox].note(shed, tasks_us)
        else:
            reading = min(shed * self.readings[superbox].each_us, 0.9 * tasks_us)
            self.trains[superbox].note(tuples, tasks_us - reading, run_us - reading)

    def note_yield(self, superbox: str, taken: int, given: Mapping[str, int]) -> None:
        """Note that a train took tuples and put others on arcs."""
        for arc, tuples in given.items():
            self._yields.setdefault((superbox, arc), Yield()).note(taken, tuples)

    def yields(self, superbox: str, arc: str) -> float:
        """How many tuples a superbox puts on an arc for each one that it takes."""
        known = self._yields.get((superbox, arc))
        return 1.0 if known is None else known.each
