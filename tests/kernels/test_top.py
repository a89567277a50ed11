"""Top over windows that overlap: the first tuples of each window, and a state that holds few of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kernels.test_sequences import SCHEMA, results, stream

from australis.algebra.boxes import Top
from australis.algebra.order import Order
from australis.errors import AlgebraError
from australis.kernels.make import kernel_for


@pytest.mark.parametrize(("size", "advance", "most"), [(700, 1, 3), (40, 3, 5), (100, 100, 2), (2000, 7, 20)])
@pytest.mark.parametrize("cut", [97, 3000])
@pytest.mark.parametrize("by", [("x DESC",), ("x", "at DESC")])
def test_the_first_of_each_window(by: tuple[str, ...], size: int, advance: int, most: int, cut: int) -> None:
    table = stream(3000, 2)
    box = Top(most, by, Order("at", group_by=("g",)), size, advance, align=True)
    rows = table.select(["at", "g", "x"]).to_pylist()
    found: dict[Any, list[Any]] = {}
    for row in results(kernel_for(box, (SCHEMA,)), table, cut):
        found.setdefault((row["window"], row["g"]), []).append((row["rank"], row["at"], row["x"]))
    assert len(found) >= 3000 // advance
    for (window, group), ranked in list(found.items())[:: max(1, len(found) // 300)]:
        inside = [row for row in rows if row["g"] == group and window <= row["at"] < window + size]
        first = sorted(inside, key=lambda row: -row["x"] if len(by) == 1 else (row["x"], -row["at"]))[:most]
        assert ranked == [(rank, row["at"], row["x"]) for rank, row in enumerate(first, 1)]


def test_a_state_holds_only_tuples_that_may_still_come_first() -> None:
    kernel = kernel_for(Top(3, ("x DESC",), Order("at"), 1500, 10), (SCHEMA,))
    windows = kernel.step(kernel.start(), 0, stream(2000, 1), 0).state["windows"]
    kept = len(windows["#0.0"].combine_chunks().flatten())
    assert windows.num_rows > 100
    assert 3 <= kept <= 200


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"n": 0}, "n: is 0"),
        ({"by": ()}, "by: is empty"),
        ({"by": ("y",)}, "by.0."),
        ({"by": ("",)}, "no sort key"),
        ({"size": 0}, "size"),
    ],
)
def test_refusals(change: dict[str, Any], what: str) -> None:
    given: dict[str, Any] = {"n": 2, "by": ("x",), "order": Order("at"), "size": 10, **change}
    with pytest.raises(AlgebraError, match=what):
        Top(**given).output_schemas(SCHEMA)


def test_an_input_must_not_have_the_attributes_that_top_adds() -> None:
    box = Top(1, ("x",), Order("at"), 5)
    with pytest.raises(AlgebraError, match="renames 'rank'"):
        box.output_schemas(*Top(1, ("x",), Order("at"), 5).output_schemas(SCHEMA))
    assert tuple(box.output_schemas(SCHEMA)[0].names) == ("window", "at", "g", "x", "rank")
