"""The experiments of the paper on distributed eddies: the shapes of its tables."""

from __future__ import annotations

import pytest

from australis.sim.eddies.experiments import S3_PAPER, S3_RATES, response_times_of_s3


@pytest.fixture(scope="module")
def times() -> dict[str, tuple[float, ...]]:
    return dict(response_times_of_s3(seed=1).ours)


@pytest.mark.parametrize("policy", ["Q", "SCQ", "WSCQ"])
def test_policies_that_know_queues_stay_usable(policy: str, times: dict[str, tuple[float, ...]]) -> None:
    assert max(times[policy]) < 6


@pytest.mark.parametrize("policy", ["T", "SC", "WSC"])
def test_the_others_break_down(policy: str, times: dict[str, tuple[float, ...]]) -> None:
    assert times[policy][-1] > 20


def test_weights_are_better_than_greed(times: dict[str, tuple[float, ...]]) -> None:
    for greedy, weighted in (("SC", "WSC"), ("SCQ", "WSCQ")):
        assert all(w < g for g, w in zip(times[greedy], times[weighted], strict=True))


LOWER = {("T", 200), ("SC", 200), ("SC", 210), ("SCQ", 200)}
"""Where the paper's are less than half of ours; docs/simulation.md has the reasons."""


@pytest.mark.parametrize(
    ("policy", "place"),
    [
        pytest.param(
            policy,
            place,
            marks=[pytest.mark.xfail(reason="the paper's is lower")] if (policy, rate) in LOWER else [],
            id=f"{policy}-{rate}",
        )
        for policy in S3_PAPER
        for place, rate in enumerate(S3_RATES)
    ],
)
def test_numbers_are_within_twice_those_of_the_paper(
    policy: str, place: int, times: dict[str, tuple[float, ...]]
) -> None:
    assert 0.5 < times[policy][place] / S3_PAPER[policy][place] < 2
