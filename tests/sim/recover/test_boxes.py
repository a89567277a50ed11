"""Boxes and networks whose outputs follow from the numbers of tuples alone."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.sim.recover.boxes import Match, PathBox, PathTuple, Window, filtered, mapped
from australis.sim.recover.network import Work, computed, drawn, straight


def ran(box: object, numbers: range) -> dict[int, int]:
    made = [made for number in numbers for made in box.take(PathTuple("p", number, number, number))]  # type: ignore[attr-defined]
    return {tup.number: tup.value for tup in made}


@pytest.mark.parametrize(
    "make",
    [mapped, filtered, lambda: Window(1), lambda: Window(4), lambda: Row(Window(3), filtered(), Window(2))],
)
@given(cut=st.integers(1, 30))
def test_what_a_box_is_done_with_it_does_not_need_again(make: object, cut: int) -> None:
    """From after that, a fresh box produces everything that the old one would have from here on."""
    old, whole = make(), make()  # type: ignore[operator]
    ran(old, range(1, cut + 1))
    again = ran(make(), range(old.needs().get("p", cut + 1), 41))  # type: ignore[operator]
    expected = {number: value for number, value in ran(whole, range(1, 41)).items() if number > cut}
    assert {number: value for number, value in again.items() if number > cut} == expected


class Row:
    """A chain of boxes."""

    def __init__(self, *boxes: PathBox) -> None:
        self.boxes = boxes

    def take(self, tup: PathTuple) -> list[PathTuple]:
        found = [tup]
        for box in self.boxes:
            found = [made for each in found for made in box.take(each)]
        return found

    def needs(self) -> dict[str, int]:
        each = [box.needs()["p"] for box in self.boxes if "p" in box.needs()]
        return {"p": min(each)} if each else {}


@given(st.sets(st.integers(1, 20)), st.sets(st.integers(1, 20)), st.randoms(use_true_random=False))
def test_pairs_are_those_of_both_in_whatever_order(left: set[int], right: set[int], chance: Random) -> None:
    queues = {"l": sorted(left), "r": sorted(right)}
    match, found = Match("pairs", "l", "r"), []
    while any(queues.values()):
        side = chance.choice([side for side, queue in queues.items() if queue])
        number = queues[side].pop(0)
        found += match.take(PathTuple(side, number, 1, number))
    assert [tup.number for tup in found] == sorted(left & right)
    later = {"l": {each for each in left if each > max(right, default=0)}, "r": set()}
    later["r"] = {each for each in right if each > max(left, default=0)}
    assert match.needs() == {side: min(waiting) for side, waiting in later.items() if waiting}


@pytest.mark.parametrize("seed", range(20))
def test_a_network_gives_the_same_in_whatever_order_arcs_are_read(seed: int) -> None:
    network = drawn(Random(seed))
    expected = computed(network, 20)
    queued: dict[str, list[PathTuple]] = {arc.id: [] for arc in network.arcs}
    chance = Random(seed)
    for source in network.sources:
        for arc in network.writes(source):
            queued[arc.id] = [PathTuple(f"{source}>{arc.id}", number, number) for number in range(1, 21)]
    for name in network.servers:
        work, reads = Work(network, name), [queued[arc.id] for arc in network.reads(name)]
        while any(reads):
            for arc, made in work.take(chance.choice([queue for queue in reads if queue]).pop(0)):
                queued[arc].append(made)
    found = {arc: {(tup.path, tup.number): tup.value for tup in queued[arc]} for arc in expected}
    assert found == expected


def test_servers_in_a_row() -> None:
    assert computed(straight(2), 2) == {"a2": {("source>a0>a1>a2", 1): 4, ("source>a0>a1>a2", 2): 8}}
