"""The pool of a light runner, over workers that are threads of the test."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection

import pytest

from australis.engine.light import pool as pools
from australis.engine.light.pool import Pool, Worker, WorkerEnded


class Threads:
    """Stands in for a zygote: its workers give back what they are sent, in capitals, or end by `END`."""

    def __init__(self) -> None:
        self.forked: list[int] = []
        self.killed: list[int] = []
        self.has_ended = False
        made.append(self)

    def fork(self, number: int, connection: Connection) -> None:
        if self.has_ended:
            raise BrokenPipeError
        self.forked.append(number)
        theirs = Connection(os.dup(connection.fileno()))
        threading.Thread(target=_echo, args=(theirs,), daemon=True).start()

    def kill(self, number: int) -> None:
        self.killed.append(number)

    def end(self) -> None:
        self.has_ended = True


made: list[Threads] = []
END = b"end"


def _echo(connection: Connection) -> None:
    with connection, suppress(EOFError, OSError):
        while (order := connection.recv_bytes()) != END:
            connection.send_bytes(order.upper())


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    made.clear()
    monkeypatch.setattr(pools, "Zygote", Threads)
    pool = Pool(2)
    yield pool
    pool.close()


def taken(pool: Pool, root: str = "root") -> Worker:
    worker = pool.take(root, wait=True)
    assert worker is not None
    return worker


def test_workers_are_made_as_they_are_needed(pool: Pool) -> None:
    first = taken(pool)
    first.send(b"a")
    assert first.receive() == b"A"
    assert len(made[0].forked) == 1
    second = taken(pool)
    assert len(made[0].forked) == 2
    assert pool.take("root", wait=False) is None
    pool.give_back(second)
    assert taken(pool) is second


def test_the_one_that_ran_last_runs_again(pool: Pool) -> None:
    first, second = taken(pool), taken(pool)
    pool.give_back(second)
    pool.give_back(first)
    assert taken(pool) is first


def test_an_idle_worker_that_has_ended_is_replaced(pool: Pool) -> None:
    idle = taken(pool)
    idle.send(END)
    _until(lambda: idle.has_ended)
    pool.give_back(idle)
    worker = taken(pool)
    assert worker.number == 2
    worker.send(b"b")
    assert worker.receive() == b"B"


def test_a_zygote_that_has_ended_is_replaced(pool: Pool) -> None:
    taken(pool)
    made[0].has_ended = True
    assert taken(pool).number == 2
    assert len(made) == 2
    assert made[1].forked == [2]


def test_a_worker_that_ends_says_so(pool: Pool) -> None:
    worker = taken(pool)
    worker.send(END)
    with pytest.raises(WorkerEnded, match="in the midst of its task"):
        worker.receive()
    with pytest.raises(WorkerEnded, match="before its task"):
        worker.send(b"a")
    pool.drop(worker)
    assert taken(pool).number == 2


def test_the_first_that_waits_is_the_first_that_is_served(pool: Pool) -> None:
    busy = [taken(pool), taken(pool)]
    served: list[str] = []
    with ThreadPoolExecutor(3) as threads:
        for number, name in enumerate(("first", "second", "third"), 1):
            threads.submit(_served, pool, name, served)
            _until(partial(_has_line, pool, number))
        assert pool.take("late", wait=False) is None
        pool.give_back(busy.pop())
    assert served == ["first", "second", "third"]


def _served(pool: Pool, name: str, served: list[str]) -> None:
    worker = taken(pool, name)
    served.append(name)
    pool.give_back(worker)


def _has_line(pool: Pool, length: int) -> bool:
    return len(pool._line) == length


def _until(happened: Callable[[], bool]) -> None:
    pause = threading.Event()
    while not happened():
        pause.wait(0.001)


def test_giving_up_is_for_one_root(pool: Pool) -> None:
    ours, theirs = taken(pool, "ours"), taken(pool, "theirs")
    with ThreadPoolExecutor(2) as threads:
        waiting = threads.submit(taken, pool, "ours")
        patient = threads.submit(taken, pool, "theirs")
        _until(partial(_has_line, pool, 2))
        pool.abandon("ours")
        with pytest.raises(WorkerEnded, match="given up"):
            waiting.result(10)
        assert made[0].killed == [ours.number]
        pool.give_back(theirs)
        assert patient.result(10) is theirs


def test_a_pool_that_is_closed_gives_no_worker(pool: Pool) -> None:
    taken(pool)
    busy = taken(pool)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(taken, pool)
        _until(partial(_has_line, pool, 1))
        pool.close()
        with pytest.raises(WorkerEnded, match="given up"):
            waiting.result(10)
    pool.give_back(busy)
    with pytest.raises(WorkerEnded, match="closed"):
        pool.take("root", wait=True)
