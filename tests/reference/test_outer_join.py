"""Outer joins, semijoins and antijoins: what comes alone, when, and in which sequence."""

from __future__ import annotations

from typing import Any

import pytest
from tests.reference.running import Run

from australis.algebra.boxes import Join
from australis.algebra.order import Order
from australis.algebra.schema import parse_schema
from australis.errors import AlgebraError

LEFT, RIGHT = 0, 1
SCHEMAS = ("a int, g int, x string", "b int, h int, y string")
Shown = list[tuple[Any, Any]]


def joined(how: str, size: int = 2, slack: int = 0, predicate: str = "left.g = right.h") -> Run:
    return Run(Join(predicate, size, Order("a", slack), Order("b", slack), how), *SCHEMAS)


def looked_up(how: str) -> Run:
    run = Run(Join("left.g = right.h", how=how, table="right"), *SCHEMAS)
    for b, h, y in ((1, 1, "p"), (2, 1, "q"), (3, 2, "r"), (4, None, "s")):
        run.machine.load({"b": b, "h": h, "y": y})
    return run


def left(run: Run, a: int, g: int | None, x: str) -> Shown:
    return [(row["x"], row.get("y")) for row in run.push(LEFT, a=a, g=g, x=x)]


def right(run: Run, b: int, h: int | None, y: str) -> Shown:
    return [(row.get("x"), row.get("y")) for row in run.push(RIGHT, b=b, h=h, y=y)]


def flush(run: Run) -> Shown:
    return [(row.get("x"), row.get("y")) for row in run.flush()]


def test_a_tuple_comes_alone_when_the_other_side_has_passed_it_strictly() -> None:
    run = joined("left")
    assert left(run, 10, 1, "t") == []
    assert right(run, 12, 2, "u") == []
    assert right(run, 13, 3, "v") == [("t", None)]
    assert flush(run) == []


def test_slack_delays_it_and_a_late_partner_still_counts() -> None:
    run = joined("left", slack=1)
    left(run, 10, 1, "t")
    assert right(run, 20, 2, "u") == []
    assert right(run, 12, 1, "v") == [("t", "v")]
    assert right(run, 21, 2, "w") == []
    assert flush(run) == []


def test_what_a_tuple_finds_comes_before_what_it_lets_go() -> None:
    run = joined("full", size=5)
    for a, x in ((1, "one"), (3, "three"), (2, "two"), (3, "again"), (7, "seven")):
        left(run, a, 1 if x == "seven" else 9, x)
    assert right(run, 9, 1, "u") == [("seven", "u"), ("one", None), ("three", None), ("again", None)]
    assert run.counts == (1, 0, 0)


def test_a_tuple_that_is_passed_when_it_arrives_comes_at_once() -> None:
    run = joined("full")
    right(run, 20, 1, "u")
    assert left(run, 10, 1, "t") == [("t", None)]
    assert left(run, 23, 2, "v") == [(None, "u")]


def test_a_null_key_has_no_partner() -> None:
    run = joined("full")
    assert left(run, 1, None, "t") == [("t", None)]
    assert right(run, 1, None, "u") == [(None, "u")]
    assert run.machine.kept == (0, 0)


def test_without_an_equality_only_the_order_decides() -> None:
    run = joined("left", predicate="left.g < right.h")
    assert left(run, 1, None, "t") == []
    assert right(run, 4, 7, "u") == [("t", None)]


def test_the_end_emits_what_waits_by_order_then_left_first() -> None:
    run = joined("full", size=0, slack=9)
    left(run, 5, 1, "t5")
    left(run, 4, 1, "t4")
    right(run, 4, 2, "u4")
    right(run, 5, 1, "u5")
    right(run, 3, 2, "u3")
    assert flush(run) == [(None, "u3"), ("t4", None), (None, "u4")]


def test_only_the_side_that_is_asked_for_comes_alone() -> None:
    for how, expected in (("left", [("t", None)]), ("right", [(None, "u")]), ("inner", [])):
        run = joined(how)
        left(run, 1, 1, "t")
        right(run, 1, 2, "u")
        assert flush(run) == expected


def test_a_tuple_alone_has_nulls_and_its_own_ts() -> None:
    run = joined("right")
    right(run, 1, 1, "u")
    assert run.flush() == [{"a": None, "g": None, "x": None, "b": 1, "h": 1, "y": "u"}]
    assert run.ts == [1]


