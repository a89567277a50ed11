"""Up to k crashes: a few hundred networks here, ten thousand in `make experiments`."""

from __future__ import annotations

from random import Random

import pytest

from australis.errors import SimulationError
from australis.policy.machines import Journal
from australis.policy.recover import messages, server
from australis.policy.recover.checkpoints import Checkpoints
from australis.policy.recover.granularity import Granularity
from australis.policy.replay import replayed
from australis.sim.recover.experiments import Frequency, volume
from australis.sim.recover.network import computed, straight
from australis.sim.recover.pipeline import BOXES, COST_S, ServerPipeline, traded
from australis.sim.recover.trials import BadWorld, tried
from australis.sim.recover.world import Setting, World


@pytest.mark.parametrize("block", range(4))
def test_no_message_is_lost_and_none_is_wrong(block: int) -> None:
    found = [tried(seed) for seed in range(100 * block, 100 * block + 100)]
    assert sum(each.crashes for each in found) > 60
    assert sum(each.failed > each.crashes for each in found) > 0, "machines with several servers crash, too"
    assert sum(each.restarts for each in found) > 50
    assert sum(each.refused for each in found) > 500


def test_a_seed_plays_a_network_again() -> None:
    lines: list[list[bytes]] = [[], [], []]
    worlds = [BadWorld(4, journal=Journal(each.append)) for each in lines[:2]]
    worlds.append(BadWorld(4, journal=Journal(lines[2].append), restores=True))
    first, second, restored = (world.run() for world in worlds)
    assert first == second == restored, "also if every server is restored before every event"
    assert lines[0] == lines[1] == lines[2]
    found = replayed(lines[0])
    assert (found.differences, found.events > 100) == ((), True)


def test_more_than_k_crashes_may_lose_messages() -> None:
    lost = 0
    for seed in range(60):
        try:
            BadWorld(seed, k=1, crashes=3).run()
        except SimulationError:
            lost += 1
    assert lost > 0


@pytest.mark.parametrize("arrays", [False, True])
def test_once_all_is_made_up_for_as_many_may_fail_again(arrays: bool) -> None:
    network = straight(5, "map", "window")
    world = World(network, Setting(k=1, flow_s=1.0, arrays=arrays, loss=0.1), Random(5))
    for number in range(1, 121):
        world.clock.at(number / 2, world.emit, "source", number)
    for time, name in ((10, "s5"), (25, "s3"), (40, "s1")):
        world.clock.run(until=time)
        assert list(world.crash(name)) == [name]
    world.clock.run(until=90)
    found = {arc: {tup: value for tup, (_, value) in got.items()} for arc, got in world.deliveries.items()}
    assert found == computed(network, 120)
    assert [name for _, name in world.began] == ["s5", "s3", "s1"]


# --- the checks are worth something: broken policies are found out


def found_out(seeds: int = 150) -> bool:
    for seed in range(seeds):
        try:
            tried(seed)
        except SimulationError:
            return True
    return False


def test_queues_that_are_truncated_a_level_too_far_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checkpoints, "truncation", lambda self, arc: self.known[arc][self._k - 1])
    assert found_out()


def test_moments_that_are_taken_too_late_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checkpoints, "_latest", lambda self, level: self.moments[-1])
    assert found_out()


def test_servers_that_wait_for_no_replay_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(server._HEARD, messages.Wanted, lambda *_: [])
    assert found_out(20)


def test_a_restart_that_asks_for_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was on its way to a machine that was off is lost, unless it is asked for."""
    monkeypatch.setitem(server._HEARD, messages.Ready, lambda *_: [])
    assert found_out(60)


def test_an_old_disk_that_is_taken_for_a_new_one_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(server._HEARD, messages.Gap, lambda *_: [])
    assert found_out(400)


def test_a_state_that_is_thought_done_with_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("australis.sim.recover.boxes.Window.needs", lambda _: {})
    assert found_out(400)


# --- what checkpoints cost


def test_more_checkpoints_make_queues_and_recovery_short() -> None:
    often, seldom = (volume(Frequency(1, flow_s), [0]) for flow_s in (0.2, 5.0))
    assert often.messages > 10 * seldom.messages
    assert often.queue < seldom.queue / 5
    assert often.redone < seldom.redone
    assert 0 < often.recovery_s < 0.5 < seldom.recovery_s, "without the time until the failure is noticed"
    assert volume(Frequency(2, 0.2), [0]).queue > often.queue


def test_to_ask_for_arrays_costs_as_much_as_flow_messages() -> None:
    flow, arrays = (volume(Frequency(1, 5.0, arrays), [0]) for arrays in (False, True))
    assert arrays.messages == pytest.approx(flow.messages, rel=0.1)
    assert arrays.queue == pytest.approx(flow.queue, rel=0.2)


@pytest.mark.parametrize("machines", [1, 3, BOXES])
def test_nothing_is_lost_when_another_machine_continues_from_the_queues(machines: int) -> None:
    granularity = Granularity((COST_S,) * BOXES, machines)
    calm, failing = ServerPipeline(granularity), ServerPipeline(granularity, fails=True)
    calm.run()
    failing.run()
    assert failing.tuples == calm.tuples
    assert failing.sent > calm.sent - 50, "it catches up"
    assert len(failing.recoveries) > 10 > len(calm.recoveries) == 0


def test_queues_that_are_not_gone_on_from_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: ServerPipeline) -> None:
        for queue in self.queues:
            queue.clear()
        fail(self)

    fail = ServerPipeline._fail
    monkeypatch.setattr(ServerPipeline, "_fail", forgetful)
    with pytest.raises(SimulationError, match="expected every tuple"):
        traded(2)


def test_more_virtual_machines_redo_less_for_more_messages() -> None:
    found = [traded(machines) for machines in (1, 2, 8)]
    assert [round(each.messages) for each in found] == [0, 1, 7]
    assert found[0].redone_s > 1.8 * found[1].redone_s > 3 * found[2].redone_s
    assert found[0].recovery_s > 1.4 * found[1].recovery_s > 3 * found[2].recovery_s
    assert all(each.redone_s == pytest.approx(each.foreseen_s, rel=0.3) for each in found)
