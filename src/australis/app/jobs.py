"""Many simulated markets at once: on processes of this machine, or as tasks of Spark."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from australis.sim.market.experiments import Job, Mapper, Outcome, here

CHUNK = 4
"""Jobs that a process gets at a time: they are short."""


def mapper(processes: int, master: str | None = None) -> Mapper:
    """Jobs spread over processes, or over the Spark of a master; with one process, they run here."""
    if master is not None:
        sweeps = importlib.import_module("australis.engine.sweeps")
        return partial(sweeps.on_spark, master)
    if processes == 1:
        return here

    def spread(function: Callable[[Job], Outcome], jobs: Sequence[Job]) -> Iterator[Outcome]:
        # Spawned, not forked: what else this process has open is not theirs.
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            yield from pool.map(function, jobs, chunksize=CHUNK)

    return spread


def counted(outcomes: Iterable[Outcome], done: Callable[[int], object]) -> Iterator[Outcome]:
    """The same outcomes, each told when it is there."""
    for outcome in outcomes:
        done(1)
        yield outcome
