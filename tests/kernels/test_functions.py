"""Each window function over windows given as pairs (slot, row), against results worked out by hand."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from australis.algebra.expr import WindowCall, parse_window
from australis.algebra.schema import parse_schema
from australis.algebra.user_functions import register_aggregate
from australis.errors import KernelError
from australis.kernels.expressions import evaluate
from australis.kernels.functions import apply, opened, stored_types

SCHEMA = parse_schema(
    "i int, l long, x double, s string, b boolean, t timestamp, d decimal(6,2), w decimal(38,2)"
)
NAN = float("nan")
HUGE = Decimal("9" * 36 + ".99")
LEAST = HUGE.copy_negate()

# Window 0 has rows 0, 2, 4 and window 1 rows 1, 3; rows are added in this order, window 2 has none.
SLOTS = np.array([0, 1, 0, 1, 0])
ROWS = np.arange(5)


def windows(text: str, name: str, values: list[Any], slots: Any = SLOTS, count: int = 3) -> list[Any]:
    """The results of the one call in a text: at once and also cut at every place, which must agree."""
    [call] = parse_window(text).bind(SCHEMA).calls
    table = pa.table({name: pa.array(values, SCHEMA[name].type.arrow)})
    args = [evaluate(arg, table) for arg in call.inputs]
    whole = apply(call, args, slots, np.arange(len(slots)), count).to_pylist()
    for cut in range(len(slots) + 1):
        assert str(in_two_steps(call, args, slots, count, cut)) == str(whole)
    return whole


def in_two_steps(call: WindowCall, args: list[pa.Array], slots: Any, count: int, cut: int) -> list[Any]:
    """The results when the rows come in two batches; the state between them has the windows with tuples."""
    nothing = [pa.array([], kind) for kind in stored_types(call)]
    first = opened(call, nothing, [arg[:cut] for arg in args])
    first.add(slots[:cut], np.arange(cut), count)
    used = np.unique(slots[:cut])[::-1]
    first.keep(used)
    stored = first.stored()
    assert tuple(array.type for array in stored) == stored_types(call)
    second = opened(call, stored, [arg[cut:] for arg in args])
    moved = np.argsort([*used, *sorted({*range(count)} - {*used})])
    second.add(moved[slots[cut:]], np.arange(len(slots) - cut), count)
    return second.finish(moved).to_pylist()  # type: ignore[no-any-return]


def test_counts_ignore_nulls_unless_of_rows() -> None:
    assert windows("count(*)", "x", [1.0, None, 2.0, None, None]) == [3, 2, 0]
    assert windows("count(x)", "x", [1.0, None, 2.0, None, None]) == [2, 0, 0]


def test_sum_of_whole_numbers_wraps_around() -> None:
    assert windows("sum(i)", "i", [1, None, 2, None, -5]) == [-2, None, None]
    assert windows("sum(l)", "l", [2**63 - 1, 7, 1, 8, None]) == [-(2**63), 15, None]


def test_sum_of_doubles_is_added_in_order() -> None:
    assert windows("sum(x)", "x", [0.1, 5.0, 0.2, NAN, 0.3])[0] == (0.1 + 0.2) + 0.3
    assert math.isnan(windows("sum(x)", "x", [0.1, 5.0, 0.2, NAN, 0.3])[1])
    assert windows("sum(x)", "x", [1e16, 0.0, 1.0, 0.0, -1e16])[0] == 0.0


def test_average() -> None:
    assert windows("avg(x)", "x", [1.0, None, 2.0, None, 6.0]) == [3.0, None, None]
    assert windows("avg(i)", "i", [1, 1, 2, 2, None]) == [1.5, 1.5, None]


def test_sum_of_decimals_is_exact_and_null_on_overflow() -> None:
    found = windows(
        "sum(d)", "d", [Decimal("0.01"), Decimal("-9999.99"), Decimal("0.02"), None, Decimal("9999.99")]
    )
    assert found == [Decimal("10000.02"), Decimal("-9999.99"), None]
    assert windows("sum(w)", "w", [HUGE, LEAST, LEAST, LEAST, HUGE]) == [HUGE, None, None]
    assert windows("sum(w)", "w", [HUGE, LEAST, Decimal("0.01"), HUGE, Decimal("-0.01")]) == [
        None,
        Decimal("0.00"),
        None,
    ]


def test_average_of_decimals_is_rounded_half_up() -> None:
    thirds = [Decimal("0.01"), Decimal("-0.01"), Decimal("0.01"), Decimal("-0.01"), Decimal("0.03")]
    assert windows("avg(d)", "d", thirds) == [Decimal("0.016667"), Decimal("-0.010000"), None]
    assert windows("avg(w)", "w", [HUGE, HUGE, HUGE, LEAST, LEAST])[1] == Decimal(0)


def test_least_and_greatest() -> None:
    assert windows("min(x)", "x", [2.0, NAN, 1.0, None, NAN])[:1] == [1.0]
    assert math.isnan(windows("min(x)", "x", [2.0, NAN, 1.0, None, NAN])[1])
    assert math.isnan(windows("max(x)", "x", [2.0, -math.inf, 1.0, math.inf, NAN])[0])
    assert windows("max(x)", "x", [2.0, -math.inf, 1.0, math.inf, None])[1:] == [math.inf, None]
    assert windows("min(i)", "i", [-3, 5, -4, None, 0]) == [-4, 5, None]
    assert windows("max(b)", "b", [False, False, True, None, False]) == [True, False, None]
    assert windows("max(d)", "d", [Decimal("1.5"), None, Decimal("-2"), None, None]) == [
        Decimal("1.50"),
        None,
        None,
    ]
    assert windows("min(w)", "w", [Decimal("9" * 36), None, Decimal("-1"), None, None])[0] == Decimal("-1.00")


def test_texts_compare_by_their_bytes() -> None:
    values = ["b", "é", "z", None, "é"]
    assert windows("max(s)", "s", values) == ["é", "é", None]
    assert windows("min(s)", "s", values) == ["b", "é", None]
    # In UTF-16 units, but not in UTF-8 bytes, the second would come first.
    assert windows("max(s)", "s", ["\uffff", "", "\U0001f600", "", ""])[0] == "\U0001f600"


def test_of_equal_zeros_the_first_is_kept() -> None:
    assert math.copysign(1.0, windows("min(x)", "x", [-0.0, 1.0, 0.0, 1.0, 0.0])[0]) == -1.0
    assert math.copysign(1.0, windows("max(x)", "x", [0.0, 1.0, -0.0, 1.0, -0.0])[0]) == 1.0


def test_first_and_last_see_nulls() -> None:
    assert windows("first(s)", "s", [None, "b", "c", None, "e"]) == [None, "b", None]
    assert windows("last(s)", "s", [None, "b", "c", None, "e"]) == ["e", None, None]


def test_first_and_last_by_keys() -> None:
    values = [3, 4, None, 4, 3]
    assert windows("first(i ORDER BY i DESC)", "i", values) == [3, 4, None]
    assert windows("last(i ORDER BY i)", "i", values) == [None, 4, None]
    assert windows("last(i ORDER BY i DESC)", "i", values) == [None, 4, None]
    assert windows("first(i ORDER BY -i, i DESC) FILTER (WHERE i > 3)", "i", values) == [None, 4, None]
    assert windows("last(i ORDER BY i) FILTER (WHERE i < 4)", "i", values) == [3, None, None]
    # The state of a window without a tuple that passes is not that of one whose key is NULL.
    assert windows("last(i ORDER BY i) FILTER (WHERE i > 3)", "i", [3, 4, None, 1, 5]) == [5, 4, None]
    texts = ["ca", "x", "ba", "y", "cb"]
    assert windows("first(s ORDER BY left(s, 1) DESC, right(s, 1) DESC)", "s", texts) == ["cb", "y", None]
    assert windows("last(s ORDER BY length(s), left(s, 1), right(s, 1))", "s", texts) == ["cb", "y", None]


def test_of_equal_keys_first_takes_the_first_and_last_the_last() -> None:
    texts = ["ca", "x", "ba", "y", "cb"]
    assert windows("first(s ORDER BY left(s, 1) DESC)", "s", texts) == ["ca", "y", None]
    assert windows("last(s ORDER BY left(s, 1))", "s", texts) == ["cb", "y", None]
    assert windows("first(s ORDER BY length(s), NULL)", "s", texts) == ["ca", "x", None]
    assert windows("last(s ORDER BY length(s), NULL)", "s", texts) == ["cb", "y", None]


@pytest.mark.parametrize("way", ["ASC", "DESC"])
def test_a_null_comes_after_every_other_key(way: str) -> None:
    values = [None, -(2**63), 2**63 - 1, None, -(2**63)]
    first = windows(f"first(l ORDER BY l {way})", "l", values)
    assert first == [-(2**63) if way == "ASC" else 2**63 - 1, -(2**63), None]
    assert windows(f"last(l ORDER BY l {way})", "l", values) == [None, None, None]


def test_zeros_are_equal_keys_and_nan_is_the_greatest() -> None:
    assert math.copysign(1.0, windows("first(x ORDER BY x)", "x", [1.0, -0.0, NAN, 0.0, 2.0])[1]) == -1.0
    assert math.copysign(1.0, windows("last(x ORDER BY x)", "x", [1.0, 0.0, NAN, -0.0, 2.0])[1]) == -1.0
    assert math.isnan(windows("last(x ORDER BY x)", "x", [1.0, 0.0, NAN, -0.0, 2.0])[0])


def test_lists_have_the_first_values_without_nulls() -> None:
    values = ["b", None, "a", "c", "b"]
    assert lists("collect_list(s, 2)", values) == [["b", "a"], ["c"], []]
    assert lists("collect_list(s, 1000)", values) == [["b", "a", "b"], ["c"], []]
    assert lists("collect_set(s, 1000)", values) == [["b", "a"], ["c"], []]
    assert lists("collect_set(s, 1)", values) == [["b"], ["c"], []]
    assert lists("collect_list(s, 2) FILTER (WHERE s > 'a')", values) == [["b", "b"], ["c"], []]
    assert lists("collect_list(s, 2) FILTER (WHERE s > 'c')", values) == [[], [], []]


def lists(text: str, values: list[Any]) -> list[Any]:
    """The arrays of a call, which only an expression around it can show."""
    return windows(f"size({text})", "s", values)


def test_deviation_needs_two_values() -> None:
    assert windows("stddev(x)", "x", [1.0, 4.0, 3.0, None, 5.0]) == [2.0, None, None]


def test_variances() -> None:
    values = [1.0, 4.0, 3.0, None, 5.0]
    assert windows("variance(x)", "x", values) == windows("var_samp(x)", "x", values) == [4.0, None, None]
    assert windows("var_pop(x)", "x", values) == [8.0 / 3.0, 0.0, None]
    assert windows("stddev_pop(x)", "x", values) == [math.sqrt(8.0 / 3.0), 0.0, None]


def test_correlation_of_pairs_without_nulls() -> None:
    assert windows("corr(x, -2 * x)", "x", [1.0, 7.0, 2.0, None, 4.0]) == [-1.0, None, None]
    assert windows("corr(x, 1)", "x", [1.0, 7.0, 2.0, 8.0, 4.0]) == [None, None, None]


def test_by_the_least_or_greatest_key() -> None:
    texts = ["c", "aa", "b", None, "bb"]
    assert windows("max_by(s, length(s))", "s", texts) == ["bb", "aa", None]
    assert windows("min_by(s, length(s))", "s", texts) == ["c", "aa", None]
    # The value may be NULL, the key may not.
    assert windows("max_by(nullif(i, 9), i)", "i", [1, None, 9, None, 2]) == [None, None, None]
    assert math.isnan(windows("max_by(x, x)", "x", [1.0, 2.0, NAN, 3.0, 4.0])[0])


def test_filters() -> None:
    values = [None, 4, 3, None, 5]
    assert windows("count(*) FILTER (WHERE i > 3)", "i", values) == [1, 1, 0]
    assert windows("first(i) FILTER (WHERE i > 3 OR i IS NULL)", "i", values) == [None, 4, None]
    assert windows("first(i) FILTER (WHERE i > 3)", "i", values) == [5, 4, None]
    assert windows("last(i) FILTER (WHERE i < 4)", "i", values) == [3, None, None]
    assert windows("median(i) FILTER (WHERE i < 4)", "i", values) == [3.0, None, None]


def test_a_sketch_keeps_its_relative_error() -> None:
    random = np.random.default_rng(3)
    values = np.concatenate([random.lognormal(3, 4, 500), -random.lognormal(0, 2, 300), np.zeros(50)])
    random.shuffle(values)
    one_window = np.zeros(len(values), np.int64)
    for share, accuracy in [(0.0, 0.02), (0.1, 0.2), (0.37, 0.01), (0.5, 0.01), (0.99, 0.001), (1.0, 0.0001)]:
        call = parse_window(f"percentile_sketch(x, {share}, {accuracy})").bind(SCHEMA).call
        assert call is not None
        [found] = apply(call, [pa.array(values)], one_window, np.arange(len(values)), 1).to_pylist()
        exact = np.sort(values)[int(share * (len(values) - 1))]
        assert abs(found - exact) <= accuracy * abs(exact)


def test_a_sketch_of_what_is_no_ordinary_number() -> None:
    assert windows("percentile_sketch(x, 1)", "x", [NAN, math.inf, 1.0, -math.inf, 0.0])[1] == math.inf
    assert math.isnan(windows("percentile_sketch(x, 1)", "x", [NAN, math.inf, 1.0, -math.inf, 0.0])[0])
    assert windows("percentile_sketch(x, 0)", "x", [-0.0, -math.inf, 1.0, 1.0, 5e-324]) == [
        0.0,
        -math.inf,
        None,
    ]
    greatest = windows("percentile_sketch(x, 1)", "x", [1.7e308, None, 1.0, None, 0.0])[0]
    assert greatest == pytest.approx(1.7e308, rel=0.01)


@pytest.mark.parametrize("distinct", [0, 1, 10, 500, 4_000, 30_000, 300_000])
def test_an_approximate_distinct_count_keeps_its_error(distinct: int) -> None:
    values = np.tile(np.arange(distinct) * 17, 2)
    call = parse_window("approx_count_distinct(l)").bind(SCHEMA).call
    assert call is not None
    slots = np.zeros(len(values), np.int64)
    [found] = apply(call, [pa.array(values, pa.int64())], slots, np.arange(len(values)), 1).to_pylist()
    assert found == pytest.approx(distinct, rel=0.05)


def test_approximate_counts_of_few_values_are_exact() -> None:
    assert windows("approx_count_distinct(s)", "s", ["a", "b", "a", None, "c"]) == [2, 1, 0]
    assert windows("approx_count_distinct(x)", "x", [0.0, NAN, -0.0, NAN, 1.0]) == [2, 1, 0]


def test_median_interpolates() -> None:
    assert windows("median(x)", "x", [5.0, 4.0, 1.0, 1.0, 3.0]) == [3.0, 2.5, None]
    assert windows("median(i)", "i", [5, None, 1, None, None]) == [3.0, None, None]
    assert windows("median(x)", "x", [NAN, 4.0, 1.0, 1.0, 3.0])[0] == 3.0


def test_distinct_values_are_equal_as_in_group_by() -> None:
    assert windows("count(distinct x)", "x", [0.0, NAN, -0.0, NAN, None]) == [1, 1, 0]
    assert windows("count(distinct s)", "s", ["a", "a", "b", "a", "a"]) == [2, 1, 0]
    assert windows("count(distinct d)", "d", [Decimal(1), None, Decimal("1.00"), None, Decimal(2)]) == [
        2,
        0,
        0,
    ]


def test_user_aggregates_see_every_tuple() -> None:
    register_aggregate(
        "test_functions:span",
        init=lambda: [],
        incr=lambda state, value: [*state, value],
        final=lambda state: len(state) if None in state else sum(state),
        takes=("double",),
        returns="double",
    )
    assert windows("`test_functions:span`(x)", "x", [1.0, 2.0, 3.0, None, 5.0]) == [9.0, 2.0, 0.0]


def test_a_user_aggregate_that_breaks_its_promise_is_named() -> None:
    register_aggregate(
        "test_functions:liar",
        init=lambda: {1, 2},
        incr=lambda state, value: state,
        final=lambda state: "no number",
        takes=("double",),
        returns="double",
    )
    call = parse_window("`test_functions:liar`(x)").bind(SCHEMA).call
    with pytest.raises(KernelError, match=r"test_functions:liar.*bad result"):
        apply(call, [pa.array([1.0])], np.array([0]), np.array([0]), 1)
    accumulator = opened(call, [pa.array([], pa.string())], [pa.array([1.0])])
    accumulator.add(np.array([0]), np.array([0]), 1)
    with pytest.raises(KernelError, match=r"test_functions:liar.*bad state"):
        accumulator.stored()


@pytest.mark.parametrize("state", [{1: 0}, [{"seen": {None: 1}}], ({2.5: 1},)])
def test_a_state_whose_keys_are_no_texts_is_refused(state: Any) -> None:
    """JSON would give other keys back, so results would depend on where trains are cut."""
    register_aggregate(
        "test_functions:keys",
        init=lambda: state,
        incr=lambda state, value: state,
        final=lambda state: 0.0,
        takes=("double",),
        returns="double",
    )
    call = parse_window("`test_functions:keys`(x)").bind(SCHEMA).call
    accumulator = opened(call, [pa.array([], pa.string())], [pa.array([1.0])])
    accumulator.add(np.array([0]), np.array([0]), 1)
    with pytest.raises(KernelError, match=r"test_functions:keys.*bad state: the key .* is not a text"):
        accumulator.stored()
