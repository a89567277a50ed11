"""Trials: drop boxes that go by values, found by trying predicates on the tuples that wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.ledger.held import MemoryHome, opened
from tests.engine.watched import forked

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.quality import Quality, ValueGraph
from australis.engine.ingest import Arrival, Ingest
from australis.engine.ledger import Ledger
from australis.engine.steer.trials import Trials
from australis.engine.threads import SYSTEM
from australis.engine.worker import GateDropBox, let_in
from australis.kernels.kernel import CAUSE
from australis.plan.superboxes import Discipline, plan


def valued(least: int = -1, other: str = "") -> Network:
    """An output whose tuples matter more the greater they are, and maybe another output after it."""
    net = NetworkBuilder("valued")
    quality = Quality(loss=((0, 0), (1, 1)), value=ValueGraph("w", points=((0, 0), (200, 1))))
    some = net.input("s", "v double").filter(f"v > {least}", as_="some")
    twice = some.map({"w": "2 * v"}, as_="twice")
    twice.output("worth", quality)
    if other:
        twice.filter("w > 10", as_="great").output(other)
    return net.build()


@contextmanager
def prepared(
    folder: Path, network: Network, discipline: Discipline = Discipline.BRANCH
) -> Iterator[tuple[Ledger, Trials]]:
    made = plan(network, discipline)
    with opened(folder, MemoryHome(), made) as ledger:
        trials = Trials(ledger)
        trials.switch(trials.prepare(made))
        yield ledger, trials


def push(ledger: Ledger, table: pa.Table) -> None:
    ingest = Ingest(ledger, SYSTEM)
    ingest.append(Arrival("s", ingest.store("s", table, 0), 0))


def values(count: int) -> pa.Table:
    return pa.table({"v": [float(number) for number in range(count)]})


@pytest.mark.parametrize("rate", [0.25, 0.5])
def test_the_tuples_that_matter_least_are_shed(tmp_path: Path, rate: float) -> None:
    with prepared(tmp_path, valued()) as (ledger, trials):
        push(ledger, values(100))
        (name,) = ledger.plan.superboxes
        box = trials.by_value(name, rate)
        assert box is not None
        table = values(100).append_column(CAUSE, pa.array(range(100)))
        schema = ledger.plan.network.inputs["s"].schema
        left = let_in(GateDropBox(1, box.share, box.where["s"]), name, table, schema, "UTC")["v"].to_pylist()
        assert len(left) == pytest.approx(100 * (1 - rate), abs=3)
        assert left[-50:] == [float(number) for number in range(50, 100)], "the greater half is whole"


def test_without_a_value_graph_values_cannot_tell(tmp_path: Path) -> None:
    with prepared(tmp_path, forked()) as (_, trials):
        assert (trials.by_value("some", 0.5), trials.by_value("keys", 0.5)) == (None, None)


def test_values_of_one_output_do_not_tell_for_another(tmp_path: Path) -> None:
    with prepared(tmp_path, valued(other="out"), Discipline.SUPERBOX) as (ledger, trials):
        push(ledger, values(100))
        (name,) = ledger.plan.superboxes
        assert trials.by_value(name, 0.5) is None


def test_what_is_the_same_in_another_plan_stays_ready(tmp_path: Path) -> None:
    with prepared(tmp_path, valued()) as (ledger, trials):
        (name,) = ledger.plan.superboxes
        before = trials.prepare(ledger.plan)[name]
        assert before is not None
        assert trials.prepare(plan(valued(), Discipline.BRANCH))[name] is before
        assert trials.prepare(plan(valued(least=5), Discipline.BRANCH))[name] is not before
