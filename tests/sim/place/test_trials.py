"""Placement in unreliable worlds: what must hold does, and broken machines are found out."""

from __future__ import annotations

from typing import Any

import pytest

from australis.errors import AustralisError, SimulationError
from australis.policy.machines import Journal
from australis.policy.place.giving import Giver
from australis.policy.place.parting.split import Parting
from australis.policy.place.taking import Taker
from australis.policy.replay import replayed
from australis.sim.place.trials import BadPlaces, tried

SEEDS = range(60)


def test_everything_holds_in_unreliable_worlds() -> None:
    found = [tried(seed) for seed in SEEDS]
    assert all(sum(getattr(each, what) for each in found) > 5 for what in ("slides", "splits", "unsplits"))
    assert all(sum(getattr(each, what) for each in found) > 5 for what in ("failed", "crashes", "amnesias"))
    assert sum(each.refused for each in found) > 500


@pytest.mark.parametrize("seed", [1, 3, 12])
def test_a_machine_restored_before_every_event_decides_the_same_and_so_does_a_replay(seed: int) -> None:
    plain: list[bytes] = []
    restored: list[bytes] = []
    BadPlaces(seed, journal=Journal(plain.append)).run()
    BadPlaces(seed, journal=Journal(restored.append), restores=True).run()
    assert plain == restored
    found = replayed(plain)
    assert (found.differences, found.events > 300) == ((), True)


# --- the checks are worth something: broken policies are found out


def found_out() -> str:
    """The error of the first seed that notices."""
    for seed in SEEDS:
        try:
            tried(seed)
        except SimulationError as error:
            return str(error)
    return ""


def test_a_site_that_promises_room_that_it_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    why_not = Taker._why_not

    def whatever(self: Taker, *given: Any) -> str:
        why = why_not(self, *given)
        return "" if why == "has no room" else why

    monkeypatch.setattr(Taker, "_why_not", whatever)
    assert "has promised to take up to" in found_out()


def test_a_site_that_begins_what_nobody_has_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = Giver._offered

    def begun(self: Giver, *given: Any) -> list[Any]:
        offered(self, *given)
        assert self.open is not None
        self.open.begun = True
        return [self.open.command]

    monkeypatch.setattr(Giver, "_offered", begun)
    assert "which cannot be" in found_out()


def test_serials_that_are_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = Giver._offered

    def again(self: Giver, survey: Any, move: Any, incarnation: int, now: int) -> list[Any]:
        self.number = 0
        return offered(self, survey, move, 1, now)

    monkeypatch.setattr(Giver, "_offered", again)
    assert "uses (1, 1) for" in found_out() or "still move" in found_out()


def test_a_box_that_is_put_together_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Parting, "_source", lambda self, network, port, ref: ref)
    with pytest.raises(AustralisError, match="there is no input or box"):
        [tried(seed) for seed in SEEDS]
