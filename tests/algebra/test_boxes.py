"""What every box must declare about itself: nothing is assumed of a box that does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from australis.algebra.boxes import (
    BOXES,
    Aggregate,
    AsOf,
    Box,
    BSort,
    Changes,
    Distinct,
    Drop,
    Earlier,
    Filter,
    Join,
    Lag,
    Map,
    Number,
    Resample,
    Slide,
    Top,
    Tumble,
    Union,
    Unnest,
    WSort,
    XSection,
)
from australis.algebra.boxes.box import Composed
from australis.algebra.order import Order
from australis.algebra.schema import Schema, parse_schema
from australis.algebra.user_functions import register_aggregate, register_function

SAID = {
    "output_schemas",
    "ordered",
    "keeps_tuples",
    "copies_tuples",
    "pairs_inputs",
    "timeout_us",
    "partition_keys",
    "expressions",
    "window_functions",
    "rejects",
    "reads",
    "origins",
}
SCHEMA = parse_schema("at int, k int, g string")
AT = Order("at")


def concrete(box: type[Box] = Box) -> Iterator[type[Box]]:
    """The boxes of the product, found as subclasses."""
    for each in box.__subclasses__():
        if each.__module__.startswith("australis.") and not each.__abstractmethods__:
            yield each
        yield from concrete(each)


def test_no_answer_has_a_default() -> None:
    assert Box.__abstractmethods__ == SAID


def test_every_box_can_be_named_in_a_network() -> None:
    assert set(concrete()) == set(BOXES.values())


@pytest.mark.parametrize("box", BOXES.values(), ids=list(BOXES))
def test_a_box_answers_itself_or_by_its_core_or_family(box: type[Box]) -> None:
    said = box.__dict__.keys()
    for family in (Composed, Earlier):
        said |= family.__dict__.keys() if issubclass(box, family) else set()
    assert said >= SAID
    assert box.is_pure is Box.is_pure


def test_a_box_that_says_nothing_cannot_be_made() -> None:
    class Silent(Box):
        kind = "silent"

    with pytest.raises(TypeError, match=", ".join(f"'?{name}'?" for name in sorted(SAID))):
        Silent()  # type: ignore[abstract]


@pytest.mark.parametrize("silent_on", sorted(SAID))
def test_a_box_that_leaves_one_answer_out_cannot_be_made(silent_on: str) -> None:
    answers: dict[str, Any] = {name: None for name in SAID if name != silent_on}
    with pytest.raises(TypeError, match=silent_on):
        type("Quiet", (Box,), answers)()
    type("Told", (Box,), {**answers, silent_on: None})()


# --- what the boxes say


@pytest.fixture(scope="module", autouse=True)
def _user_functions() -> None:
    register_function("odd:same", lambda values: values, takes=("int",), returns="int")
    register_aggregate(
        "odd:count", init=int, incr=lambda n, _: n + 1, final=int, takes=("int",), returns="long"
    )


BOTH = Join("left.k = right.k", 1, AT, AT)
PURE: list[Box] = [
    Filter(("k > 1",)),
    Map({"k": "k + 1"}),
    Union(),
    BSort(AT),
    WSort(("k",), "1 s"),
    Top(2, ("k DESC",), Order("k"), 5),
    Aggregate({"n": "sum(k)"}, AT, 1, advance_when="k > 1"),
    Tumble({"n": "sum(k)"}, ("g",)),
    Slide({"n": "sum(k)"}, 2),
    XSection({"n": "sum(k)"}, "at"),
    Changes(("k",), ("g",), {"was": "k"}),
    Lag({"before": "k"}, ("g",)),
    Distinct(("k",), AT, 1),
    BOTH,
    AsOf(AT, AT, "left.k = right.k"),
    Resample({"n": "sum(k)"}, 1, AT, AT),
    Number("n", ("g",)),
    Unnest("split(g, ',')", "part"),
    Drop(0.5),
]
IMPURE: list[Box] = [
    Filter(("k > 1", "`odd:same`(k) > 1")),
    Map({"k": "k", "j": "1 + `odd:same`(k)"}),
    Aggregate({"n": "sum(`odd:same`(k))"}, AT, 1),
    Aggregate({"n": "`odd:count`(k)"}, AT, 1),
    Aggregate({"n": "sum(k)"}, AT, 1, advance_when="`odd:same`(k) > 1"),
    Tumble({"n": "sum(`odd:same`(k))"}, ("g",)),
    Tumble({"n": "`odd:count`(k)"}, ("g",)),
    Slide({"n": "`odd:count`(k)"}, 2),
    XSection({"n": "sum(`odd:same`(k))"}, "at"),
    Changes(("k",), ("g",), {"was": "`odd:same`(k)"}),
    Lag({"before": "`odd:same`(k)"}, ("g",)),
    Join("left.k = `odd:same`(right.k)", 1, AT, AT),
    Resample({"n": "sum(`odd:same`(k))"}, 1, AT, AT),
    Resample({"n": "`odd:count`(k)"}, 1, AT, AT),
]


def schemas_of(box: Box) -> tuple[Schema, ...]:
    return (SCHEMA,) * box.arity[0]


def test_all_boxes_are_asked() -> None:
    assert {type(box) for box in PURE} == set(BOXES.values())


@pytest.mark.parametrize("box", PURE, ids=str)
def test_a_box_without_functions_of_the_user_is_pure(box: Box) -> None:
    assert box.is_pure(*schemas_of(box))


@pytest.mark.parametrize("box", IMPURE, ids=str)
def test_a_box_with_a_function_of_the_user_is_not(box: Box) -> None:
    assert not box.is_pure(*schemas_of(box))


def test_what_boxes_do_to_tuples() -> None:
    assert {type(box) for box in PURE if not box.ordered} == {Filter, Map, Union, Unnest}
    copying = {Filter, Union, BSort, WSort, Top, Drop, Join, AsOf, Changes, Lag, Distinct, Number, Unnest}
    assert {type(box) for box in PURE if box.copies_tuples} == copying
    assert {type(box) for box in PURE if box.keeps_tuples} == {BSort, WSort, Top, Join, AsOf, Resample}
    assert {type(box) for box in PURE if box.pairs_inputs} == {Join}


def test_timeouts_are_in_microseconds() -> None:
    windows = [
        Aggregate({"n": "count(*)"}, AT, 1, timeout="2 s"),
        Tumble({"n": "count(*)"}, ("g",), "2 s"),
        Slide({"n": "count(*)"}, 2, timeout="2 s"),
        XSection({"n": "count(*)"}, "at", timeout="2 s"),
    ]
    assert [box.timeout_us for box in windows] == [2_000_000] * 4
    assert WSort(("k",), "3 ms").timeout_us == 3_000


def test_a_join_with_a_table_says_which_side_and_by_what() -> None:
    assert BOTH.table_side is None
    assert BOTH.lookup_keys(SCHEMA, SCHEMA) == ()
    table = Join("left.k = right.at and left.g > right.g", left=AT)
    assert table.table_side == 1
    assert table.lookup_keys(SCHEMA, SCHEMA) == ("at",)
