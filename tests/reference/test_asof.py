"""As-of join: which right tuple is the latest, when that is decided, and what is dropped."""

from __future__ import annotations

from typing import Any

import pytest
from tests.reference.running import Run

from australis.algebra.boxes import AsOf
from australis.algebra.order import Order
from australis.algebra.schema import parse_schema
from australis.errors import AlgebraError

LEFT, RIGHT = 0, 1
SCHEMAS = ("t int, k string, x string", "u int, k string, y string")
Shown = list[tuple[Any, Any]]


def asof(left_slack: int = 0, right_slack: int = 0, **more: Any) -> Run:
    return Run(AsOf(Order("t", left_slack), Order("u", right_slack), "left.k = right.k", **more), *SCHEMAS)


def left(run: Run, t: int, x: str, k: str | None = "a") -> Shown:
    return [(row["x"], row["y"]) for row in run.push(LEFT, t=t, k=k, x=x)]


def right(run: Run, u: int, y: str, k: str | None = "a") -> Shown:
    return [(row["x"], row["y"]) for row in run.push(RIGHT, u=u, k=k, y=y)]


def flush(run: Run) -> Shown:
    return [(row["x"], row["y"]) for row in run.flush()]


def test_the_latest_at_or_before() -> None:
    run = asof()
    for u in (1, 3, 5):
        right(run, u, str(u))
    assert left(run, 2, "t") == [("t", "1")]
    assert left(run, 4, "s") == [("s", "3")]
    assert left(run, 5, "r") == []
    assert right(run, 6, "6") == [("r", "5")]


def test_of_equals_the_one_that_arrived_last() -> None:
    run = asof()
    left(run, 3, "t")
    assert right(run, 3, "first") == []
    assert right(run, 3, "second") == []
    assert right(run, 4, "after") == [("t", "second")]


def test_any_later_tuple_decides_but_only_those_with_the_key_are_taken() -> None:
    run = asof()
    right(run, 1, "mine")
    left(run, 3, "t")
    right(run, 2, "other", k="b")
    assert right(run, 4, "later", k="b") == [("t", "mine")]


def test_a_right_group_decides_for_its_own_key() -> None:
    run = Run(AsOf(Order("t"), Order("u", group_by=("k",)), "left.k = right.k"), *SCHEMAS)
    left(run, 3, "t")
    left(run, 3, "s", k="b")
    assert right(run, 4, "v", k="b") == [("s", None)]
    assert flush(run) == [("t", None)]


def test_what_is_decided_comes_by_order_then_by_arrival() -> None:
    run = asof(left_slack=2)
    right(run, 0, "u")
    for t, x in ((5, "five"), (3, "three"), (5, "again"), (9, "nine")):
        left(run, t, x)
    assert right(run, 6, "v") == [("three", "u"), ("five", "u"), ("again", "u")]
    assert flush(run) == [("nine", "v")]


def test_within_a_limit() -> None:
    run = asof(within=2)
    for u in (1, 9):
        right(run, u, str(u))
    assert left(run, 3, "t") == [("t", "1")]
    assert left(run, 4, "s") == [("s", None)]
    inner = asof(within=2, how="inner")
    right(inner, 1, "1")
    left(inner, 4, "s")
    assert flush(inner) == []


def test_a_null_key_has_no_latest_and_does_not_wait() -> None:
    run = asof()
    right(run, 1, "u", k=None)
    assert left(run, 2, "t", k=None) == [("t", None)]
    assert run.machine.kept == (0, 0)


def test_late_tuples_are_neither_emitted_nor_taken() -> None:
    run = asof()
    right(run, 5, "five")
    assert right(run, 4, "late") == []
    left(run, 5, "t")
    assert left(run, 4, "late") == []
    assert flush(run) == [("t", "five")]
    assert run.counts == (2, 0, 0)


def test_only_what_may_be_asked_is_kept() -> None:
    run = asof()
    for u in (1, 2, 3, 3):
        right(run, u, str(u))
    assert run.machine.kept == (0, 4)
    left(run, 2, "t")
    assert run.machine.kept == (0, 3), "nobody can ask for 1 any more"
    left(run, 7, "s")
    assert run.machine.kept == (1, 1), "of equals only the last is asked for"
    right(run, 8, "8", k="b")
    assert run.machine.kept == (0, 2), "the last one of each key stays"


def test_with_a_limit_nothing_older_is_kept() -> None:
    run = asof(within=2)
    right(run, 1, "1")
    right(run, 9, "9", k="b")
    left(run, 4, "t")
    assert run.machine.kept == (0, 1)


def test_the_ts_is_that_of_the_older_tuple() -> None:
    run = asof()
    right(run, 1, "u")
    left(run, 2, "t")
    left(run, 2, "s", k="b")
    run.flush()
    assert run.ts == [1, 3]


@pytest.mark.parametrize(
    ("box", "message"),
    [
        (
            AsOf(Order("t"), Order("u"), "left.k = right.k and left.x < right.y"),
            "predicate: .*does not equate",
        ),
        (AsOf(Order("t"), Order("u"), "left.t = right.u + 1"), "predicate: .*does not equate"),
        (
            AsOf(Order("t"), Order("u", group_by=("y",)), "left.k = right.k"),
            r"right\.group_by: 'y' is in no equality",
        ),
        (AsOf(Order("t"), Order("k")), r"right\.on"),
        (AsOf(Order("t"), Order("u"), within="1 s"), "within: '1 s' is not a size"),
    ],
)
def test_what_does_not_fit_is_refused(box: AsOf, message: str) -> None:
    with pytest.raises(AlgebraError, match=message):
        box.output_schemas(*map(parse_schema, SCHEMAS))


def test_how_is_left_or_inner() -> None:
    with pytest.raises(AlgebraError, match="how: is 'full'; expected one of left, inner"):
        AsOf(Order("t"), Order("u"), how="full")
