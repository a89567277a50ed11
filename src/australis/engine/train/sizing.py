"""How a train is divided among tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from australis.engine.store import Segment
from australis.engine.worker import Share
from australis.plan.spread import SpreadKind
from australis.plan.superboxes import Superbox

ROWS_PER_TASK = 60_000
"""The least number of tuples per task: with fewer, a second task would cost more than it saves."""


def shares(
    superbox: Superbox,
    tuples: int,
    *,
    tasks_most: int,
    partitions: int,
    numbers: tuple[int, int],
    weights: Mapping[Segment, int],
) -> tuple[Share, ...]:
    """The tasks of a train over some numbers: each reads about the same number of tuples."""
    tasks = max(1, min(tasks_most, tuples // ROWS_PER_TASK))
    if superbox.spread.kind is SpreadKind.ROWS:
        return tuple(_ranges(numbers, tasks, weights))
    tasks = min(tasks, partitions)
    bounds = [partitions * i // tasks for i in range(tasks + 1)]
    return tuple(Share(tuple(range(a, b))) for a, b in pairwise(bounds))


def _ranges(numbers: tuple[int, int], tasks: int, weights: Mapping[Segment, int]) -> Iterator[Share]:
    lo, hi = numbers
    runs = [each for each in weights if each.key or each.split]
    inner = [_beside(number, runs) for number in _cuts(weights, lo, hi, tasks)]
    bounds = sorted({lo, hi, *(number for number in inner if lo < number < hi)})
    return (Share((0,), a, b) for a, b in pairwise(bounds))


def _cuts(weights: Mapping[Segment, int], lo: int, hi: int, tasks: int) -> Iterator[int]:
    """The numbers that divide the tuples to read about equally among tasks."""
    whole, passed, found = sum(weights.values()), 0, 1
    for segment, weight in sorted(weights.items(), key=lambda each: each[0].base):
        begin, end = max(lo, segment.base), min(hi, segment.end)
        while found < tasks and passed + weight >= whole * found / tasks:
            yield begin + round((end - begin) * (whole * found / tasks - passed) / weight)
            found += 1
        passed += weight


def _beside(number: int, runs: Sequence[Segment]) -> int:
    """A nearby number that no run spans: a file sorted or split by key can only be read whole."""
    spanning = next((run for run in runs if run.base < number < run.end), None)
    if spanning is None:
        return number
    return spanning.base if number - spanning.base < spanning.end - number else spanning.end
