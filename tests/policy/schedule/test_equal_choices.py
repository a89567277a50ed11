"""Choices are those of the plainest schedules, and their work is in proportion to the size of a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.operations import operations
from tests.policy.schedule import plain_schedules as plain
from tests.policy.schedule.random_nodes import later, random_node
from tests.policy.shed.situations import situations

from australis.algebra.quality import Quality
from australis.policy.load import Goal, Situation, Stage
from australis.policy.schedule import Choice, Scheduling, constructed, next_view, schedule, without_views
from australis.policy.schedule.schedule import Schedule
from australis.qos.graphs import Graphs, utilities

MOST = 1_000_000
RANDOMS = st.randoms(use_true_random=False)
KINDS = list(Scheduling)
PLAIN: Mapping[Scheduling, Callable[[], Schedule]] = {
    Scheduling.STATE: plain.StateBased,
    Scheduling.FEEDBACK: plain.FeedbackBased,
    Scheduling.FIFO: plain.Fifo,
    Scheduling.LONGEST_QUEUE: plain.LongestQueue,
    Scheduling.DEADLINE: plain.EarliestDeadline,
}


def both(kind: Scheduling, ways: Mapping[str, tuple[str, ...]]) -> tuple[Schedule, Schedule]:
    """A schedule, and the plainest of its kind."""
    expected = plain.RoundRobin(ways) if kind is Scheduling.ROUND_ROBIN else PLAIN[kind]()
    return schedule(kind, ways), expected


@pytest.mark.parametrize("kind", KINDS)
@given(random=RANDOMS)
def test_choices_are_those_of_the_plainest_schedule(kind: Scheduling, random: Random) -> None:
    node = random_node(random)
    found, expected = both(kind, {name: goal.way for name, goal in node.goals.items()})
    for _ in range(8):
        choice = found.choose(without_views(node), MOST)
        wanted = expected.choose(plain.without_views(node), MOST)
        assert choice == wanted
        assert next_view(node, MOST) == plain.next_view(node, MOST)
        if choice is not None and wanted is not None:
            assert constructed(choice, node) == plain.constructed(wanted, node)
        node = later(random, node)


@given(now=situations())
def test_where_costs_are_any_numbers_only_equal_priorities_are_told_apart_otherwise(now: Situation) -> None:
    # The plainest schedule cannot compare a stage whose next tuple comes after the end of all time.
    assume(all(stage.rate == 0 or stage.rate > 1e-9 for stage in now.stages.values()))
    choice, wanted = (made.choose(now, MOST) for made in (schedule(Scheduling.STATE, {}), plain.StateBased()))
    if choice is None or wanted is None:
        assert choice == wanted
        return
    ranks = [_rank(now, each) for each in (choice, wanted)]
    assert choice == wanted or ranks[0] == pytest.approx(ranks[1], rel=1e-9)


def _rank(now: Situation, choice: Choice) -> float:
    stage, goals = plain._candidates(now)[choice.stage]
    return plain.StateBased()._priority(stage, goals, now, MOST)[0]


@given(random=RANDOMS)
def test_many_graphs_at_once_are_each_of_them(random: Random) -> None:
    graphs = [_graph(random) for _ in range(random.randint(1, 6))]
    rows = np.array([random.randrange(len(graphs)) for _ in range(5)])
    xs = np.array(
        [
            [random.choice([-1.0, 0.0, 1e9, *_xs(graphs[row]), random.uniform(0, 9)]) for _ in "abc"]
            for row in rows
        ]
    )
    wanted = [utilities(graphs[row], each) for row, each in zip(rows, xs, strict=True)]
    np.testing.assert_array_equal(Graphs(graphs).utilities(rows, xs), wanted)


def _graph(random: Random) -> tuple[tuple[float, float], ...]:
    xs = sorted({random.randint(0, 900) / 100 for _ in range(random.randint(0, 5))})
    return tuple((x, random.random()) for x in xs)


def _xs(graph: tuple[tuple[float, float], ...]) -> list[float]:
    return [x for x, _ in graph]


def fan(outputs: int) -> Situation:
    """One stage for each of many outputs, all with tuples waiting."""
    names = [f"s{number}" for number in range(outputs)]
    stages = {
        name: Stage(name, {}, frozenset({name}), 10 + number, 1_000, tuple_us=1.0, train_us=30_000.0)
        for number, name in enumerate(names)
    }
    quality = Quality(delay=((0, 1), (2, 1), (10, 0)))
    return Situation(2_000_000, stages, {name: Goal(name, quality, (name,)) for name in names}, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_the_work_of_a_choice_is_in_proportion_to_the_node(kind: Scheduling) -> None:
    once, twice = (_work(kind, fan(outputs)) for outputs in (100, 200))
    assert twice < 2.2 * once


def _work(kind: Scheduling, node: Situation) -> int:
    """The operations of a choice, and of the train that is made of it."""
    chooser = schedule(kind, {name: goal.way for name, goal in node.goals.items()})

    def choose() -> None:
        choice = chooser.choose(without_views(node), MOST)
        assert choice is not None
        constructed(choice, node)

    return operations(choose)
