"""Markets: what happens when, and what holds whatever happens."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.errors import PolicyError, SimulationError
from australis.policy.trade.contract import Contract, Task, fixed
from australis.policy.trade.cost import CostCurve
from australis.policy.trade.holding import Settings
from australis.policy.trade.messages import Took
from australis.policy.trade.participant import Participant
from australis.policy.trade.selection import Chosen
from australis.sim.trade.graphs import drawn_pairs
from australis.sim.trade.world import Market, Movable, Ways, loads_of, settle

MS = 1000
"""In microseconds."""
COST = CostCurve(slopes=(10, 20, 30, 40, 50, 60))


def two(price: int = 35) -> Market:
    """One with five tasks, and one that may take some."""
    contract = fixed("busy", "idle", price)
    busy = Participant("busy", COST, [contract], [Task(f"t{each}") for each in range(5)])
    return Market([busy, Participant("idle", COST, [contract], settings=Settings(phase=500 * MS))])


def test_a_movement_takes_its_time() -> None:
    market = two()
    market.begin(5000 * MS)
    market.run(20_000 * MS)
    # The offer leaves at 6000, is answered at the next moment of the taker, and the tasks take 75 ms.
    assert market.history == [((6500 + 10 + 75) * MS, 150 - 90 + 30, 1, 2)]
    assert market.messages == {"Offer": 1, "Accepted": 1, "Moved": 1, "Taken": 1}
    balances = [participant.holding.balance for participant in market.participants.values()]
    assert balances == [-70, 70]


@pytest.mark.parametrize("count", [4, 7, 10])
def test_a_range_of_prices_balances_two_by_one_movement(count: int) -> None:
    cost = CostCurve(tuple(range(10, 210, 10)))
    contract = Contract("busy", "idle", 25, 250)
    busy = Participant("busy", cost, [contract], [Task(f"t{each}") for each in range(count)])
    idle = Participant("idle", cost, [contract], [Task("own0"), Task("own1")])
    market = Market([busy, idle])
    market.begin()
    market.run(60_000 * MS)
    assert market.now.movements == 1
    assert abs(busy.holding.load - idle.holding.load) <= 1


def test_a_market_settles_when_no_price_would_move_anything() -> None:
    market = two()
    market.begin()
    assert settle(market, Movable(market), 100_000 * MS)
    assert loads_of(market) == [3, 2]
    assert market.clock.now < 10_000 * MS


def test_a_market_that_has_no_time_does_not_settle() -> None:
    market = two()
    market.begin()
    assert not settle(market, Movable(market), 2000 * MS)


def test_load_comes_and_goes() -> None:
    market = two(price=55)
    market.begin()
    market.clock.at(10_000 * MS, market.come, "busy", Task("more"))
    market.run(20_000 * MS)
    assert loads_of(market) == [5, 1]
    assert market.end("more")
    assert not market.end("more")
    assert sum(loads_of(market)) == 5
    assert market.now.cost == sum(COST.of(load) for load in loads_of(market))


def test_clients_may_fill_a_taker_that_has_made_a_promise() -> None:
    """The movement then raises the total cost, and nobody is to blame."""
    market = two()
    market.begin(5000 * MS)
    for number in range(4):
        market.clock.at(6510 * MS, market.come, "idle", Task(f"client{number}"))
    market.run(20_000 * MS)
    assert market.history == [(6585 * MS, 60 + 210, 1, 2)]
    assert loads_of(market) == [3, 6]
    assert not market._fuller


def test_tasks_must_be_equal_to_say_whether_anything_can_move() -> None:
    one = Participant("a", COST, [], [Task("large", 2)])
    with pytest.raises(SimulationError, match="tasks of load 1"):
        Movable(Market([one]))


def test_a_bad_deal_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    market = two()
    monkeypatch.setattr("australis.policy.trade.taker.Took", lambda *args: Took(*args[:3], 10**6))
    market.begin()
    with pytest.raises(PolicyError, match="saving > payment > cost"):
        market.run(20_000 * MS)


def test_a_movement_that_makes_all_dearer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A taker that takes at a loss, and denies it."""
    taken = Chosen((Task("t0"), Task("t1")), 2, 0)
    monkeypatch.setattr("australis.policy.trade.taker.accepted", lambda *_: taken)
    monkeypatch.setattr("australis.policy.trade.taker.Took", lambda *args: Took(*args[:3], 0))
    market = two()
    for number in range(5):
        market.come("idle", Task(f"own{number}"))
    market.begin()
    with pytest.raises(PolicyError, match="cost: went from 300 to 330"):
        market.run(20_000 * MS)


def test_money_from_nowhere_is_noticed() -> None:
    market = two()
    market.participants["idle"].holding.balance += 1
    with pytest.raises(PolicyError, match="1 is too much"):
        market.run(100)


strict = st.lists(st.integers(2, 30), min_size=5, max_size=20)
"""How much slopes rise."""


@given(
    st.integers(2, 9),
    st.integers(1, 3),
    st.data(),
    st.integers(0, 2**32),
    st.booleans(),
    st.sampled_from([Ways(), Ways(jitter=400 * MS), Ways(jitter=400 * MS, loss=0.2)]),
)
def test_invariants_hold_in_any_market(
    nodes: int, least: int, data: st.DataObject, seed: int, notify: bool, ways: Ways
) -> None:
    rng = np.random.default_rng(seed)
    pairs = drawn_pairs(nodes, least, rng).tolist()
    costs = [CostCurve(tuple(np.cumsum(data.draw(strict)).tolist())) for _ in range(nodes)]
    agreed = []
    for one, other in pairs:
        low, width = data.draw(st.integers(0, 150)), data.draw(st.integers(0, 40))
        agreed += [Contract(f"{a}", f"{b}", low, low + width) for a, b in ((one, other), (other, one))]
    people = [
        Participant(
            f"{node}",
            cost,
            [each for each in agreed if f"{node}" in (each.giver, each.taker)],
            [Task(f"{node}.{each}") for each in range(data.draw(st.integers(0, 12)))],
            Settings(
                phase=int(rng.integers(2000)) * MS,
                patience=5000 * MS if ways.loss else None,
                notify=notify,
                retry=20_000 * MS if notify else None,
            ),
        )
        for node, cost in enumerate(costs)
    ]
    market = Market(people, ways, rng)
    before, tasks = market.now.cost, sorted(task for person in people for task in person.holding.tasks)
    market.begin()
    assert settle(market, Movable(market), 2_000_000 * MS)
    assert sorted(task for person in people for task in person.holding.tasks) == tasks
    assert market.now.cost == sum(person.holding.cost.of(person.holding.load) for person in people)
    costs_over_time = [before, *(moment.cost for moment in market.history)]
    assert all(after < earlier for earlier, after in pairwise(costs_over_time))
