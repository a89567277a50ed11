"""The rule of the ledger's lock is enforced in all tests: whatever breaks it is refused and reported."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.engine.ledger.held import counting, opened
from tests.lock_rules import FILES, KERNELS, KINDS, NETWORKS, PLANNING, WAYS, Way

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.store import Store
from australis.engine.ledger import record
from australis.engine.ledger.ledger import Ledger
from australis.engine.store.root import SEGMENTS
from australis.engine.tables import reading
from australis.engine.tables.opening import open_store
from australis.kernels.pipeline import Pipeline
from australis.plan.superboxes import Discipline, plan

NETWORK = counting("some")
PIPELINE = Pipeline(NETWORK)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    (tmp_path / "cars.csv").write_text("id\n1\n")
    with opened(tmp_path) as ledger:
        yield ledger


def with_file(ledger: Ledger) -> Network:
    """A network with a stored table."""
    net = NetworkBuilder("cars")
    net.input("s", "id int").output("out")
    net.table("cars", "id int", store=Store(str(Path(str(ledger.root.local)) / "cars.csv")))
    return net.build()


def write_and_delete(ledger: Ledger) -> None:
    ledger.root.write(f"{SEGMENTS}/x", b"")
    ledger.root.delete(f"{SEGMENTS}/x")


WORK: dict[str, Callable[[Ledger], object]] = {
    FILES: write_and_delete,
    NETWORKS: lambda ledger: open_store(with_file(ledger), "cars").close(),
    KERNELS: lambda ledger: PIPELINE.start(),
    PLANNING: lambda ledger: plan(NETWORK, Discipline.TRAIN),
}
LOCKS: dict[str, Callable[[Ledger], AbstractContextManager[object]]] = {
    "change": lambda ledger: ledger.change(),
    "guard": lambda ledger: ledger.guard,
}


def work_under(lock: AbstractContextManager[object], work: Callable[[], object]) -> None:
    with lock:
        work()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lock", LOCKS)
def test_work_that_takes_long_is_refused_while_the_lock_is_held(
    ledger: Ledger, lock_rules: list[str], kind: str, lock: str
) -> None:
    WORK[kind](ledger)
    with ledger.reading():
        WORK[kind](ledger)
    with pytest.raises(AssertionError, match=f"{kind} while the lock of a ledger is held"):
        work_under(LOCKS[lock](ledger), lambda: WORK[kind](ledger))
    WORK[kind](ledger)
    (told,) = lock_rules
    assert "work_under" in told, "it says where"
    lock_rules.clear()


def test_a_caught_error_is_reported_all_the_same(ledger: Ledger, lock_rules: list[str]) -> None:
    with ledger.guard:
        for kind in KINDS:
            with pytest.raises(AssertionError):
                WORK[kind](ledger)
    assert len(lock_rules) == len(KINDS)
    lock_rules.clear()


def test_other_threads_may_work_meanwhile(ledger: Ledger) -> None:
    done = []

    def work() -> None:
        done.extend(WORK[kind](ledger) for kind in KINDS)

    with ledger.guard:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(done) == len(KINDS)


def test_what_lists_files_is_refused_though_it_began_before(ledger: Ledger, lock_rules: list[str]) -> None:
    write = [f"{SEGMENTS}/{number}" for number in range(3)]
    for name in write:
        ledger.root.write(name, b"")
    names = ledger.root.names(SEGMENTS)
    next(names)
    with ledger.guard, pytest.raises(AssertionError, match="files while"):
        next(names)
    lock_rules.clear()


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_way_is_guarded(way: Way) -> None:
    assert hasattr(getattr(way.owner, way.name), "__wrapped__")


def test_functions_are_guarded_wherever_they_were_imported() -> None:
    for imported in (record.plan, record.improve, reading.open_store):
        assert hasattr(imported, "__wrapped__")
