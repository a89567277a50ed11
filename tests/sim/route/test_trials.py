"""Routers in unreliable worlds: what must hold does, and broken machines are found out."""

from __future__ import annotations

import pytest

from australis.errors import SimulationError
from australis.policy.machines import Journal
from australis.policy.replay import replayed
from australis.policy.route import messages as m
from australis.policy.route.router import Router
from australis.sim.route.trials import BadEddy, tried

SEEDS = range(60)


def test_everything_holds_in_unreliable_worlds() -> None:
    found = [tried(seed) for seed in SEEDS]
    assert sum(each.choices for each in found) > 1000
    assert sum(each.crashes for each in found) > 30
    assert sum(each.amnesias for each in found) > 10
    assert sum(each.refused for each in found) > 500


@pytest.mark.parametrize("seed", [1, 5])
def test_a_machine_restored_before_every_event_decides_the_same_and_so_does_a_replay(seed: int) -> None:
    plain: list[bytes] = []
    restored: list[bytes] = []
    BadEddy(seed, journal=Journal(plain.append)).run()
    BadEddy(seed, journal=Journal(restored.append), restores=True).run()
    assert plain == restored
    found = replayed(plain)
    assert (found.differences, found.events > 100) == ((), True)


def found_out() -> str:
    """The error of the first seed that notices."""
    for seed in SEEDS:
        try:
            tried(seed)
        except SimulationError as error:
            return str(error)
    return ""


def test_nodes_that_add_up_in_another_order_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    places = Router._places

    def own_first(self: Router) -> object:
        found = places(self).items()
        return {op: dict(sorted(each.items(), key=lambda n: n[0] != self.name)) for op, each in found}

    monkeypatch.setattr(Router, "_places", own_first)
    assert "route differently" in found_out()


def test_routes_to_nodes_that_are_down_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = Router._weight

    def trusting(self: Router, nodes: object, fresh: object) -> m.Weight:
        return weight(self, nodes, set(nodes))  # type: ignore[arg-type, call-overload]

    monkeypatch.setattr(Router, "_weight", trusting)
    assert "which is down" in found_out()
