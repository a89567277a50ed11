"""Windows that add their rows side by side, or by running sums, get to the last bit what pairs give."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from australis.algebra.boxes import Aggregate
from australis.algebra.expr import Attribute
from australis.algebra.order import Order
from australis.algebra.schema import parse_schema
from australis.kernels.functions import opened, stored_types
from australis.kernels.functions.accumulator import Accumulator, Ranges

SCHEMA = parse_schema("t long, x double, y double, small decimal(6,2), wide decimal(38,0)")
ROWS = 400


def columns(random: np.random.Generator) -> dict[str, pa.Array]:
    """Values whose sums depend on their sequence, and decimals whose sums leave their type and come back."""
    missing = random.random(ROWS) < random.choice([0.0, 0.2])
    doubles = [random.normal(0, 10.0 ** random.integers(-3, 17), ROWS) for _ in "xy"]
    small = [Decimal(int(number)).scaleb(-2) for number in random.integers(-999999, 999999, ROWS)]
    wide = [Decimal(int(number)) * 10**19 for number in random.integers(-(2**62), 2**62, ROWS)]
    return {
        "x": pa.array(doubles[0], mask=missing),
        "y": pa.array(doubles[1]),
        "small": pa.array(small, pa.decimal128(6, 2), mask=missing),
        "wide": pa.array(wide, pa.decimal128(38, 0)),
    }


def ranges(random: np.random.Generator, length: int) -> Ranges:
    """Windows of about a length, some of which begin or end together."""
    lows = np.sort(random.integers(0, ROWS, 300))
    highs = np.maximum.accumulate(np.minimum(lows + random.integers(length // 2, length + 1, 300), ROWS))
    return Ranges(random.permutation(ROWS), random.permutation(300), lows, np.maximum(highs, lows))


def stored(accumulator: Accumulator) -> list[bytes]:
    return [array.to_numpy(zero_copy_only=False).tobytes() for array in accumulator.stored()]


@pytest.mark.parametrize("length", [1, 7, 40, 300])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "text", ["sum(x)", "avg(x)", "var_pop(x)", "corr(x, y)", "sum(small)", "avg(small)", "sum(wide)"]
)
def test_ranges_add_what_pairs_add(text: str, seed: int, length: int) -> None:
    random = np.random.default_rng(seed)
    (call,) = Aggregate({"r": text}, Order("t"), size=1).bind(SCHEMA).functions.calls
    given = columns(random)
    args = [given[arg.name] for arg in call.args if isinstance(arg, Attribute)]
    nothing: list[Any] = [pa.array([], kind) for kind in stored_types(call)]
    by_range, by_pair = opened(call, nothing, args), opened(call, nothing, args)
    for _ in range(2):
        windows = ranges(random, length)
        by_range.add_ranges(windows, 300)
        Accumulator.add_ranges(by_pair, windows, 300)
    assert stored(by_range) == stored(by_pair)


def test_a_decimal_sum_that_left_its_type_on_the_way_is_null() -> None:
    (call,) = Aggregate({"r": "sum(wide)"}, Order("t"), size=1).bind(SCHEMA).functions.calls
    values = pa.array([Decimal(9 * 10**37), Decimal(9 * 10**37), Decimal(-9 * 10**37)], pa.decimal128(38, 0))
    found = opened(call, [pa.array([], kind) for kind in stored_types(call)], [values])
    found.add_ranges(Ranges(np.arange(3), np.arange(2), np.array([0, 1]), np.array([3, 3])), 2)
    assert found.finish(np.arange(2)).to_pylist() == [None, Decimal(0)]
