"""By progress, a group of which nothing is open takes no space, and comes again as if it were new."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from australis import Network, NetworkBuilder, Order, Progress
from australis.kernels.run import PipelineRun

BY_KEY = Order("at", by="progress", group_by=("k",))


def network(order: Order = BY_KEY, **windows: Any) -> Network:
    net = NetworkBuilder("keys")
    stream = net.input("s", "k long not null, at long not null", progress=Progress("at", slack=5))
    stream.aggregate({"n": "count(*)"}, order, as_="count", **windows).output("counts")
    return net.build()


def known(run: PipelineRun) -> int:
    """How many groups the state has."""
    return int(run.state["count"]["groups"].num_rows)


def push(run: PipelineRun, keys: list[int], at: int) -> list[tuple[int, int, int]]:
    emitted = run.push("s", pa.table({"k": keys, "at": [at] * len(keys)}), 0)["counts"]
    return [(row["at"], row["k"], row["n"]) for row in emitted.to_pylist()]


@pytest.mark.parametrize(
    "windows", [{"size": 10, "align": True}, {"size": 20, "advance": 5, "align": True}, {"session": 4}]
)
def test_ever_new_keys_take_no_more_space(windows: dict[str, Any]) -> None:
    run = PipelineRun(network(**windows))
    sizes = []
    for step in range(50):
        push(run, list(range(100 * step, 100 * step + 100)), 10 * step)
        sizes.append(known(run))
    assert max(sizes[5:]) == min(sizes[5:]) <= 400


def test_a_key_comes_again_as_if_it_were_new() -> None:
    run = PipelineRun(network(size=10, align=True))
    push(run, [1, 2, 1], 3)
    assert push(run, [2], 50) == [(0, 1, 2), (0, 2, 1)]
    assert known(run) == 1
    assert push(run, [1], 51) == []
    assert push(run, [3], 90) == [(50, 1, 1), (50, 2, 1)]


@pytest.mark.parametrize("windows", [{"size": 10}, {"size": 10, "align": True, "empty": True}])
def test_where_windows_depend_on_earlier_ones_groups_stay(windows: dict[str, Any]) -> None:
    """Where the first window began, or which empty one is next."""
    run = PipelineRun(network(**windows))
    push(run, [1], 3)
    push(run, [2], 90)
    assert known(run) == 2
