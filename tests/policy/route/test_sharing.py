"""Load sharing: which node gives what to which, when copies are merged, and that nothing returns at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from australis.policy.route.sharing import KEEP, MERGE, NOWHERE, SLIDE, SPLIT, Action, Rules, decided

NOW = 100.0
RULES = Rules(overloaded=500, much=1.0, slid=0.8, merged=0.6, rest=5.0, calm=20.0)
LOW, HIGH = RULES.overloaded - 1, RULES.overloaded


@dataclass(frozen=True)
class Node:
    queued: int
    hosted: int
    capacity: float = 100.0


@dataclass(frozen=True)
class Copy:
    operator: int
    node: int
    queued: int = 0
    wanted: float = 0.0
    moved: float = 0.0
    alive: bool = True


def asked(copies: list[Copy], place: int = 0, nodes: int = 2, **rules: float) -> Action:
    """What a node decides, the loads of nodes being those of their copies."""
    known = [
        Node(
            sum(copy.queued for copy in copies if copy.node == number),
            sum(copy.alive for copy in copies if copy.node == number),
        )
        for number in range(nodes)
    ]
    homes = [[NOWHERE] * nodes for _ in range(1 + max(copy.operator for copy in copies))]
    for number, copy in enumerate(copies):
        if copy.alive:
            homes[copy.operator][copy.node] = number
    return decided(known, copies, homes, place, NOW, RULES._replace(**rules))


def test_a_node_that_is_not_overloaded_keeps_what_it_has() -> None:
    assert asked([Copy(0, 0, LOW, 150)]).kind == KEEP
    assert asked([Copy(0, 0, HIGH, 150)]).kind == SPLIT


def test_the_operator_with_most_tuples_queued_is_split() -> None:
    assert asked([Copy(0, 0, HIGH, 90), Copy(1, 0, HIGH + 1, 95)]) == Action(SPLIT, 1, 1)


@pytest.mark.parametrize(("wanted", "kind"), [(40, SLIDE), (41, SPLIT)])
def test_one_that_would_have_enough_elsewhere_is_slid(wanted: float, kind: int) -> None:
    """It would have half of the 100 of that node, and may need 80 % of that."""
    assert asked([Copy(0, 0, HIGH, wanted), Copy(1, 0, 100, 75), Copy(2, 1)]) == Action(kind, 0, 1)


def test_the_emptiest_node_is_chosen() -> None:
    assert asked([Copy(0, 0, HIGH, 90), Copy(1, 1, 30), Copy(2, 2, 20)], nodes=3) == Action(SPLIT, 0, 2)


@pytest.mark.parametrize(
    ("here", "there", "why"),
    [
        (9000, Copy(1, 1, HIGH), "too many tuples are queued there"),
        (9000, Copy(0, 1, 10), "there is a copy"),
    ],
)
def test_a_node_does_not_accept(here: int, there: Copy, why: str) -> None:
    assert asked([Copy(0, 0, here, 90), there]).kind == KEEP, why
    assert asked([Copy(0, 0, here, 90), replace(there, operator=1, queued=10)]).kind == SPLIT


def test_the_next_operator_goes_where_the_first_cannot() -> None:
    copies = [Copy(0, 0, 700, 70), Copy(0, 1, 10, 10), Copy(1, 0, 400, 45)]
    assert asked(copies) == Action(SPLIT, 2, 1)


def test_what_has_few_of_the_tuples_stays() -> None:
    """Nine of nine have as many each, ten would have less."""
    light = [Copy(number, 0, HIGH, 5) for number in range(9)]
    assert asked(light, much=10 / 9).kind == KEEP
    assert asked(light, much=9 / 9).kind == SLIDE


def test_one_that_is_alone_on_its_node_can_be_split() -> None:
    assert asked([Copy(0, 0, HIGH, 150)], much=1.9).kind == SPLIT


def test_an_operator_rests_after_a_change() -> None:
    """So what was given away has time to show, and what was decided together is not decided twice."""
    resting = Copy(0, 0, HIGH, 90, moved=NOW - RULES.rest + 1)
    assert asked([resting]).kind == KEEP
    assert asked([replace(resting, moved=NOW - RULES.rest)]).kind == SPLIT


def test_copies_that_are_hardly_asked_for_are_merged() -> None:
    assert asked([Copy(0, 0, 0, 25), Copy(0, 1, 0, 34)]) == Action(MERGE, 0, 1)


@pytest.mark.parametrize(
    "copies",
    [
        [Copy(0, 0, 0, 25), Copy(0, 1, 0, 35)],
        [Copy(0, 0, 0, 25), Copy(0, 1, 0, 5), Copy(1, 1, 0, 0)],
        [Copy(0, 0, 0, 4), Copy(0, 1, 0, 0, alive=False)],
        [Copy(0, 0, 0, 4, moved=NOW - 19), Copy(0, 1, 0, 5)],
        [Copy(0, 0, 0, 4), Copy(1, 1, 0, 5)],
        [Copy(0, 0, 0, 4), Copy(0, 1, HIGH, 5)],
    ],
    ids=["too much for one", "too little there", "gone", "not calm yet", "another operator", "a long queue"],
)
def test_copies_are_kept(copies: list[Copy]) -> None:
    assert asked(copies).kind == KEEP


def test_the_survivor_is_the_least_utilised_copy() -> None:
    copies = [Copy(0, 0, 0, 1), Copy(0, 1, 0, 5), Copy(0, 2, 0, 3)]
    assert asked(copies, nodes=3) == Action(MERGE, 0, 2)


@pytest.mark.parametrize("wanted", [81.0, 90.0, 150.0])
def test_what_was_split_for_its_load_is_not_merged_at_that_load(wanted: float) -> None:
    assert asked([Copy(0, 0, HIGH, wanted)]).kind == SPLIT
    halves = [Copy(0, 0, 0, wanted / 2), Copy(0, 1, 0, wanted / 2)]
    assert [asked(halves, place).kind for place in (0, 1)] == [KEEP, KEEP]
