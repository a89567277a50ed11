"""Functions that keep the values of windows: windows that overlap share them, also in the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from australis.algebra.boxes import Aggregate
from australis.algebra.expr import parse_window
from australis.algebra.order import Order
from australis.algebra.schema import TS, parse_schema
from australis.kernels.functions import apply, opened, stored_types
from australis.kernels.kernel import Kernel
from australis.kernels.make import kernel_for

SCHEMA = parse_schema("at long, g int, x double")
EXPECTED: dict[str, Callable[[Any], Any]] = {
    "median(x)": np.median,
    "percentile(x, 0.9)": lambda values: np.quantile(values, 0.9),
    "percentile(x, 0)": np.min,
    "percentile(x, 1)": np.max,
    "count(distinct x)": lambda values: len(np.unique(values)),
    "approx_count_distinct(x)": lambda values: len(np.unique(values)),
    "percentile_sketch(x, 0.5, 0.0001)": lambda values: np.quantile(values, 0.5, method="lower"),
}

BOUNDED = ("count(distinct x)", "approx_count_distinct(x)", "percentile_sketch(x, 0.5, 0.0001)")
"""The functions that keep no more than a few numbers for each distinct value, of which there are 50."""


def stream(count: int, groups: int, seed: int = 0) -> pa.Table:
    """Tuples in order, several of them with one order value, and with equal values."""
    random = np.random.default_rng(seed)
    at = np.sort(random.integers(0, count, count))
    columns = [at, random.integers(0, groups, count).astype(np.int32), random.integers(0, 50, count) / 4.0]
    stamps = pa.array(at).view(SCHEMA.arrow_with_ts.field(TS).type)
    return pa.Table.from_arrays([*map(pa.array, columns), stamps], schema=SCHEMA.arrow_with_ts)


def results(kernel: Kernel, table: pa.Table, cut: int) -> list[dict[str, Any]]:
    state, found = kernel.start(), []
    for begin in range(0, table.num_rows, cut):
        step = kernel.step(state, 0, table.slice(begin, cut), 0)
        state, found = step.state, found + step.outputs[0].to_pylist()
    return found + kernel.flush(state, 0).outputs[0].to_pylist()


@pytest.mark.parametrize("text", EXPECTED)
@pytest.mark.parametrize(("size", "advance"), [(700, 1), (40, 3), (100, 100), (2000, 7)])
@pytest.mark.parametrize("cut", [97, 3000])
def test_windows_that_overlap(text: str, size: int, advance: int, cut: int) -> None:
    table = stream(3000, 2)
    box = Aggregate({"f": text}, Order("at", group_by=("g",)), size, advance, align=True)
    at, group, x = (table[name].to_numpy() for name in ("at", "g", "x"))
    found = results(kernel_for(box, (SCHEMA,)), table, cut)
    assert len(found) >= 3000 // advance
    for row in found:
        inside = (at >= row["at"]) & (at < row["at"] + size) & (group == row["g"])
        expected = EXPECTED[text](x[inside])
        tolerance = 1 if "approx" in text else 1e-4 * expected if "sketch" in text else 1e-12
        assert abs(row["f"] - expected) <= tolerance


@pytest.mark.parametrize("text", ["median(x)", *BOUNDED])
def test_a_state_holds_a_value_once_however_many_windows_have_it(text: str) -> None:
    table = stream(2000, 1)
    states = {}
    for advance in (10, 1000):
        kernel = kernel_for(Aggregate({"f": text}, Order("at"), 1000, advance), (SCHEMA,))
        states[advance] = kernel.step(kernel.start(), 0, table, 0).state["windows"]
    values = {advance: len(windows["#0.0"].combine_chunks().flatten()) for advance, windows in states.items()}
    assert states[10].num_rows >= 100 * states[1000].num_rows
    assert values[10] <= 1100
    if text in BOUNDED:
        assert values[1000] <= 50


def accumulated(text: str, rows_of_slots: list[list[int]], values: list[Any], by_row: bool) -> list[Any]:
    """The results over windows with any rows, whose pairs come by row or by window, in two batches."""
    [call] = parse_window(text).bind(parse_schema("x double, s string")).calls
    pairs = [(slot, row) for slot, rows in enumerate(rows_of_slots) for row in rows]
    pairs = sorted(pairs, key=lambda pair: pair[1]) if by_row else pairs
    slots, rows = (np.array(part, np.int64) for part in zip(*pairs, strict=True))
    count, argument = len(rows_of_slots), [pa.array(values)]
    whole = apply(call, argument, slots, rows, count).to_pylist()
    if by_row:
        half = len(pairs) // 2
        first = opened(call, [pa.array([], kind) for kind in stored_types(call)], argument)
        first.add(slots[:half], rows[:half], count)
        first.keep(np.arange(count))
        second = opened(call, first.stored(), argument)
        second.add(slots[half:], rows[half:], count)
        assert second.finish(np.arange(count)).to_pylist() == whole
    return whole  # type: ignore[no-any-return]


LISTED = "cast(cast(4 * x as int) as string)"
LISTS: dict[str, Callable[[Any], list[str]]] = {
    f"collect_list({LISTED}, 5)": lambda values: [f"{4 * value:.0f}" for value in values[:5]],
    f"collect_list({LISTED}, 900)": lambda values: [f"{4 * value:.0f}" for value in values[:900]],
    f"collect_set({LISTED}, 5)": lambda values: list(dict.fromkeys(f"{4 * v:.0f}" for v in values))[:5],
    f"collect_set({LISTED}, 900)": lambda values: list(dict.fromkeys(f"{4 * v:.0f}" for v in values)),
}


@pytest.mark.parametrize("text", LISTS)
@pytest.mark.parametrize(("size", "advance"), [(700, 1), (40, 3), (100, 100), (2000, 7)])
@pytest.mark.parametrize("cut", [97, 3000])
def test_lists_of_windows_that_overlap(text: str, size: int, advance: int, cut: int) -> None:
    table = stream(3000, 2)
    order = Order("at", group_by=("g",))
    box = Aggregate({"f": f"array_join({text}, '|')"}, order, size, advance, align=True)
    at, group, x = (table[name].to_numpy() for name in ("at", "g", "x"))
    found = results(kernel_for(box, (SCHEMA,)), table, cut)
    assert len(found) >= 3000 // advance
    for row in found:
        inside = (at >= row["at"]) & (at < row["at"] + size) & (group == row["g"])
        assert row["f"].split("|") == LISTS[text](x[inside])


@pytest.mark.parametrize(("text", "most"), [("collect_list", 10), ("collect_set", 10), ("collect_set", 900)])
def test_a_state_holds_only_the_first_values_of_each_window(text: str, most: int) -> None:
    table = stream(2000, 1)
    kept = {}
    for advance in (10, 500):
        functions = {"f": f"size({text}({LISTED}, {most}))"}
        kernel = kernel_for(Aggregate(functions, Order("at"), 1000, advance, align=True), (SCHEMA,))
        windows = kernel.step(kernel.start(), 0, table, 0).state["windows"]
        kept[advance] = windows.num_rows, len(windows["#0.0"].combine_chunks().flatten())
    assert [windows for windows, _ in kept.values()] == [100, 2]
    assert kept[10][1] <= 1100
    assert kept[500][1] <= 2 * min(most, 50)


@pytest.mark.parametrize("function", ["collect_list", "collect_set"])
@pytest.mark.parametrize("by_row", [True, False])
def test_lists_of_windows_that_are_not_ends_of_one_sequence(function: str, by_row: bool) -> None:
    random = np.random.default_rng(6)
    for _ in range(50):
        texts = [f"{number}" for number in random.integers(0, 6, 12)]
        windows = [sorted(random.choice(12, random.integers(1, 9), replace=False).tolist()) for _ in range(5)]
        found = accumulated(f"size({function}(s, 3))", windows, texts, by_row)
        listed = [[texts[row] for row in rows] for rows in windows]
        distinct = function == "collect_set"
        assert found == [(list(dict.fromkeys(each)) if distinct else each)[:3] for each in listed]


@pytest.mark.parametrize("text", ["median(x)", "count(distinct x)"])
@pytest.mark.parametrize("by_row", [True, False])
def test_windows_that_are_not_ends_of_one_sequence(text: str, by_row: bool) -> None:
    random = np.random.default_rng(5)
    for _ in range(50):
        values = random.integers(0, 6, 12).astype(float)
        windows = [sorted(random.choice(12, random.integers(1, 9), replace=False).tolist()) for _ in range(5)]
        found = accumulated(text, windows, values.tolist(), by_row)
        assert found == [EXPECTED[text](values[rows]) for rows in windows]
