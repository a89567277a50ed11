"""Numbers of tuples: whatever is lost, duplicated or delayed, each is processed once and in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from australis.policy.hotspot.streams import ReadEnd, WriteEnd


@given(st.lists(st.integers(1, 12), max_size=60), st.sets(st.integers(0, 60)))
def test_tuples_are_taken_in_order_and_once(numbers: list[int], crashes: set[int]) -> None:
    inlet, processed = ReadEnd(), []
    for step, number in enumerate(numbers):
        for taken, value in inlet.arrived(number, number):
            processed.append(value)
            inlet.processed(taken)
        if step in crashes:
            inlet.crashed()
    assert processed == list(range(1, len(processed) + 1))
    assert inlet.position == len(processed)


def test_a_tuple_need_not_wait_until_the_one_before_is_processed() -> None:
    inlet = ReadEnd()
    assert [inlet.arrived(number, "value") for number in (1, 2)] == [[(1, "value")], [(2, "value")]]
    for number in (2, 1):
        inlet.processed(number)
    assert inlet.position == 2
    assert not inlet._ahead, "what the position has passed is dropped"


def test_a_crash_forgets_what_was_taken_but_not_processed() -> None:
    inlet = ReadEnd()
    assert inlet.arrived(1, "a") == [(1, "a")]
    inlet.arrived(3, "c")
    inlet.crashed()
    assert inlet.arrived(2, "b") == []
    assert inlet.arrived(1, "a") == [(1, "a"), (2, "b")]


@given(st.lists(st.integers(1, 12), max_size=60), st.sets(st.integers(0, 60)), st.integers(0, 12))
def test_without_order_tuples_are_taken_as_they_come(
    numbers: list[int], crashes: set[int], position: int
) -> None:
    """Some were processed elsewhere, which is reported in the middle."""
    inlet, processed = ReadEnd(ordered=False), []
    for step, number in enumerate(numbers):
        found = inlet.arrived(number, number)
        if step in crashes:
            inlet.crashed()
            continue
        for taken, value in found:
            processed.append(value)
            inlet.processed(taken)
        if step == len(numbers) // 2:
            inlet.moved(position)
    assert len(processed) == len(set(processed))
    done = {*processed, *(range(1, position + 1) if numbers and len(numbers) // 2 not in crashes else ())}
    assert set(range(1, inlet.position + 1)) <= done
    assert inlet.position + 1 not in done


def test_without_order_a_tuple_that_is_being_processed_is_not_taken_again() -> None:
    inlet = ReadEnd(ordered=False)
    assert [inlet.arrived(2, "b"), inlet.arrived(2, "b"), inlet.arrived(1, "a")] == [
        [(2, "b")],
        [],
        [(1, "a")],
    ]


def test_the_last_number_is_the_greatest_in_whatever_order_tuples_are_written() -> None:
    outlet = WriteEnd("home")
    for number in (2, 1):
        outlet.add("value", number)
    assert outlet.switch("elsewhere") == 2


def test_what_goes_where_it_went_is_said_there_once() -> None:
    outlet = WriteEnd("home")
    outlet.add("a")
    assert outlet.switch("home") == 1
    assert list(outlet.unanswered()) == [("home", 1, "a")]


def test_what_is_kept_outlives_a_move() -> None:
    outlet = WriteEnd("old")
    for value in "abc":
        outlet.add(value)
    assert outlet.switch("new") == 3
    outlet.add("d")
    outlet.acknowledged(2)
    restored = WriteEnd("elsewhere")
    restored.restore(outlet.snapshot())
    for each in (outlet, restored):
        assert list(each.unanswered()) == [("new", 3, "c"), ("old", 3, "c"), ("new", 4, "d")]
        assert each.add("e") == 5


def test_what_was_written_ahead_is_kept_with_what_comes() -> None:
    outlet, ahead = WriteEnd("old"), WriteEnd("old")
    outlet.add("a")
    outlet.switch("new")
    ahead.add("b", number=2)
    ahead.restore(outlet.snapshot())
    assert list(ahead.unanswered()) == [("new", 1, "a"), ("old", 1, "a"), ("new", 2, "b")]
    assert ahead.add("c") == 3
