"""Plan files of joined superboxes: those that were not used for long are forgotten and deleted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.assembled import World, assembled, push

from australis import NetworkBuilder
from australis.engine.running import Running
from australis.engine.train import dispatch
from australis.engine.worker import Waybill, write_plan

BOXES = tuple(f"f{number}" for number in range(8))


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[Running]:
    net = NetworkBuilder("n")
    stream = net.input("s", "k long")
    for name in BOXES:
        stream = stream.filter("k > 0", as_=name)
    stream.output("out")
    with assembled(tmp_path, net.build(), World()) as running:
        yield running


def waybill(running: Running, members: tuple[str, ...]) -> Waybill:
    """A train of joined superboxes."""
    queues = running.ledger.queues
    return running.dispatch.make_waybill(queues, members, queues.log_end, 10, {})[0]


def plans(running: Running) -> set[str]:
    return set(running.ledger.root.names("plans"))


def test_plan_files_of_joined_superboxes_stay_few(chain: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "JOINED_MOST", 4)
    push(chain, "s", pa.table({"k": [1]}))
    alone, first = plans(chain), (BOXES[0], BOXES[1])
    for members in pairwise(BOXES):
        waybill(chain, first)
        waybill(chain, members)
    chain.ledger.leave(chain.ledger.enter())
    assert len(plans(chain) - alone) <= 4
    assert waybill(chain, first).plan in plans(chain), "it was used again and again"
    assert waybill(chain, (BOXES[1], BOXES[2])).plan in plans(chain), "it was written again"


def test_a_plan_that_was_prepared_before_does_not_name_deleted_files(
    chain: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "JOINED_MOST", 1)
    push(chain, "s", pa.table({"k": [1]}))
    pairs = list(pairwise(BOXES))
    waybill(chain, pairs[0])
    ledger = chain.ledger
    written = write_plan(ledger.root, ledger.plan.superboxes)
    prepared = chain.dispatch.prepare(ledger.plan, written, BOXES)
    monkeypatch.setattr(dispatch, "JOINED_MOST", 2)
    for members in pairs[1:3]:
        waybill(chain, members)
    chain.ledger.leave(chain.ledger.enter())
    chain.dispatch.switch(prepared)
    assert waybill(chain, pairs[0]).plan in plans(chain)
