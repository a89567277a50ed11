"""Lemma 1: how wide prices must range for load to move along a chain of contracts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from australis.policy.trade import Contract, CostCurve, Participant, Task
from australis.sim.trade.world import Market, Movable, loads_of, settle

UNTIL = 10_000_000_000


def chain(cost: CostCurve, loads: Sequence[int], low: int, high: int) -> list[int]:
    """The final loads, if each node has contracts with its neighbours in the chain.

    >>> cost = CostCurve(slopes=tuple(range(0, 100, 10)))
    >>> chain(cost, [5, 4, 0], low=31, high=31), chain(cost, [5, 4, 0], low=21, high=31)
    ([5, 4, 0], [4, 3, 2])
    """
    names = [f"{node}" for node in range(len(loads))]
    agreed = [
        contract
        for one, other in pairwise(names)
        for contract in (Contract(one, other, low, high), Contract(other, one, low, high))
    ]
    market = Market(
        Participant(
            name,
            cost,
            [contract for contract in agreed if name in (contract.giver, contract.taker)],
            [Task(f"{name}.{number}") for number in range(count)],
        )
        for name, count in zip(names, loads, strict=True)
    )
    market.begin()
    settle(market, Movable(market), UNTIL)
    return loads_of(market)
