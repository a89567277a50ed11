"""Empty windows: which are emitted, when, and how many in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from australis import NetworkBuilder, Order
from australis.algebra.boxes import EMPTY_MOST, Aggregate
from australis.algebra.progress import Progress
from australis.algebra.schema import TS
from australis.errors import AlgebraError
from australis.kernels.run import PipelineRun

FUNCTIONS = {"n": "count(*)", "total": "sum(v)"}


def run(rows: Sequence[tuple[int, str]], order: Order, **shape: Any) -> list[list[tuple[Any, ...]]]:
    """What each tuple makes an Aggregate over windows of 10 emit, and then the end."""
    net = NetworkBuilder("gaps")
    source = net.input("s", "at long, g string, v int", progress=Progress("at", 0))
    source.aggregate(FUNCTIONS, order, 10, **{"align": True, "empty": True, **shape}).output("out")
    running = PipelineRun(net.build())
    found = [
        running.push("s", pa.table({"at": [at], "g": [g], "v": pa.array([1], pa.int32())}), now)
        for now, (at, g) in enumerate(rows)
    ]
    return [
        [tuple(v for name, v in row.items() if not name.startswith("#")) for row in each["out"].to_pylist()]
        for each in [*found, running.flush(len(rows))]
    ]


BY_GROUP = Order("at", group_by=("g",))


def test_they_lie_between_two_tuples_of_a_group() -> None:
    assert run([(5, "a"), (7, "b"), (38, "a")], BY_GROUP) == [
        [],
        [],
        [(0, "a", 1, 1), (10, "a", 0, None), (20, "a", 0, None)],
        [(0, "b", 1, 1), (30, "a", 1, 1)],
    ]


def test_marks_close_them_in_all_groups_that_are_known() -> None:
    order = Order("at", group_by=("g",), by="progress")
    assert run([(5, "a"), (18, "b"), (30, "b"), (35, "c")], order) == [
        [],
        [(0, "a", 1, 1)],
        [(10, "a", 0, None), (10, "b", 1, 1), (20, "a", 0, None), (20, "b", 0, None)],
        [],
        [(30, "b", 1, 1), (30, "c", 1, 1)],
    ]


def test_windows_that_overlap_or_leave_gaps() -> None:
    starts = [[row[0] for row in each] for each in run([(3, "a"), (24, "a")], Order("at"), advance=5)]
    assert starts == [[], [-5, 0, 5, 10], [15, 20]]
    starts = [[row[0] for row in each] for each in run([(3, "a"), (47, "a")], Order("at"), advance=15)]
    assert starts == [[], [0, 15, 30], [45]]
    starts = [[row[0] for row in each] for each in run([(3, "a"), (24, "a")], Order("at"), align=False)]
    assert starts == [[], [3, 13], [23]]


def test_only_so_many_in_a_row() -> None:
    rows = run([(5, "a"), (10 * (EMPTY_MOST + 3) + 5, "a")], BY_GROUP)
    assert len(rows[1]) == 1 + EMPTY_MOST
    assert rows[1][-1][0] == 10 * EMPTY_MOST
    assert [row[0] for row in rows[2]] == [10 * (EMPTY_MOST + 3)]


def test_they_have_the_ts_of_the_tuple_before() -> None:
    net = NetworkBuilder("gaps")
    net.input("s", "at long").aggregate({"n": "count(*)"}, Order("at"), 10, align=True, empty=True).output(
        "out"
    )
    running = PipelineRun(net.build())
    running.push("s", pa.table({"at": [5]}), 7)
    found = running.push("s", pa.table({"at": [25]}), 9)["out"]
    assert found[TS].cast(pa.int64()).to_pylist() == [7, 7]


@pytest.mark.parametrize("shape", [{"session": 5}, {"size": 5, "advance_when": "v > 1"}])
def test_only_windows_with_an_advance_can_be_empty(shape: dict[str, Any]) -> None:
    with pytest.raises(AlgebraError, match="empty: is given together with"):
        Aggregate(FUNCTIONS, Order("at"), empty=True, **shape)
