"""BSort and WSort."""

from __future__ import annotations

import pytest
from tests.reference.running import Run

from australis.algebra.boxes import BSort, WSort
from australis.algebra.order import Order

NAN = float("nan")
SECOND = 1_000_000


def test_bsort_keeps_the_ts_of_its_tuples() -> None:
    run = Run(BSort(Order("a", slack=1)), "a int")
    for a in (2, 1, 3):
        run.push(a=a)
    run.flush()
    assert run.ts == [2, 1, 3]


def test_bsort_lets_the_first_of_equals_leave_first() -> None:
    run = Run(BSort(Order("a", slack=1)), "a int, name string")
    run.push(a=1, name="first")
    assert run.push(a=1, name="second") == [{"a": 1, "name": "first"}]
    assert run.push(a=1, name="third") == [{"a": 1, "name": "second"}]


def test_bsort_emits_a_late_tuple_at_once_and_counts_it() -> None:
    run = Run(BSort(Order("a", slack=1)), "a int")
    for a in (5, 6, 7):
        run.push(a=a)
    assert run.push(a=1) == [{"a": 1}]
    assert run.counts == (1, 0, 0)
    assert run.push(a=6) == [{"a": 6}]  # equal to what is passed, so in order
    assert run.counts == (1, 0, 0)


def test_bsort_has_a_buffer_for_each_group() -> None:
    run = Run(BSort(Order("a", slack=1, group_by=("g",))), "a int, g int")
    assert run.push(a=9, g=1) == []
    assert run.push(a=5, g=2) == []
    assert run.push(a=7, g=2) == [{"a": 5, "g": 2}]
    assert run.push(a=8, g=1) == [{"a": 8, "g": 1}]


def test_at_the_end_bsort_empties_all_groups_by_order_value_ties_by_arrival() -> None:
    run = Run(BSort(Order("a", slack=3, group_by=("g",))), "a int, g int")
    for a, g in ((5, 1), (3, 2), (5, 2), (3, 1), (4, 3)):
        run.push(a=a, g=g)
    assert [(row["a"], row["g"]) for row in run.flush()] == [(3, 2), (3, 1), (4, 3), (5, 1), (5, 2)]
    assert run.flush() == []


# --- WSort


def wsort(*by: str, schema: str = "a int") -> Run:
    return Run(WSort(by or ("a",), "10 s"), schema)


def test_a_tuple_leaves_when_it_has_waited_longer_than_the_timeout() -> None:
    run = wsort()
    run.push(now=0, a=5)
    assert run.tick(10 * SECOND) == []
    assert run.tick(10 * SECOND + 1) == [{"a": 5}]
    assert run.tick(99 * SECOND) == []


def test_all_that_sort_before_a_due_tuple_leave_with_it() -> None:
    run = wsort()
    run.push(now=0, a=5)
    run.push(now=9 * SECOND, a=3)
    run.push(now=9 * SECOND, a=7)
    run.push(now=9 * SECOND, a=4)
    run.push(now=9 * SECOND, a=5)  # after the first 5: it arrived later
    assert run.tick(11 * SECOND) == [{"a": 3}, {"a": 4}, {"a": 5}]
    assert run.flush() == [{"a": 5}, {"a": 7}]


def test_due_tuples_leave_before_the_tuple_that_arrives() -> None:
    run = wsort()
    run.push(now=0, a=5)
    assert run.push(now=11 * SECOND, a=1) == [{"a": 5}]
    assert run.counts == (1, 0, 0)  # and so the 1 is too late


def test_a_tuple_before_the_last_one_emitted_is_late_an_equal_one_is_not() -> None:
    run = wsort()
    run.push(now=0, a=5)
    run.tick(11 * SECOND)
    assert run.push(a=4) == []
    run.push(a=5)
    assert run.counts == (1, 0, 0)
    assert run.flush() == [{"a": 5}]


def test_wsort_sorts_by_several_attributes() -> None:
    run = wsort("a", "b", schema="a int, b string")
    for a, b in ((2, "a"), (1, "z"), (1, "b"), (2, "Z")):
        run.push(a=a, b=b)
    assert [(row["a"], row["b"]) for row in run.flush()] == [(1, "b"), (1, "z"), (2, "Z"), (2, "a")]


@pytest.mark.parametrize(
    ("schema", "ascending"),
    [
        ("a double", [float("-inf"), -1.5, 0.0, float("inf"), NAN]),
        ("a boolean", [False, True]),
        # UTF-8 puts U+FFFD before U+10000, as code points do and as UTF-16 does not.
        ("a string", ["", "A", "a", "ab", "\u00e9", "\ufffd", "\U00010000"]),
    ],
)
def test_wsort_order_of_values(schema: str, ascending: list[object]) -> None:
    run = wsort(schema=schema)
    for value in reversed(ascending):
        run.push(a=value)
    assert [str(row["a"]) for row in run.flush()] == [str(value) for value in ascending]


def test_a_null_sort_attribute_goes_to_the_quarantine() -> None:
    run = wsort("a", "b", schema="a int, b int")
    run.push(a=1, b=None)
    assert run.reasons == ["'b' is NULL, which has no place in an order"]
    assert run.flush() == []