def test_semi_emits_a_left_tuple_once_with_its_own_attributes() -> None:
    run = joined("semi")
    left(run, 2, 1, "late")
    left(run, 1, 1, "t")
    left(run, 2, 1, "s")
    assert run.push(RIGHT, b=2, h=1, y="u") == [
        {"a": 2, "g": 1, "x": "late"},
        {"a": 2, "g": 1, "x": "s"},
    ]
    assert right(run, 2, 1, "v") == []
    assert left(run, 3, 1, "w") == [("w", None)]
    assert run.machine.kept == (0, 2)


def test_anti_emits_those_without_a_partner() -> None:
    run = joined("anti")
    left(run, 1, 1, "t")
    left(run, 1, 2, "s")
    assert right(run, 1, 1, "u") == []
    assert right(run, 9, 1, "v") == [("s", None)]
    assert flush(run) == []


def test_the_group_with_its_key_decides() -> None:
    sides = Order("a", group_by=("g",)), Order("b", group_by=("h",))
    run = Run(Join("left.g = right.h", 2, *sides, "left"), *SCHEMAS)
    left(run, 1, 1, "t")
    left(run, 1, 2, "s")
    assert right(run, 9, 1, "u") == [("t", None)]
    assert flush(run) == [("s", None)]


@pytest.mark.parametrize(
    ("how", "side"), [("left", "right"), ("anti", "right"), ("right", "left"), ("full", "left")]
)
def test_groups_that_the_predicate_does_not_equate_decide_nothing(how: str, side: str) -> None:
    grouped = {"left": Order("a"), "right": Order("b")} | {
        side: Order("a", group_by=("x",)) if side == "left" else Order("b", group_by=("y",))
    }
    box = Join("left.g = right.h", 1, grouped["left"], grouped["right"], how)
    with pytest.raises(AlgebraError, match=rf"{side}\.group_by: .* is in no equality.* or no group_by"):
        box.output_schemas(*map(parse_schema, SCHEMAS))
    inner = Join("left.g = right.h", 1, grouped["left"], grouped["right"], "semi")
    assert inner.output_schemas(*map(parse_schema, SCHEMAS))[0].names == ("a", "g", "x")


def test_attributes_of_the_other_side_may_be_null() -> None:
    schemas = [parse_schema("a int not null"), parse_schema("b int not null")]
    nullable = {
        how: [f.nullable for f in Join("true", 1, Order("a"), Order("b"), how).output_schemas(*schemas)[0]]
        for how in ("inner", "left", "right", "full", "semi", "anti")
    }
    assert nullable == {
        "inner": [False, False],
        "left": [False, True],
        "right": [True, False],
        "full": [True, True],
        "semi": [False],
        "anti": [False],
    }


# --- stored tables


def test_a_lookup_without_an_order_takes_tuples_as_they_come() -> None:
    run = looked_up("inner")
    assert left(run, 9, 1, "t") == [("t", "p"), ("t", "q")]
    assert left(run, 1, 2, "u") == [("u", "r")]
    assert run.push(LEFT, a=None, g=2, x="v") == [{"a": None, "g": 2, "x": "v", "b": 3, "h": 2, "y": "r"}]
    assert run.counts == (0, 0, 0)


def test_what_a_lookup_does_with_unknown_keys() -> None:
    for how, known, unknown in (
        ("left", [("t", "p"), ("t", "q")], [("u", None)]),
        ("semi", [("t", None)], []),
        ("anti", [], [("u", None)]),
    ):
        run = looked_up(how)
        assert left(run, 1, 1, "t") == known
        assert left(run, 1, 7, "u") == unknown
        assert left(run, 1, None, "u") == unknown
        assert flush(run) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": "right", "right": Order("b")}, "right: has an order, but is the stored table"),
        ({"table": "middle"}, "table: is 'middle'; expected one of left, right"),
        ({"table": "right", "size": 1}, "size: is 1"),
        (
            {"table": "right", "how": "full"},
            r"how: is full, but right is a stored table.* inner, left, semi, anti",
        ),
        ({"table": "left", "how": "semi"}, "how: is semi, but left is a stored table"),
        (
            {"how": "outer", "size": 1, "left": Order("a"), "right": Order("b")},
            "how: is 'outer'; expected one of",
        ),
        ({}, "neither side has an order; expected .* table: right"),
    ],
)
def test_what_a_join_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(AlgebraError, match=message):
        Join("left.g = right.h", **arguments)
