"""Migrations in unreliable worlds: a few hundred here, ten thousand in `make experiments`."""

from __future__ import annotations

import msgspec
import pytest

from australis.errors import SimulationError
from australis.policy.hotspot import peer as policy
from australis.policy.hotspot.arrival import Arrival
from australis.policy.hotspot.departure import Departure
from australis.policy.hotspot.introduction import Introduction
from australis.policy.hotspot.messages import UpdateRequest
from australis.policy.hotspot.redirection import Redirection
from australis.policy.replay import replayed
from australis.sim.hotspot.trials import BadWorld, tried


def test_nothing_is_lost_doubled_or_thrown_to_and_fro() -> None:
    found = [tried(seed) for seed in range(120)]
    assert sum(each.moves for each in found) > 100
    assert sum(each.crashes for each in found) > 50
    assert sum(each.refused for each in found) > 500
    assert sum(each.returns for each in found) > 0, "returns of inverted loads are to be seen, too"


def test_without_faults_nothing_need_be_said_again() -> None:
    found = [tried(seed, faults=False) for seed in range(60)]
    assert sum(each.moves for each in found) > 60


def test_a_seed_plays_a_world_again() -> None:
    lines: list[list[bytes]] = [[], [], []]
    worlds = [BadWorld(3, write=each.append) for each in lines[:2]]
    worlds.append(BadWorld(3, write=lines[2].append, restores=True))
    first, second, restored = (world.run() for world in worlds)
    assert first == second == restored, "also if every peer is restored before every event"
    assert lines[0] == lines[1] == lines[2]
    found = replayed(lines[0])
    assert (found.differences, found.events > 100) == ((), True)


changed = msgspec.structs.replace

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
        leaving = self.leaving
        if leaving is not None and leaving.holding is not None and leaving.target == peer:
            self._holdings.add(leaving.holding)
            self.leaving = None
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
        return requested(self, changed(request, version=newer))  # type: ignore[return-value]

    requested = Redirection.requested
    monkeypatch.setattr(Redirection, "requested", heedless)
    assert found_out(300)


def test_readers_that_do_not_hear_of_their_writers_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Introduction, "heard", lambda *_: [])
    assert found_out(600)
