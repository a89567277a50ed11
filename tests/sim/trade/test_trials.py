"""The market in an unreliable world: no task and no money is lost or doubled, whoever crashes and forgets."""

from __future__ import annotations

import pytest

from australis.errors import AustralisError, SimulationError
from australis.policy.machines import Journal
from australis.policy.trade.taker import Taker
from australis.sim.trade.trials import BadMarket, tried

SEEDS = range(60)


def test_everything_holds_in_unreliable_worlds() -> None:
    found = [tried(seed) for seed in SEEDS]
    assert sum(each.movements for each in found) > 100
    assert all(sum(getattr(each, what) for each in found) > 5 for what in ("failed", "crashes", "fenced"))
    assert sum(each.refused for each in found) > 500


@pytest.mark.parametrize("seed", [1, 3, 12])
def test_a_machine_restored_before_every_event_decides_the_same(seed: int) -> None:
    plain: list[bytes] = []
    restored: list[bytes] = []
    BadMarket(seed, journal=Journal(plain.append)).run()
    BadMarket(seed, journal=Journal(restored.append), restores=True).run()
    assert plain == restored
    assert len(plain) > 50


def test_a_taker_that_counts_a_movement_twice_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Taker, "_is_arriving", lambda self, giver: False)
    took = Taker._took

    def twice(self: Taker, giver: str, promise: object) -> list[object]:
        self.holding.balance += 1
        return took(self, giver, promise)  # type: ignore[arg-type]

    monkeypatch.setattr(Taker, "_took", twice)
    with pytest.raises(AustralisError, match="too much"):
        [tried(seed) for seed in SEEDS]


def test_a_task_in_two_places_is_noticed() -> None:
    world = BadMarket(0)
    for name in "ab":
        world.hosts[name].machine.holding.tasks["x"] = None
    with pytest.raises(SimulationError, match=r"\['x'\] are in two places"):
        world.check()
