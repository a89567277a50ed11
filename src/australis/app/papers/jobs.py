"""Many simulated worlds at once: in processes of this machine, or as tasks of Spark."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children, get_context
from typing import Protocol, TypeVar

from australis.engine import spark

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


class Mapper(Protocol):
    """Runs jobs: here, in processes, or on a cluster; results come in the order of jobs."""

    def __call__(self, function: Callable[[Job], Outcome], jobs: Sequence[Job], /) -> Iterable[Outcome]: ...


def mapper(processes: int, master: str | None = None) -> Mapper:
    """Jobs spread over processes, or over a Spark master; with one process, they run here."""
    if master is not None:
        return partial(spark.on_spark, master)
    if processes == 1:
        return here

    def spread(function: Callable[[Job], Outcome], jobs: Sequence[Job], /) -> Iterator[Outcome]:
        # Spawned, not forked, so that they do not inherit what else this process has open.
        pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
        others = set(active_children())
        try:
            with _interrupts_held():
                outcomes = pool.map(function, jobs)
            yield from outcomes
        except BaseException:
            for process in set(active_children()) - others:
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    return spread


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Start processes that hear no Ctrl-C, which a terminal sends to all: they are ended by this one.

    Another thread of this process may get the signal, so it is also noted until all of them have started.
    """
    heard: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
    if heard and callable(handler):
        handler(heard[0], None)


def seeds_of(first: int, count: int, chunk: int = 50) -> list[range]:
    """Seeds, grouped into jobs: a world that takes some hundredths of a second is not worth its own job.

    >>> seeds_of(7, 120)
    [range(7, 57), range(57, 107), range(107, 127)]
    """
    seeds = range(first, first + count)
    return [seeds[place : place + chunk] for place in range(0, count, chunk)]


def here(function: Callable[[Job], Outcome], jobs: Sequence[Job], /) -> Iterator[Outcome]:
    """Run jobs one by one, in this process."""
    return map(function, jobs)


def counted(outcomes: Iterable[Outcome], done: Callable[[int], object]) -> Iterator[Outcome]:
    """The same results, calling back for each."""
    for outcome in outcomes:
        done(1)
        yield outcome
