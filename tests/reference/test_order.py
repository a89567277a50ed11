"""Order, slack and groups."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import pytest
from tests.reference.running import Run

from australis.algebra.boxes import Aggregate, BSort, Join, Resample
from australis.algebra.order import Order
from australis.reference.order import Slack

NAN = float("nan")


def test_late_is_more_than_slack_strictly_greater_tuples_before() -> None:
    """The paper's sentence, counted out, over all short sequences."""
    for slack in range(3):
        for values in product(range(4), repeat=5):
            group = Slack(slack)
            for i, value in enumerate(values):
                assert group.is_late(value) == (sum(before > value for before in values[:i]) > slack)
                group.add(value)


def test_nothing_is_passed_before_slack_and_one_tuples_have_come() -> None:
    group = Slack(1)
    assert group.passed is None
    group.add(5)
    assert group.passed is None
    group.add(7)
    assert group.passed == 5


def test_late_tuples_are_ignored_and_counted_and_change_nothing() -> None:
    run = Run(Aggregate({"n": "count(*)"}, Order("a"), size=10), "a int")
    for a in (1, 5, 3, 4, 5):
        assert run.push(a=a) == []
    assert run.push(a=11) == [{"a": 1, "n": 3}]
    assert run.counts == (2, 0, 0)


def test_groups_have_orders_of_their_own() -> None:
    run = Run(Aggregate({"n": "count(*)"}, Order("a", group_by=("g",)), size=10), "g string, a int")
    run.push(g="x", a=100)
    run.push(g="y", a=1)
    assert run.counts == (0, 0, 0)
    assert run.push(g="y", a=11) == [{"a": 1, "g": "y", "n": 1}]


@pytest.mark.parametrize(
    ("one", "other"), [(None, None), (NAN, float("nan")), (0.0, -0.0), (1.5, 1.5)], ids=str
)
def test_equal_groups_are_those_of_group_by(one: float | None, other: float | None) -> None:
    run = Run(Aggregate({"n": "count(*)"}, Order("a", group_by=("g",)), size=10), "g double, a int")
    run.push(g=one, a=1)
    run.push(g=other, a=2)
    assert [row["n"] for row in run.flush()] == [2]


def test_null_is_a_group_of_its_own() -> None:
    run = Run(
        Aggregate({"n": "count(*)"}, Order("a", group_by=("g", "h")), size=10), "g int, h string, a int"
    )
    run.push(g=None, h="x", a=1)
    run.push(g=0, h="x", a=1)
    run.push(g=None, h=None, a=1)
    assert [(row["g"], row["h"]) for row in run.flush()] == [(0, "x"), (None, "x"), (None, None)]


def test_a_result_shows_the_positive_zero() -> None:
    run = Run(Aggregate({"n": "count(*)"}, Order("a", group_by=("g",)), size=10), "g double, a int")
    run.push(g=-0.0, a=1)
    assert str(run.flush()[0]["g"]) == "0.0"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "NULL"),
        (NAN, "NaN"),
        (float("inf"), "infinite"),
        (float("-inf"), "infinite"),
        (2.0**62, "2^62 or more in magnitude"),
    ],
)
def test_a_value_without_a_place_goes_to_the_quarantine(value: float | None, reason: str) -> None:
    for box in (Aggregate({"n": "count(*)"}, Order("a"), size=1e18), BSort(Order("a"))):
        run = Run(box, "a double")
        assert run.push(a=value) == []
        assert run.reasons == [f"'a' is {reason}, which has no place in an order"]
        assert run.counts == (0, 0, 1)
        assert run.flush() == []


@pytest.mark.parametrize("port", [0, 1])
def test_both_sides_reject(port: int) -> None:
    order = Order("a")
    boxes = (
        Join("left.a = right.a", 1, order, order),
        Resample({"n": "count(*)"}, 1, order, order),
    )
    for box in boxes:
        run = Run(box, "a long", "a long")
        run.push(port, a=-(2**62))
        assert run.reasons == ["'a' is 2^62 or more in magnitude, which has no place in an order"]


def test_doubles_too_far_from_0_for_their_advance_are_rejected() -> None:
    run = Run(Aggregate({"n": "count(*)"}, Order("a"), size=1.0, advance=0.5), "a double")
    run.push(a=2.0**49)
    run.push(a=2.0**49 * 1.001)
    assert run.reasons == ["'a' is more than 2^50 advances from 0, which has no place in an order"]
    assert run.flush() == [{"a": 2.0**49, "n": 1}]


def test_decimals_are_laid_along_in_steps_of_their_last_digit() -> None:
    run = Run(Aggregate({"n": "count(*)"}, Order("a"), size=0.5, advance=0.25), "a decimal(10,2)")
    for text in ("1.10", "1.34", "1.35", "1.59"):
        assert run.push(a=Decimal(text)) == []
    assert run.push(a=Decimal("1.60")) == [{"a": Decimal("1.10"), "n": 4}]
    assert run.flush() == [{"a": Decimal("1.35"), "n": 3}, {"a": Decimal("1.60"), "n": 1}]


def test_doubles_start_at_a_product_and_a_sum_each_rounded_once() -> None:
    run = Run(Aggregate({"n": "count(*)"}, Order("a"), size=0.1), "a double")
    rows = [row for k in range(20) for row in run.push(a=0.1 + k * 0.1)] + run.flush()
    assert [row["a"] for row in rows] == [0.1 + k * 0.1 for k in range(20)]


def test_timestamps_are_laid_along_in_microseconds() -> None:
    run = Run(Aggregate({"n": "count(*)"}, Order("t"), size="1 ms"), "t timestamp")
    run.push(t=-5)
    assert run.push(t=994) == []
    assert run.push(t=995) == [{"t": -5, "n": 2}]
