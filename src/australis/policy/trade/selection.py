"""Which tasks are worth their price: the inner loops of OFFER_LOAD and ACCEPT_LOAD (Figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

from australis.policy.trade.contract import Task
from australis.policy.trade.cost import CostCurve

NOTHING_SMALLER = 1
"""The least load of a task."""


class Chosen(NamedTuple):
    """Tasks, their total load, and the cost that they save or add."""

    tasks: tuple[Task, ...]
    load: int
    cost: int


def offered(cost: CostCurve, load: int, tasks: Iterable[Task], price: int, fee: int = 0) -> Chosen:
    """The tasks that cost more here than a partner would be paid, one by one.

    By convexity the same holds for every subset. `fee` is the cost of moving one task.

    >>> offered(CostCurve(slopes=(1, 2, 4, 7)), 4, [Task("a"), Task("b"), Task("c")], price=3).tasks
    (Task(id='a', load=1, kind='', hosts=None), Task(id='b', load=1, kind='', hosts=None))
    """
    chosen, left, kept = [], load, inf
    whole = with_it = cost.of(load)
    for task in tasks:
        # By convexity a task at least as large as one that is kept saves no more per unit.
        if task.load >= kept:
            continue
        without = cost.of(left - task.load)
        if with_it - without > task.load * price + fee:
            chosen.append(task)
            left, with_it = left - task.load, without
        elif not fee:
            kept = task.load
            if kept == NOTHING_SMALLER:
                break
    return Chosen(tuple(chosen), load - left, whole - with_it)


def accepted(cost: CostCurve, load: int, tasks: Iterable[Task], price: int) -> Chosen:
    """The tasks that cost less on top of a load than is paid for them, one by one.

    >>> accepted(CostCurve(slopes=(1, 2, 4, 7)), 1, [Task("a"), Task("b"), Task("c")], price=4).tasks
    (Task(id='a', load=1, kind='', hosts=None),)
    """
    chosen, full, refused = [], load, inf
    before = without = cost.of(load)
    for task in tasks:
        # By convexity a task at least as large as one that is refused costs no less per unit.
        if task.load >= refused:
            continue
        with_it = cost.of(full + task.load)
        if with_it - without < task.load * price:
            chosen.append(task)
            full, without = full + task.load, with_it
        else:
            refused = task.load
            if refused == NOTHING_SMALLER:
                break
    return Chosen(tuple(chosen), full - load, without - before)


def balancing(tasks: Sequence[Task]) -> int:
    """The load to ask a price for: half of what is offered, but at least the smallest task.

    The giver saves less with each task that moves, and the taker's cost rises: they meet half-way.

    >>> balancing([Task("a"), Task("b"), Task("c"), Task("d", 2)]), balancing([Task("a", 3)])
    (2, 3)
    """
    return max(min(task.load for task in tasks), sum(task.load for task in tasks) // 2)


def asking_price(cost: CostCurve, load: int, tasks: Sequence[Task], high: int) -> int | None:
    """The price at which about half of some tasks would be accepted, or the highest of the contract.

    None if it would not suffice for any of them, which by convexity means the smallest.

    >>> cost = CostCurve(slopes=(1, 2, 4, 7, 9))
    >>> [asking_price(cost, 2, [Task("a"), Task("b", 2), Task("c")], high) for high in (4, 5, 7, 10)]
    [None, 5, 7, 8]
    """
    smallest = min(task.load for task in tasks)
    if cost.least_price(smallest, load) > high:
        return None
    return min(high, cost.least_price(smallest, load + balancing(tasks) - smallest))
