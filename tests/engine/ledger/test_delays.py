"""Delays by bucket: narrow enough that quantiles of them are near the exact ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from australis.engine.ledger.counts.delays import bucket, histogram, middle_us, quantile_us


@given(st.integers(0, 10**12))
def test_a_bucket_is_narrow(delay: int) -> None:
    assert abs(middle_us(bucket(delay)) - max(delay, 1)) <= 0.1 * max(delay, 1)


@given(st.lists(st.integers(0, 10**9), min_size=1), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_quantile_is_near_the_exact_one(delays: list[int], fraction: float) -> None:
    now = 2 * 10**9
    buckets = histogram([(now - delay, 1) for delay in delays], now)
    exact = sorted(delays)[max(0, -int(-fraction * len(delays) // 1) - 1)]
    found = quantile_us(buckets, fraction)
    assert found is not None
    assert abs(found - max(exact, 1)) <= 0.1 * max(exact, 1)


def test_without_tuples_there_is_no_quantile() -> None:
    assert quantile_us({}, 0.5) is None
