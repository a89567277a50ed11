"""Operators that are slid, split and merged: no tuple is lost or duplicated, and load goes where room is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from tests.policy.route.plans import plans

from australis.errors import SimulationError
from australis.policy.route import sharing
from australis.policy.route.plan import DistributedPlan, Operator, RoutedStream, any_order, plan_of
from australis.policy.route.policies import POLICIES, SCQ, WSCQ
from australis.policy.route.sharing import RULES, Action, Rules
from australis.sim.route.compiled.layout import COPY, NODE, NONE, Arrays, laid_out
from australis.sim.route.compiled.loop import run_until
from australis.sim.route.compiled.sharing import decided_compiled
from australis.sim.route.run import how_of, simulate
from australis.sim.route.world import Links, Sharing, World

NODES = ("n", "m", "k")
RESTLESS = Rules(overloaded=20, much=0.0, slid=1.5, merged=1.5, rest=0.5, calm=0.5)
"""Something is moved nearly every time."""
PAGES = Links(4, 0.5, 0.1, {(a, b): 0.05 for a in NODES for b in NODES if a != b})
FAST = plan_of(
    (Operator("a", 1.0, selectivity=0.5), Operator("b", 1.0, selectivity=0.5)),
    (RoutedStream("x", any_order("a", "b")),),
)


def world_of(plan: DistributedPlan, links: Links = PAGES, rules: Rules = RESTLESS) -> World:
    places = {id_: NODES[place % 2] for place, id_ in enumerate(plan.operators)}
    return World(plan, dict.fromkeys(NODES, 10.0), places, links, sharing=Sharing(1.0, rules))


def checked(arrays: Arrays) -> None:
    """Every tuple that is inside is in one queue or on one link, and no queue has one twice."""
    count, copies = arrays.counts[0], arrays.copies[: arrays.counts[0]["copies"]]
    inside = count["entered"] + count["made"] - count["eaten"] - count["left"]
    assert copies["queued"].sum() + copies["coming"].sum() == inside
    seen: list[tuple[int, int]] = []
    for number, copy in enumerate(copies):
        tup, last = copy["first"], NONE
        while tup != NONE:
            seen.append((int(tup), number))
            tup, last = arrays.tuples[tup]["next"], tup
        assert copy["queued"] == 0 or copy["last"] == last
    assert len({tup for tup, _ in seen}) == len(seen)
    assert all(arrays.tuples[tup]["to"] == number for tup, number in seen)
    for number, copy in enumerate(copies):
        assert sum(to == number for _, to in seen) == copy["queued"]
    spare, tup = 0, count["spare"]
    while tup != NONE:
        spare, tup = spare + 1, arrays.tuples[tup]["next"]
    assert count["fresh"] - spare == inside
    for place, node in enumerate(arrays.nodes):
        assert copies["queued"][copies["node"] == place].sum() == node["queued"]
    for op, operator in enumerate(arrays.operators):
        assert copies["queued"][copies["operator"] == op].sum() == operator["queued"]


def homes_checked(arrays: Arrays) -> None:
    """Every operator has a copy, at most one on a node with a part of it, and is found by all ways there.

    A copy that is gone works off the tuple that it had begun with, and gets no other.
    """
    copies = arrays.copies[: arrays.counts[0]["copies"]]
    assert (copies["queued"][copies["alive"] == 0] <= 1).all()
    alive = copies[copies["alive"] == 1]
    hosted = np.bincount(alive["node"], minlength=len(arrays.nodes))
    assert hosted.tolist() == arrays.nodes["hosted"].tolist()
    work = arrays.operators["work"][alive["operator"]]
    parts = arrays.nodes["capacity"][alive["node"]] / hosted[alive["node"]]
    assert alive["service"] == pytest.approx(work / parts)
    for op, operator in enumerate(arrays.operators):
        chain, number = [], operator["copy"]
        while number != NONE:
            chain.append(int(number))
            number = copies[number]["sibling"]
        assert len(chain) == operator["copies"] > 0
        assert sorted(chain) == sorted(int(each) for each in arrays.homes[op] if each != NONE)
        assert all(copies[each]["alive"] and copies[each]["operator"] == op for each in chain)
        assert all(arrays.homes[op, copies[each]["node"]] == each for each in chain)


@given(plans(), st.sampled_from(sorted(POLICIES)), st.booleans(), st.integers(0, 99), st.floats(2, 30))
@settings(max_examples=40)
def test_no_tuple_is_lost_or_doubled(
    plan: DistributedPlan, policy: str, far: bool, seed: int, rate: float
) -> None:
    world = world_of(plan, PAGES if far else Links())
    arrays, rng = laid_out(world, rate, 1 << 17), np.random.default_rng(seed)
    for until in (10.0, 20.0, 40.0):
        run_until(arrays, how_of(world, POLICIES[policy]), until, rng)
        checked(arrays)
        homes_checked(arrays)


@pytest.mark.parametrize("rate", [10, 17, 25])
def test_tuples_in_transit_to_a_removed_copy_are_forwarded_to_its_heir(rate: float) -> None:
    world = world_of(FAST, replace(PAGES, latency=2.0))
    arrays, rng = laid_out(world, rate, 1 << 17), np.random.default_rng(1)
    for step in range(1, 400):
        run_until(arrays, how_of(world, WSCQ), step / 4, rng)
        homes_checked(arrays)
    checked(arrays)


def test_all_kinds_of_changes_are_among_them() -> None:
    found = [simulate(world_of(FAST), WSCQ, rate, until=200).changes for rate in (10, 17, 25)]
    for kind in ("slid", "split", "merged", "handed"):
        assert sum(getattr(each, kind) for each in found) > 0


def test_a_seed_plays_a_run_again() -> None:
    runs = [simulate(world_of(FAST), WSCQ, 25, until=50, seed=seed) for seed in (7, 7, 8)]
    assert runs[0] == runs[1] != runs[2]


def test_load_goes_where_there_is_room() -> None:
    """The two operators need 30 of 10 + 10, and there are 10 more."""
    rules = RULES._replace(overloaded=100)
    fixed = simulate(replace(world_of(FAST), sharing=None), SCQ, 17, until=400)
    shared = simulate(world_of(FAST, rules=rules), SCQ, 17, until=400)
    assert fixed.inside > 1000
    assert shared.inside < 500
    assert shared.changes.split + shared.changes.slid > 0


def test_it_does_not_come_back() -> None:
    """At a rate that stays the same, what was moved stays moved."""
    early, late = (
        simulate(world_of(FAST, rules=RULES._replace(overloaded=100)), SCQ, 17, until=until).changes
        for until in (300, 1500)
    )
    assert late.split + late.slid <= early.split + early.slid + 1
    assert late.merged <= 1


def test_a_node_that_is_not_overloaded_shares_nothing() -> None:
    found = simulate(world_of(FAST, rules=RULES), SCQ, 8, until=300)
    assert found.changes.handed == found.changes.split == found.changes.slid == 0


NUMBERS = st.floats(0, 100)
MADE_COPIES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), NUMBERS, st.floats(0, 20), st.integers(0, 1)), max_size=8
)


@pytest.fixture(scope="module")
def compiled() -> Callable[..., Action]:
    @njit
    def asked(nodes: Any, copies: Any, homes: Any, place: int, now: float, rules: Rules) -> Action:
        return decided_compiled(nodes, copies, homes, place, now, rules)

    return asked


@given(st.lists(st.integers(0, 4000), min_size=4, max_size=4), MADE_COPIES)
def test_what_is_compiled_decides_the_same(
    compiled: Callable[..., Action],
    loads: list[int],
    made: list[tuple[int, int, float, float, int]],
) -> None:
    nodes, copies = np.zeros(4, NODE), np.zeros(len(made), COPY)
    nodes["capacity"] = 50
    nodes["queued"] = loads
    homes = np.full((3, 4), NONE)
    for number, (operator, node, wanted, moved, alive) in enumerate(made):
        alive = alive and homes[operator, node] == NONE
        for name, value in zip(
            ("operator", "node", "wanted", "moved", "alive"),
            (operator, node, wanted, moved, alive),
            strict=True,
        ):
            copies[number][name] = value
        if alive:
            homes[operator, node] = number
            nodes[node]["hosted"] += 1
    plain = nodes.view(np.recarray), copies.view(np.recarray)
    for place in range(4):
        expected = sharing.decided(*plain, homes, place, 20.0, RULES)
        assert compiled(nodes, copies, homes, place, 20.0, RULES) == expected


def test_nodes_must_look_at_times() -> None:
    with pytest.raises(SimulationError, match=r"sharing\.every: is 0; expected a time above 0"):
        Sharing(0)
