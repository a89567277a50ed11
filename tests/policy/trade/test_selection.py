"""The tasks that are offered are worth it, all and each; so are those that are accepted."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from tests.policy.trade.strategies import costs, loads, tasks

from australis.policy.trade.cost import CostCurve
from australis.policy.trade.selection import accepted, asking_price, offered

prices = st.integers(0, 400)


def _plainly_offered(cost: CostCurve, load: int, sizes: list[int], price: int, fee: int) -> list[str]:
    chosen = []
    for task in tasks(sizes):
        if cost.of(load) - cost.of(load - task.load) > price * task.load + fee:
            chosen.append(task.id)
            load -= task.load
    return chosen


@given(costs, loads, st.integers(0, 20), prices, st.integers(0, 50))
def test_offers_are_those_of_the_papers_loop(
    cost: CostCurve, sizes: list[int], other: int, price: int, fee: int
) -> None:
    load = sum(sizes) + other
    chosen = offered(cost, load, tasks(sizes), price, fee)
    assert [task.id for task in chosen.tasks] == _plainly_offered(cost, load, sizes, price, fee)
    assert chosen.load == sum(task.load for task in chosen.tasks)
    assert chosen.cost == cost.of(load) - cost.of(load - chosen.load)


@given(costs, loads, st.integers(0, 20), prices, st.data())
def test_every_part_of_an_offer_saves_more_than_it_pays(
    cost: CostCurve, sizes: list[int], other: int, price: int, data: st.DataObject
) -> None:
    load = sum(sizes) + other
    chosen = offered(cost, load, tasks(sizes), price)
    part = [task.load for task in chosen.tasks if data.draw(st.booleans())]
    saving = cost.of(load) - cost.of(load - sum(part))
    assert saving > price * sum(part) or not part


@given(costs, loads, st.integers(0, 40), prices, st.data())
def test_every_part_of_what_is_accepted_costs_less_than_is_paid(
    cost: CostCurve, sizes: list[int], load: int, price: int, data: st.DataObject
) -> None:
    chosen = accepted(cost, load, tasks(sizes), price)
    part = [task.load for task in chosen.tasks if data.draw(st.booleans())]
    assert cost.marginal(sum(part), load) < price * sum(part) or not part
    assert chosen.cost == cost.marginal(chosen.load, load)


@given(costs, loads.filter(bool), st.integers(0, 40), prices)
def test_an_asking_price_is_one_at_which_something_is_accepted(
    cost: CostCurve, sizes: list[int], load: int, high: int
) -> None:
    price = asking_price(cost, load, tasks(sizes), high)
    if price is None:
        assert not accepted(cost, load, tasks(sizes), high).tasks
    else:
        assert price <= high
        assert accepted(cost, load, tasks(sizes), price).tasks


@given(costs, st.integers(1, 9), st.integers(0, 40))
@example(cost=CostCurve((0, 0, 1), step=4), count=3, load=7)
def test_of_equal_tasks_half_are_accepted_at_the_asking_price_and_fewer_below(
    cost: CostCurve, count: int, load: int
) -> None:
    """Half of an odd number is between two: the lower is accepted at least, the upper is not below."""
    some = tasks([2] * count)
    price = asking_price(cost, load, some, 10**6)
    assert price is not None
    assert len(accepted(cost, load, some, price).tasks) >= max(1, count // 2)
    assert len(accepted(cost, load, some, price - 1).tasks) < (count + 1) // 2
