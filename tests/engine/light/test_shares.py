"""The shares of a train on a pool: whatever fails, the workers are there for the next train."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.engine.light.test_pool import END, Threads

from australis.engine.light import pool as pools
from australis.engine.light import runner
from australis.engine.light.pool import Pool, WorkerEnded


@dataclass(frozen=True)
class TwoShares:
    """Stands in for a waybill."""

    root: str = "root"
    orders: tuple[bytes, ...] = (b"a", b"b")
    limit_s: float | None = None


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    monkeypatch.setattr(pools, "Zygote", Threads)
    monkeypatch.setattr(runner, "orders", lambda waybill: waybill.orders)
    pool = Pool(2)
    yield pool
    pool.close()


def run(pool: Pool, *orders: bytes) -> dict[int, bytes]:
    return runner._Shares(pool, TwoShares(orders=orders)).run()  # type: ignore[arg-type]


def test_every_share_has_its_answer(pool: Pool) -> None:
    assert run(pool, b"a", b"b", b"c") == {0: b"A", 1: b"B", 2: b"C"}


def test_a_train_whose_worker_ends_fails_and_the_next_one_runs(pool: Pool) -> None:
    with pytest.raises(WorkerEnded):
        run(pool, b"a", END)
    assert run(pool, b"a", b"b") == {0: b"A", 1: b"B"}


def test_workers_are_free_again_where_another_one_cannot_be_started(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(pools, "Pipe", refuse)
        for _ in range(3):
            with pytest.raises(WorkerEnded, match="could not be started"):
                run(pool, b"a", b"b")
    assert run(pool, b"a", b"b") == {0: b"A", 1: b"B"}
