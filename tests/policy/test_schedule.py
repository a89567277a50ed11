"""Round robin over outputs: nobody who waits is forgotten, and nobody who is busy is chosen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from australis.policy.schedule import RoundRobin

NAMES = st.sampled_from("abcde")
WAYS = st.dictionaries(st.text("xyz", max_size=2), st.lists(NAMES, unique=True, max_size=4), max_size=5)


@given(WAYS, st.dictionaries(NAMES, st.integers(1, 9)), st.sets(NAMES))
def test_the_choice_waits_and_is_not_busy(
    ways: dict[str, list[str]], waiting: dict[str, int], busy: set[str]
) -> None:
    chosen = RoundRobin(ways).choose(waiting, busy)
    ready = {each for way in ways.values() for each in way if each in waiting and each not in busy}
    assert chosen in ready if ready else chosen is None


@given(WAYS, st.dictionaries(NAMES, st.integers(1, 9)))
def test_every_output_has_its_turn(ways: dict[str, list[str]], waiting: dict[str, int]) -> None:
    schedule = RoundRobin(ways)
    chosen = [schedule.choose(waiting, ()) for _ in ways]
    nearest = [[each for each in way if each in waiting][-1:] for way in ways.values()]
    wanted = [each for found in nearest for each in found]
    assert [each for each in chosen if each is not None][: len(wanted)] == wanted


def test_what_is_nearest_to_the_output_goes_first() -> None:
    schedule = RoundRobin({"out": ["first", "second", "third"]})
    waiting = {"first": 9, "second": 1}
    assert schedule.choose(waiting, ()) == "second"
    assert schedule.choose(waiting, ("second",)) == "first"


def test_the_turn_goes_to_the_output_behind_the_last_one() -> None:
    schedule = RoundRobin({"a": ["x"], "b": ["y"], "c": ["z"]})
    assert [schedule.choose({"x": 1, "z": 1}, ()) for _ in range(3)] == ["x", "z", "x"]
    assert schedule.choose({"y": 1}, ()) == "y"


def test_without_outputs_there_is_nothing_to_choose() -> None:
    assert RoundRobin({}).choose({"a": 1}, ()) is None
