"""The utility of a delivery: the product of its graphs and its weight, and what is due but missing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.quality import Quality, ValueGraph
from australis.qos.utility import Delivery, Worth, total, worth

KINDS = ValueGraph("kind", categories=(("alarm", 1.0), ("note", 0.5)))
QUALITY = Quality(((0, 1), (2, 1), (10, 0)), ((0, 0), (0.5, 0.8), (1, 1)), KINDS, 4)


def test_the_product_of_the_graphs() -> None:
    found = worth(QUALITY, Delivery({1.0: 1, 6.0: 3}, 0.75, np.array([1, 2, 1])))
    assert found == Worth(0.625, 0.9, 0.5, 4)
    assert found.utility == pytest.approx(4 * 0.625 * 0.9 * 0.5)


def test_an_output_without_graphs_is_worth_its_weight() -> None:
    assert worth(Quality(weight=2), Delivery({1e9: 1}, 0.1, np.array([1]))) == Worth(1, 1, 1, 2)


@pytest.mark.parametrize(
    ("quality", "delivery", "utility"),
    [
        (QUALITY, Delivery({}), None),
        (QUALITY, Delivery({1.0: 0}), None),
        (QUALITY, Delivery({}, waiting=10), None),
        (QUALITY, Delivery({}, waiting=10.5), 0),
        (QUALITY, Delivery({}, fraction=0.5), None),
        (QUALITY, Delivery({}, fraction=0), 0),
        (Quality(), Delivery({}, waiting=1e9), None),
        (Quality(delay=((1, 1), (2, 0.5))), Delivery({}, waiting=3), 0),
        (QUALITY, Delivery({1.0: 1}, waiting=1e9), 4),
    ],
)
def test_what_is_due(quality: Quality, delivery: Delivery, utility: float | None) -> None:
    found = worth(quality, delivery)
    assert (found.utility if found else None) == utility


def test_the_total_is_over_outputs_to_which_something_was_due() -> None:
    assert total([Worth(1, 1, 1, 3), None, Worth(0.5, 1, 1, 1)]) == 3.5
    assert total([]) == 0


delays = st.dictionaries(st.floats(0, 20), st.integers(0, 1000), max_size=6)
fractions = st.floats(0, 1)


@given(delays, fractions, st.lists(st.integers(0, 100), min_size=3, max_size=3))
def test_a_worth_is_between_nothing_and_the_weight(
    found: dict[float, int], fraction: float, values: list[int]
) -> None:
    got = worth(QUALITY, Delivery(found, fraction, np.array(values)))
    assert got is None or 0 <= got.utility <= QUALITY.weight + 1e-9


@given(delays, fractions, fractions, st.floats(0, 5))
def test_more_loss_and_more_delay_are_worth_no_more(
    found: dict[float, int], fraction: float, other: float, later: float
) -> None:
    fewer, more = sorted((fraction, other))
    late: dict[float, int] = {}
    for delay, tuples in found.items():
        late[delay + later] = late.get(delay + later, 0) + tuples
    best, worst = worth(QUALITY, Delivery(found, more)), worth(QUALITY, Delivery(late, fewer))
    assert total([worst]) <= total([best]) + 1e-9 or math.isclose(total([worst]), total([best]))
