"""Numbers of tuples: whatever is lost, doubled or late, each is processed once and in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from australis.policy.hotspot.streams import Inlet, Outlet


@given(st.lists(st.integers(1, 12), max_size=60), st.sets(st.integers(0, 60)))
def test_tuples_are_taken_in_order_and_once(numbers: list[int], crashes: set[int]) -> None:
    inlet, processed = Inlet(), []
    for step, number in enumerate(numbers):
        for value in inlet.arrived(number, number):
            processed.append(value)
            inlet.processed()
        if step in crashes:
            inlet.crashed()
    assert processed == list(range(1, len(processed) + 1))
    assert inlet.position == len(processed)


def test_a_crash_forgets_what_was_taken_but_not_processed() -> None:
    inlet = Inlet()
    assert inlet.arrived(1, "a") == ["a"]
    inlet.arrived(3, "c")
    inlet.crashed()
    assert inlet.arrived(2, "b") == []
    assert inlet.arrived(1, "a") == ["a", "b"]


def test_what_is_kept_outlives_a_move() -> None:
    outlet = Outlet("old")
    for value in "abc":
        outlet.add(value)
    assert outlet.switch("new") == 3
    outlet.add("d")
    outlet.acknowledged(2)
    restored = Outlet.restored(outlet.snapshot())
    for each in (outlet, restored):
        assert list(each.unanswered()) == [("new", 3, "c"), ("old", 3, "c"), ("new", 4, "d")]
        assert each.add("e") == 5
