"""Disorder within a slack by length changes no result of networks by progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from australis import Network, NetworkBuilder, Order, Progress
from australis.algebra.builder import Stream
from australis.kernels.run import PipelineRun
from australis.reference.network import ReferenceRun

RANDOM = st.randoms(use_true_random=False)
Row = dict[str, Any]
Arrivals = list[tuple[str, Row]]
SCHEMA = "t long not null, k int, v int"
INPUTS = ("one", "two")
AT_T = Order("t", by="progress")
BY_K = Order("t", by="progress", group_by=("k",))
FUNCTIONS = {"n": "count(*)", "total": "sum(v)", "most": "max(v)", "kinds": "count(DISTINCT v)"}
IN_ORDER = {"from_v": "first(v)", "to_v": "last(v)", "best": "max_by(k, v)"}
"""Functions that depend on the order of tuples, and so on the arrival of those with one value of `t`."""


def windows(rng: Random) -> dict[str, Any]:
    """The extent of random windows."""
    if rng.random() < 0.2:
        return {"session": rng.randint(1, 12)}
    size = rng.randint(1, 30)
    return {"size": size, "advance": rng.choice([None, rng.randint(1, 30)]), "align": rng.random() < 0.5}


def functions(rng: Random) -> dict[str, str]:
    """Functions of windows; the last value tells the progress of sessions."""
    chosen = dict(rng.sample(sorted({**FUNCTIONS, **IN_ORDER}.items()), 3))
    return {**chosen, "until": "max(t)"}


def sort(stream: Stream, rng: Random) -> Stream:
    return stream.bsort(rng.choice([AT_T, BY_K]))


def window(stream: Stream, rng: Random) -> Stream:
    return stream.aggregate(functions(rng), rng.choice([AT_T, BY_K]), **windows(rng))


def two_stages(stream: Stream, rng: Random) -> Stream:
    """Counts by group, then their greatest over all groups: the order that needed a guess."""
    size = rng.randint(1, 20)
    advance, align = rng.choice([None, 3, 7]), rng.random() < 0.5
    counts = stream.aggregate({"n": "count(*)"}, BY_K, size, advance=advance, align=align)
    step = rng.randint(1, 20)
    return counts.aggregate({"most": "max(n)", "groups": "count(*)"}, AT_T, step, align=True)


def sorted_windows(stream: Stream, rng: Random) -> Stream:
    """Sorted first, then windows over what is in order."""
    return stream.bsort(AT_T).aggregate(functions(rng), BY_K, **windows(rng))


def top(stream: Stream, rng: Random) -> Stream:
    keys = rng.sample(["v DESC", "k", "t", "v"], rng.randint(1, 2))
    return stream.top(rng.randint(1, 4), keys, rng.choice([AT_T, BY_K]), **windows(rng))


def two_stage_top(stream: Stream, rng: Random) -> Stream:
    """The groups with the most tuples of each window."""
    size = rng.randint(1, 20)
    counts = stream.aggregate({"n": "count(*)"}, BY_K, size, align=True)
    return counts.top(2, ["n DESC", "k"], AT_T, rng.randint(1, 30), align=True)


def filtered_and_mapped(stream: Stream, rng: Random) -> Stream:
    """Marks pass through boxes without order."""
    kept = stream.filter(f"v % 3 <> {rng.randint(0, 2)}")
    shifted = kept.map({"t": f"t + {rng.randint(-9, 9)}", "k": "k", "v": "v"})
    return window(shifted, rng)


def distinct(stream: Stream, rng: Random) -> Stream:
    """The first of equal tuples in order of time, not of arrival."""
    return stream.bsort(AT_T).distinct("k", "v", order=AT_T, within=rng.randint(1, 20))


CHAINS: Sequence[Callable[[Stream, Random], Stream]] = (
    sort,
    window,
    two_stages,
    sorted_windows,
    top,
    two_stage_top,
    filtered_and_mapped,
    distinct,
)


def drawn_network(rng: Random, slack: int) -> Network:
    """Some chains over one stream, joins of two streams, and windows over what both have."""
    net = NetworkBuilder("disorder")
    one, two = (net.input(name, SCHEMA, progress=Progress("t", slack=slack)) for name in INPUTS)
    for index, chain in enumerate(rng.sample(CHAINS, 2)):
        chain(one, rng).output(f"chain{index}")
    size = rng.randint(0, 10)
    pairs = one.join(two, "left.k = right.k", size=size, left=AT_T, right=AT_T)
    pairs.output("pairs")
    by_time = Order("left_t", by="progress")
    pairs.aggregate({"pairs": "count(*)"}, by_time, rng.randint(1, 9), align=True).output("counts")
    for how in rng.sample(["left", "right", "full", "semi", "anti"], 2):
        one.join(two, "left.k = right.k", size=size, left=AT_T, right=AT_T, how=how).output(how)
    one.asof(two, "left.k = right.k", left=AT_T, right=AT_T, within=rng.choice([None, 5])).output("asof")
    window(one.union(two), rng).output("both")
    return net.build()


def drawn_rows(rng: Random) -> Arrivals:
    """Tuples of both inputs in order of time. Each has a time of its own, so that the order says all."""
    times = sorted(rng.sample(range(-50, 250), rng.randint(1, 60)))
    return [
        (rng.choice(INPUTS), {"t": t, "k": rng.choice([None, 1, 2, 3]), "v": rng.randint(-9, 9)})
        for t in times
    ]


def shuffled(rng: Random, rows: Arrivals, slack: int) -> Arrivals:
    """The tuples as they arrive if each is delayed by at most the slack."""
    delayed = [(row["t"] + rng.randint(0, slack), index) for index, (_, row) in enumerate(rows)]
    return [rows[index] for _, index in sorted(delayed, key=lambda pair: (pair[0], rng.random()))]


def on_kernels(network: Network, arrivals: Arrivals, rng: Random) -> tuple[dict[str, list[str]], int]:
    """The results by output as a sorted list, and how many tuples were late; batches are cut anywhere."""
    run, found = PipelineRun(network), []
    start = 0
    while start < len(arrivals):
        name = arrivals[start][0]
        end = start + 1
        while end < len(arrivals) and arrivals[end][0] == name and rng.random() < 0.8:
            end += 1
        rows = [row for _, row in arrivals[start:end]]
        found.append(run.push(name, pa.Table.from_pylist(rows, network.inputs[name].schema.arrow), 0))
        start = end
    found.append(run.flush(0))
    late = sum(counters.late for counters in run.counters().values())
    return {
        name: sorted(
            str(row) for part in found for row in part[name].select(_names(network, name)).to_pylist()
        )
        for name in network.outputs
    }, late


def on_reference(network: Network, arrivals: Arrivals) -> dict[str, list[str]]:
    """The same by the meaning."""
    run = ReferenceRun(network)
    emitted = [each for name, row in arrivals for each in run.push_batch(name, [(row, 0)], 0)]
    emitted += run.flush(0)
    return {
        name: sorted(
            str({key: each.values[key] for key in _names(network, name)})
            for each in emitted
            if each.output == name
        )
        for name in network.outputs
    }


def _names(network: Network, output: str) -> list[str]:
    return list(network.output_schema(output).names)


@given(RANDOM)
def test_disorder_within_the_slack_changes_no_result(rng: Random) -> None:
    slack = rng.choice([0, 1, 5, 40, 500])
    network, rows = drawn_network(rng, slack), drawn_rows(rng)
    disordered = shuffled(rng, rows, slack)
    expected, none = on_kernels(network, rows, rng)
    assert none == 0
    found, late = on_kernels(network, disordered, rng)
    assert late == 0
    assert found == expected
    assert on_reference(network, disordered) == expected


@given(RANDOM)
def test_a_tuple_below_the_mark_is_late_and_the_others_count(rng: Random) -> None:
    """Beyond the slack: the results are those of the sorted stream without the late tuples."""
    slack = rng.randint(0, 20)
    net = NetworkBuilder("late")
    one = net.input("one", SCHEMA, progress=Progress("t", slack=slack))
    extent = windows(rng)
    one.aggregate(functions(rng), rng.choice([AT_T, BY_K]), **extent).output("out")
    network = net.build()
    rows = [("one", row) for _, row in drawn_rows(rng)]
    disordered = shuffled(rng, rows, 4 * slack + 5)
    kept, greatest = [], None
    for name, row in disordered:
        if greatest is None or row["t"] >= greatest - slack:
            kept.append((name, row))
        greatest = row["t"] if greatest is None else max(greatest, row["t"])
    found, late = on_kernels(network, disordered, rng)
    assert late == len(rows) - len(kept)
    in_order = sorted(kept, key=lambda pair: pair[1]["t"])
    assert found == on_kernels(network, in_order, rng)[0]
