"""Load sharing: who hands what to whom, when copies are merged, and that nothing comes back at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from australis.policy.place.sharing import KEEP, MERGE, NOWHERE, RULES, SLIDE, SPLIT, Change, decided

NOW = 100.0


@dataclass(frozen=True)
class Node:
    queued: int = 0
    wanted: float = 0.0
    capacity: float = 100.0


@dataclass(frozen=True)
class Copy:
    operator: int
    node: int
    wanted: float
    moved: float = 0.0
    alive: bool = True


def asked(queued: tuple[int, ...], copies: list[Copy], place: int = 0, **rules: float) -> Change:
    """What a node decides, the loads of nodes being those of their copies."""
    nodes = [
        Node(waiting, sum(copy.wanted for copy in copies if copy.alive and copy.node == number))
        for number, waiting in enumerate(queued)
    ]
    homes = [[NOWHERE] * len(nodes) for _ in range(1 + max(copy.operator for copy in copies))]
    for number, copy in enumerate(copies):
        if copy.alive:
            homes[copy.operator][copy.node] = number
    return decided(nodes, copies, homes, place, NOW, RULES._replace(**rules))


def test_a_node_that_is_not_overloaded_keeps_what_it_has() -> None:
    assert asked((1999, 0), [Copy(0, 0, 90), Copy(1, 0, 80)]).kind == KEEP


def test_an_operator_that_takes_most_of_a_node_is_split() -> None:
    assert asked((2000, 0), [Copy(0, 0, 30), Copy(1, 0, 90)]) == Change(SPLIT, 1, 1)


def test_one_that_is_not_large_and_fits_elsewhere_is_slid() -> None:
    assert asked((2000, 0), [Copy(0, 0, 45), Copy(1, 0, 40), Copy(2, 0, 35)]) == Change(SLIDE, 0, 1)


def test_one_that_does_not_fit_elsewhere_is_split() -> None:
    busy = [Copy(0, 0, 45), Copy(1, 0, 40), Copy(2, 0, 35), Copy(3, 1, 50)]
    assert asked((2000, 0), busy) == Change(SPLIT, 0, 1)


def test_the_least_utilised_node_is_chosen() -> None:
    assert asked((2000, 0, 0), [Copy(0, 0, 90), Copy(1, 1, 30), Copy(2, 2, 20)]) == Change(SPLIT, 0, 2)


@pytest.mark.parametrize(
    ("queued", "there", "why"),
    [
        ((2000, 2000), Copy(1, 1, 10), "it has too many tuples queued"),
        ((2000, 0), Copy(1, 1, 80), "it is not under-utilised"),
        ((2000, 0), Copy(0, 1, 10), "it has a copy"),
    ],
)
def test_a_node_may_not_accept(queued: tuple[int, int], there: Copy, why: str) -> None:
    assert asked(queued, [Copy(0, 0, 90), there]).kind == KEEP, why


def test_the_next_operator_goes_where_the_heaviest_cannot() -> None:
    assert asked((2000, 0), [Copy(0, 0, 70), Copy(0, 1, 10), Copy(1, 0, 40)]) == Change(SLIDE, 2, 1)


def test_what_takes_little_of_a_node_stays() -> None:
    light = [Copy(number, 0, 12) for number in range(9)]
    assert asked((2000, 0), light).kind == KEEP
    assert asked((2000, 0), light, much=0.1).kind == SLIDE


def test_an_operator_rests_after_a_change() -> None:
    """So what was handed away has time to show, and what was decided together is not decided twice."""
    resting = Copy(0, 0, 90, moved=NOW - RULES.rest + 1)
    assert asked((2000, 0), [resting]).kind == KEEP
    assert asked((2000, 0), [replace(resting, moved=NOW - RULES.rest)]).kind == SPLIT


def test_copies_that_are_hardly_asked_for_are_merged() -> None:
    assert asked((0, 0), [Copy(0, 0, 10), Copy(0, 1, 20)]) == Change(MERGE, 0, 1)


@pytest.mark.parametrize(
    "copies",
    [
        [Copy(0, 0, 10), Copy(0, 1, 30)],
        [Copy(0, 0, 10), Copy(0, 1, 10), Copy(1, 1, 20)],
        [Copy(0, 0, 10), Copy(0, 1, 20, alive=False)],
        [Copy(0, 0, 10, moved=NOW - 1), Copy(0, 1, 20)],
        [Copy(0, 0, 10), Copy(1, 1, 20)],
    ],
    ids=["too much for one", "too much there", "the other is gone", "it rests", "another operator"],
)
def test_copies_are_kept(copies: list[Copy]) -> None:
    assert asked((0, 0), copies).kind == KEEP


def test_nothing_is_merged_where_a_queue_is_long() -> None:
    assert asked((0, 2000), [Copy(0, 0, 10), Copy(0, 1, 20)]).kind == KEEP


def test_the_roomiest_survivor_takes_over() -> None:
    copies = [Copy(0, 0, 5), Copy(0, 1, 20), Copy(0, 2, 10)]
    assert asked((0, 0, 0), copies) == Change(MERGE, 0, 2)


@pytest.mark.parametrize("wanted", [5.0, 30.0, 60.0, 90.0, 150.0])
def test_what_was_split_for_its_load_is_not_merged_at_that_load(wanted: float) -> None:
    """Whoever is overloaded and splits has asked for more than a node that merges would have."""
    whole = [Copy(0, 0, wanted), Copy(1, 0, 100 - min(wanted, 100))]
    split = asked((2000, 0), whole)
    if split.kind == SPLIT and split.copy == 0:
        halves = [Copy(0, 0, wanted / 2), whole[1], Copy(0, 1, wanted / 2)]
        assert [asked((0, 0), halves, place).kind for place in (0, 1)] == [KEEP, KEEP]
