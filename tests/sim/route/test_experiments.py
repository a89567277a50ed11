"""The experiments of the paper on distributed eddies: the shapes of its tables."""

from __future__ import annotations

import pytest

from australis.sim.route.experiments import response_times_of_ds3, response_times_of_s3
from australis.sim.route.paper import S3, S3_RATES


@pytest.fixture(scope="module")
def times() -> dict[str, tuple[float, ...]]:
    return dict(response_times_of_s3(seed=1).ours)


@pytest.mark.parametrize("policy", ["Q", "SCQ", "WSCQ"])
def test_policies_that_know_queues_stay_usable(policy: str, times: dict[str, tuple[float, ...]]) -> None:
    assert max(times[policy]) < 8


@pytest.mark.parametrize("policy", ["T", "SC", "WSC"])
def test_the_others_break_down(policy: str, times: dict[str, tuple[float, ...]]) -> None:
    assert times[policy][-1] > 20


def test_weights_are_better_than_greed(times: dict[str, tuple[float, ...]]) -> None:
    for greedy, weighted in (("SC", "WSC"), ("SCQ", "WSCQ")):
        assert all(w < g for g, w in zip(times[greedy], times[weighted], strict=True))


OTHER = {("T", 200), ("SC", 200), ("SC", 210), ("SCQ", 240), ("WSCQ", 210), ("WSCQ", 220), ("WSCQ", 230)}
"""Where they are not; docs/simulation/eddies.md has the reasons."""


@pytest.mark.parametrize(
    ("policy", "place"),
    [
        pytest.param(
            policy,
            place,
            marks=[pytest.mark.xfail(reason="the paper's is another")] if (policy, rate) in OTHER else [],
            id=f"{policy}-{rate}",
        )
        for policy in S3
        for place, rate in enumerate(S3_RATES)
    ],
)
def test_numbers_are_within_twice_those_of_the_paper(
    policy: str, place: int, times: dict[str, tuple[float, ...]]
) -> None:
    assert 0.5 < times[policy][place] / S3[policy][place] < 2


@pytest.fixture(scope="module")
def shared() -> dict[str, tuple[float, ...]]:
    return dict(response_times_of_ds3(seed=1).ours)


@pytest.mark.parametrize("policy", ["SCQ", "WSCQ"])
def test_with_shared_resources_policies_that_know_all_take_twice_as_much(
    policy: str, shared: dict[str, tuple[float, ...]]
) -> None:
    assert max(shared[policy]) < 6


def test_with_shared_resources_queues_alone_are_a_bad_guide(shared: dict[str, tuple[float, ...]]) -> None:
    assert shared["Q"][-1] > 10 * max(shared["SCQ"][-1], shared["WSCQ"][-1])
