"""Many simulated worlds at once: in processes of this machine, or as tasks of Spark."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children, get_context
from types import FrameType
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
            with _signals_held():
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
def _signals_held() -> Iterator[None]:
    """Start processes to the end before a signal unwinds this one: a pool that is half started never ends.

    They hear no Ctrl-C, which a terminal sends to all: they are ended by this process.
    """
    heard: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        heard.append(number)

    handlers = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    # What is blocked is inherited, and a handler is not.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if heard:
        signal.raise_signal(heard[0])


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
