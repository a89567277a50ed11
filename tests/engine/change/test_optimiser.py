"""The optimiser: what was counted leads to another order of boxes, once, and whoever looks is told why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine import in_process
from tests.engine.assembled import World, assembled

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.change.optimiser import Optimiser, Rewritten, begun, redrawn, with_past
from australis.engine.change.switch import Switch
from australis.engine.ledger import OPTIMISER, Ledger, Record
from australis.engine.running import Running
from australis.engine.threads import SYSTEM
from australis.plan.superboxes import Discipline

NAMES = ("received", "emitted", "late", "ignored", "rejected", "unread", "nanoseconds")


def chain(size: int = 10) -> Network:
    """Two filters, of which either may be the one that lets little through, and a window after them."""
    net = NetworkBuilder("chain")
    first = net.input("s", "t long, a long, b long").filter("upper(cast(a as string)) > '5'", as_="by_a")
    second = first.filter("upper(cast(b as string)) > '5'", as_="by_b")
    second.aggregate({"n": "count(*)"}, Order("t"), size=size, as_="windows").output("out")
    return net.build()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with assembled(tmp_path, chain(), World()) as running:
        yield running


@pytest.fixture
def switch(running: Running) -> Switch:
    network = chain()
    record = Record(network, Discipline.TRAIN, 2, begun=begun(network, with_past(network)))
    return Switch(running, record, lambda plan: in_process.run, SYSTEM)


@pytest.fixture
def optimiser(running: Running, switch: Switch) -> Optimiser:
    return Optimiser(switch, running.ledger, SYSTEM)


def count(ledger: Ledger, **boxes: tuple[int, int]) -> None:
    """Boxes took and emitted so many tuples, each for a microsecond."""
    with ledger.change() as change:
        for box, (received, emitted) in boxes.items():
            counted = {**dict.fromkeys(NAMES, 0), "received": received, "nanoseconds": 1000 * received}
            change.count_box(box, counted)
            change.count_ports({box: emitted})


def order(switch: Switch) -> list[str]:
    return [box for box in switch.record.whole.order if box.startswith("by_")]


def test_nothing_changes_before_tuples_come(optimiser: Optimiser, switch: Switch) -> None:
    assert not optimiser.cycle()
    assert switch.record.improved is None
    told = Rewritten.of(switch.record, optimiser._ledger)
    assert (told.running, told.switches) == (chain(), ())


def test_the_filter_that_lets_little_through_goes_first(
    running: Running, optimiser: Optimiser, switch: Switch
) -> None:
    count(running.ledger, by_a=(10_000, 9_900), by_b=(9_900, 99))
    assert optimiser.cycle()
    assert order(switch) == ["by_b", "by_a"]
    assert running.ledger.plan is switch.record.plan
    (entry,) = json.loads(running.ledger.catalog.meta(OPTIMISER) or "[]")
    assert entry["cost_after"] < entry["cost_before"]
    assert any("by_b" in line for line in entry["says"])
    told = Rewritten.of(switch.record, running.ledger)
    assert (told.drawn, told.running, list(told.switches)) == (chain(), switch.record.improved, [entry])


def test_an_order_that_is_good_already_stays(running: Running, optimiser: Optimiser, switch: Switch) -> None:
    count(running.ledger, by_a=(10_000, 100), by_b=(100, 99))
    assert not optimiser.cycle()
    assert running.ledger.catalog.meta(OPTIMISER) is None


def test_what_somebody_has_changed_meanwhile_is_not_undone(
    running: Running, optimiser: Optimiser, switch: Switch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network is another one when the optimiser comes to switch."""
    count(running.ledger, by_a=(10_000, 9_900), by_b=(9_900, 99))
    to, other = switch.to, chain(size=5)
    changed = replace(switch.record, network=other, begun=begun(other, with_past(other)))

    def to_after_another(*given: object) -> object:
        to(lambda known: changed)
        return to(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(switch, "to", to_after_another)
    optimiser.cycle()
    assert switch.record == changed
    assert running.ledger.catalog.meta(OPTIMISER) is None


# --- what is recorded


def test_boxes_with_a_state_or_with_outputs_have_a_past() -> None:
    assert with_past(chain()) == {"windows"}
    net = NetworkBuilder("n")
    net.input("s", "k long").filter("k > 0", as_="first").filter("k > 1", as_="last").output("out")
    assert with_past(net.build()) == {"last"}


def test_another_network_is_recorded_as_drawn_and_begins_only_where_it_is_optimised() -> None:
    record = Record(chain(), Discipline.TRAIN, 2)
    plain = redrawn(record, chain(size=5), optimise=False)
    assert (plain.network, plain.begun, plain.improved) == (chain(size=5), None, None)
    optimised = redrawn(record, chain(size=5), optimise=True)
    assert optimised.begun == begun(chain(size=5), {"windows"})
