"""Windows that overlap are laid as ranges: the same results and states as from pairs, to the last bit."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.kernels.running import Run

from australis.algebra.boxes import Aggregate
from australis.algebra.order import Order
from australis.algebra.user_functions import register_aggregate, register_arrow_aggregate
from australis.kernels.state import pack
from australis.kernels.windows import Releases, open_windows
from australis.kernels.windows.sliding import ascends
from australis.kernels.windows.windows import Slots

SCHEMA = "t long, g int, x double, n long, d decimal(6,2), s string"
CALLS = {
    "c": "count(*)",
    "cx": "count(x)",
    "sx": "sum(x)",
    "sn": "sum(n)",
    "sd": "sum(d)",
    "ad": "avg(d)",
    "ax": "avg(x)",
    "an": "avg(n)",
    "lo": "min(x)",
    "hi": "max(s)",
    "by": "max_by(s, x)",
    "f": "first(x)",
    "l": "last(s)",
    "fo": "first(s order by x desc)",
    "v": "stddev(x)",
    "co": "corr(x, n)",
    "m": "median(x)",
    "dc": "count(distinct s)",
    "mf": "median(x) filter (where n > 0)",
    "ff": "first(s) filter (where n > 2)",
    "li": "array_join(collect_list(s, 3), '|')",
    "u": "`sliding:joined`(s)",
    "uc": "`sliding:combined`(s)",
    "ua": "`sliding:arrow`(s)",
}
PAIRS_ONLY = 2**40

register_aggregate(
    "sliding:joined",
    init=lambda: "",
    incr=lambda state, text: f"{state}{text}",
    final=lambda state: state,
    takes=("string",),
    returns="string",
)
register_aggregate(
    "sliding:combined",
    init=lambda: "",
    incr=lambda state, text: f"{state}{text}",
    final=lambda state: state,
    combine=lambda one, other: one + other,
    takes=("string",),
    returns="string",
)


def extended(states: pa.RecordBatch, windows: pa.Array, texts: pa.Array) -> dict[str, pa.Array]:
    found = states["text"].to_pylist()
    for window, text in zip(windows.to_pylist(), texts.to_pylist(), strict=True):
        found[window] += str(text)
    return {"text": pa.array(found, pa.string())}


def concatenated(states: pa.RecordBatch, following: pa.RecordBatch) -> dict[str, pa.Array]:
    return {"text": pc.binary_join_element_wise(states["text"], following["text"], "")}


register_arrow_aggregate(
    "sliding:arrow",
    state={"text": pa.string()},
    init={"text": ""},
    update=extended,
    finish=lambda states: states["text"],
    combine=concatenated,
    takes=("string",),
    returns="string",
)


def tuples(count: int) -> list[tuple[Any, ...]]:
    """Tuples of a few groups, nearly in order, with gaps, NULLs and sums that depend on their sequence."""
    draw, at, found = random.Random(7), 0, []
    for _ in range(count):
        at += draw.choice([0, 0, 1, 1, 1, 2, 40])
        x = draw.choice([None, 0.1, -0.0, 1e16, -1e16, 3.3, float("nan")])
        s = draw.choice([None, "", "same beginning a", "same beginning b", "z"])
        n, d = draw.choice([None, -5, 2, 2**62]), draw.choice([None, "-0.01", "9999.99", "-9999.99", "3"])
        found.append((at + draw.randrange(3), draw.randrange(3), x, n, d and Decimal(d), s))
    return found


def ran(box: Aggregate, cut: int, overlap_least: int) -> tuple[list[Any], list[bytes]]:
    """All results, and the states on the way."""
    found, states = [], []
    with mock.patch.object(open_windows, "OVERLAP_LEAST", overlap_least):
        run, rows = Run(box, SCHEMA), tuples(120)
        for begin in range(0, len(rows), cut):
            found += [repr(row) for row in run.push(0, *rows[begin : begin + cut])]
            found += [run.ts, run.causes]
            states.append(pack(run.state))
    return found, states


@pytest.mark.parametrize("cut", [1, 17, 120])
@pytest.mark.parametrize(("size", "advance", "more"), [(12, 1, {}), (9, 2, {"align": True}), (7, 3, {})])
def test_ranges_give_what_pairs_give(cut: int, size: int, advance: int, more: dict[str, Any]) -> None:
    box = Aggregate(CALLS, Order("t", 2, ("g",)), size=size, advance=advance, **more)
    results, states = ran(box, cut, overlap_least=1)
    expected, states_expected = ran(box, cut, PAIRS_ONLY)
    assert results == expected
    assert sum(isinstance(each, str) for each in results) > 50
    assert states == states_expected


def test_windows_by_number_of_tuples() -> None:
    box = Aggregate({"c": "count(*)", "sx": "sum(x)", "m": "median(x)"}, Order("Tup#", 0, ("g",)), 6, 1)
    assert ran(box, 11, overlap_least=1) == ran(box, 11, PAIRS_ONLY)


def test_parts_of_windows_are_combined() -> None:
    calls = {"incr": 0, "combine": 0}

    def incr(state: int, number: int) -> int:
        calls["incr"] += 1
        return state + number

    def combine(one: int, other: int) -> int:
        calls["combine"] += 1
        return one + other

    whole = {"init": lambda: 0, "incr": incr, "final": lambda state: state, "combine": combine}
    register_aggregate("sliding:counted", **whole, takes=("long",), returns="long")
    run = Run(Aggregate({"n": "`sliding:counted`(t)"}, Order("t"), size=200, advance=1), "t long")
    found = run.push(0, *((number,) for number in range(1000)))
    assert found == [(start, sum(range(start, start + 200))) for start in range(800)]
    assert calls["incr"] <= 2 * 1000
    assert calls["combine"] <= 4 * 1000


def test_parts_of_windows_over_arrow_arrays_are_combined() -> None:
    """Groups stay apart, and the rows that a call gets do not grow with the overlap but for its logarithm."""
    calls = {"update": 0, "combine": 0}

    def update(states: pa.RecordBatch, windows: pa.Array, numbers: pa.Array) -> dict[str, Any]:
        calls["update"] += len(numbers)
        total, group = (states[name].to_numpy().copy() for name in ("total", "group"))
        np.add.at(total, windows.to_numpy(), numbers.to_numpy())
        group[windows.to_numpy()] = numbers.to_numpy() % 2
        return {"total": total, "group": group}

    def combine(states: pa.RecordBatch, following: pa.RecordBatch) -> dict[str, Any]:
        calls["combine"] += states.num_rows
        one, other = (batch["group"].to_numpy() for batch in (states, following))
        assert ((one == other) | (one < 0) | (other < 0)).all(), "parts are of one group"
        return {"total": pc.add(states["total"], following["total"]), "group": np.maximum(one, other)}

    register_arrow_aggregate(
        "sliding:totals",
        state={"total": pa.int64(), "group": pa.int64()},
        init={"total": 0, "group": -1},
        update=update,
        finish=lambda states: states["total"],
        combine=combine,
        takes=("long",),
        returns="long",
    )
    box = Aggregate({"n": "`sliding:totals`(t)"}, Order("t", 0, ("g",)), size=400, advance=2)
    run = Run(box, "t long, g long")
    found = run.push(0, *((number, number % 2) for number in range(2000)))
    assert found == [(start, start % 2, sum(range(start, start + 400, 2))) for start in range(1600)]
    assert calls["update"] <= 2 * 2000
    assert calls["combine"] <= 2000 * 2 * 9


def test_rows_that_do_not_ascend_are_noticed() -> None:
    one = np.zeros(1, np.int64)
    slots = Slots(one, one, np.array([5]), np.array([9]), np.zeros(1, np.bool_), one - 1)

    def ascending(*values: int, tail: int = -1) -> bool:
        group = np.zeros(len(values), np.int64)
        return bool(ascends(Releases(group, group, np.array(values)), np.array([tail]), slots))

    assert ascending(1, 1, 3)
    assert not ascending(1, 3, 2)
    assert ascending(5, 6, tail=0)
    assert not ascending(4, 6, tail=0), "the open window begins at 5"
