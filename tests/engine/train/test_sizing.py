"""How a train is divided: all of it, each part once, and no more tasks than pay."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.builder import NetworkBuilder
from australis.algebra.order import Order
from australis.engine.store.segments import Segment
from australis.engine.train.sizing import ROWS_PER_TASK, shares
from australis.engine.worker.waybill import Share
from australis.plan.superboxes import Discipline, Superbox, plan

MANY = 10 * ROWS_PER_TASK


def made(group_by: tuple[str, ...] | None) -> Superbox:
    """A filter, or a count by some attributes."""
    net = NetworkBuilder("n")
    stream = net.input("s", "k long, t long")
    if group_by is None:
        stream.filter("k > 0", as_="box").output("out")
    else:
        order = Order("t", group_by=group_by)
        stream.aggregate({"n": "count(*)"}, order, size=10, as_="box").output("out")
    return plan(net.build(), Discipline.TRAIN).superboxes["box"]


ROWS, KEYS, ONE = made(None), made(("k",)), made(())


def segment(base: int, rows: int, key: str = "") -> Segment:
    return Segment("s", f"{base}", base, base + rows, rows, 1, 1, key=key)


def divided(
    superbox: Superbox, tuples: int, tasks: int, partitions: int = 1, *segments: Segment
) -> tuple[Share, ...]:
    weights = {each: each.rows for each in segments or (segment(0, tuples),)}
    end = max(each.end for each in weights)
    return shares(
        superbox, tuples, tasks_most=tasks, partitions=partitions, numbers=(0, end), weights=weights
    )


@pytest.mark.parametrize("superbox", [ROWS, KEYS, ONE], ids=["rows", "keys", "one"])
@pytest.mark.parametrize(
    ("tuples", "tasks", "expected"),
    [
        (1, 8, 1),
        (2 * ROWS_PER_TASK - 1, 8, 1),
        (2 * ROWS_PER_TASK, 8, 2),
        (7 * ROWS_PER_TASK, 8, 7),
        (100 * ROWS_PER_TASK, 8, 8),
        (100 * ROWS_PER_TASK, 1, 1),
    ],
)
def test_a_task_more_is_for_tuples_that_pay_for_it(
    superbox: Superbox, tuples: int, tasks: int, expected: int
) -> None:
    partitions = 1 if superbox is ONE else 64
    found = divided(superbox, tuples, tasks, partitions)
    assert len(found) == (1 if superbox is ONE else expected)


@given(st.integers(1, 20), st.integers(1, 12))
def test_every_partition_is_in_one_task_and_tasks_have_about_as_many(partitions: int, tasks: int) -> None:
    found = divided(KEYS, MANY * 2, tasks, partitions)
    sizes = [len(share.partitions) for share in found]
    assert [each for share in found for each in share.partitions] == list(range(partitions))
    assert len(found) == min(tasks, partitions)
    assert max(sizes) - min(sizes) <= 1


@given(
    st.lists(st.tuples(st.integers(1, 5 * MANY), st.booleans()), min_size=1, max_size=6), st.integers(1, 6)
)
def test_numbers_are_cut_once_and_never_inside_what_is_sorted_by_key(
    parts: list[tuple[int, bool]], tasks: int
) -> None:
    segments, base = [], 0
    for rows, is_sorted in parts:
        segments.append(segment(base, rows, "k" if is_sorted else ""))
        base += rows
    found = divided(ROWS, base, tasks, 1, *segments)
    assert (found[0].lo, found[-1].hi) == (0, base)
    assert all(one.hi == other.lo and one.lo < one.hi for one, other in pairwise(found))
    assert 1 <= len(found) <= tasks
    bounds = [share.hi for share in found[:-1]]
    assert not any(each.key and each.base < bound < each.end for each in segments for bound in bounds)


@given(st.lists(st.integers(1, MANY), min_size=1, max_size=6), st.integers(1, 6))
def test_tasks_have_about_as_many_tuples(sizes: list[int], tasks: int) -> None:
    segments, base = [], 0
    for rows in sizes:
        segments.append(segment(base, rows))
        base += rows
    found = divided(ROWS, base, tasks, 1, *segments)
    each = base / len(found)
    assert all(abs((share.hi - share.lo) - each) <= len(found) for share in found if share.hi is not None)
