"""Migrations in unreliable worlds: a few hundred here, ten thousand in `make experiments`."""

from __future__ import annotations

import pytest

from australis.errors import SimulationError
from australis.policy.hotspot import peer as policy
from australis.policy.hotspot.arrival import Arrival
from australis.policy.hotspot.departure import Departure
from australis.policy.hotspot.introduction import Introduction
from australis.policy.hotspot.messages import UpdateRequest
from australis.policy.hotspot.redirection import Redirection
from australis.sim.hotspot.trials import BadWorld, tried


@pytest.mark.parametrize("block", range(4))
def test_nothing_is_lost_doubled_or_thrown_to_and_fro(block: int) -> None:
    found = [tried(seed) for seed in range(100 * block, 100 * block + 100)]
    assert sum(each.moves for each in found) > 100
    assert sum(each.crashes for each in found) > 50
    assert sum(each.returns for each in found) > 0, "returns of inverted loads are to be seen, too"


def test_without_faults_nothing_need_be_said_again() -> None:
    found = [tried(seed, faults=False) for seed in range(100)]
    assert sum(each.moves for each in found) > 100


def test_a_seed_plays_a_world_again() -> None:
    first, second = (BadWorld(3, record=True) for _ in range(2))
    assert first.run() == second.run()
    assert first.overlay.journal is not None
    assert second.overlay.journal is not None
    assert first.overlay.journal.compare(second.overlay.journal) == first.overlay.replay() > 100


# --- the checks are worth something: broken policies are found out


def found_out(seeds: int = 150, *, faults: bool = True) -> str:
    """The error of the first seed that notices."""
    for seed in range(seeds):
        try:
            tried(seed, faults=faults)
        except SimulationError as found:
            return str(found)
        except (KeyError, AssertionError):
            return "a crash of its own"
    return ""


def test_a_state_that_is_taken_twice_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Arrival, "_is_over", lambda *_: False)
    assert found_out()


def test_a_source_that_does_not_wait_for_the_last_tuples_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hasty(self: Departure, leaving: object) -> list[object]:
        leaving.last = dict.fromkeys(leaving.last, 0)  # type: ignore[attr-defined]
        return redirected(self, leaving)  # type: ignore[arg-type, return-value]

    redirected = Departure._redirected
    monkeypatch.setattr(Departure, "_redirected", hasty)
    assert found_out(faults=False)


def test_a_migration_that_is_undone_after_the_state_has_left_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def always(self: Departure, peer: str) -> list[object]:
        leaving = self._leaving
        if leaving is not None and leaving.holding is not None and leaving.target == peer:
            self._holdings.add(leaving.holding)
            self._leaving = None
            return []
        return failed(self, peer)  # type: ignore[return-value]

    failed = Departure.failed
    monkeypatch.setattr(Departure, "failed", always)
    assert found_out()


def test_targets_that_take_whatever_comes_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy.Peer, "_willing", lambda self, _: self.departure.phase is None)
    assert "no ping-pong" in found_out(300)


def test_a_writer_that_heeds_old_news_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def heedless(self: Redirection, request: UpdateRequest) -> list[object]:
        route = self._holdings.routes.get(request.stream)
        newer = route.version + 1 if route and request.version < route.version else request.version
        return requested(self, request._replace(version=newer))  # type: ignore[return-value]

    requested = Redirection.requested
    monkeypatch.setattr(Redirection, "requested", heedless)
    assert found_out(300)


def test_readers_that_do_not_hear_of_their_writers_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Introduction, "heard", lambda *_: [])
    assert found_out(600)
