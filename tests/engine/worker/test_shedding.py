"""Gates: what a drop box lets in follows from numbers and values alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.schema import parse_schema
from australis.engine.worker import GateDropBox, let_in
from australis.kernels.kernel import CAUSE

SCHEMA = parse_schema("k long")
ROWS = 10_000


def tuples(first: int = 0, count: int = ROWS) -> pa.Table:
    numbers = pa.array(np.arange(first, first + count))
    return pa.table({"k": numbers, CAUSE: numbers})


def kept(gate: GateDropBox, table: pa.Table, superbox: str = "some") -> list[int]:
    found: list[int] = let_in(gate, superbox, table, SCHEMA, "UTC")["k"].to_pylist()
    return found


@pytest.mark.parametrize(("share", "expected"), [(0.0, ROWS), (1.0, 0)])
def test_all_or_nothing(share: float, expected: int) -> None:
    assert len(kept(GateDropBox(1, share), tuples())) == expected


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_about_the_share_is_shed(share: float) -> None:
    assert len(kept(GateDropBox(1, share), tuples())) == pytest.approx(ROWS * (1 - share), rel=0.1)


@given(st.integers(1, ROWS - 1))
def test_another_cut_of_trains_sheds_the_same_tuples(cut: int) -> None:
    gate = GateDropBox(1, 0.5)
    parts = kept(gate, tuples(0, cut)) + kept(gate, tuples(cut, ROWS - cut))
    assert parts == kept(gate, tuples())


def test_only_tuples_on_which_the_predicate_is_true_are_shed() -> None:
    values = pa.array([1, None, 5, 9], pa.int64())
    table = pa.table({"k": values, CAUSE: pa.array(range(4), pa.int64())})
    assert kept(GateDropBox(1, 1.0, "k >= 5"), table) == [1, None]


def test_a_share_of_those_on_which_the_predicate_is_true_is_shed() -> None:
    found = kept(GateDropBox(1, 0.5, "k < 5000"), tuples())
    assert [k for k in found if k >= 5000] == list(range(5000, ROWS))
    assert sum(k < 5000 for k in found) == pytest.approx(2500, rel=0.1)


def test_a_drop_box_after_another_sheds_its_own_share() -> None:
    gate = GateDropBox(1, 0.5)
    first = let_in(gate, "some", tuples(), SCHEMA, "UTC")
    assert len(kept(gate, first, "count")) == pytest.approx(ROWS / 4, rel=0.1)
    assert len(kept(gate, first, "some")) == first.num_rows, "the same one finds nothing more"


def burst(number: int, count: int) -> pa.Table:
    """Tuples that one event made a window emit: they share a number."""
    return pa.table({"k": pa.array(np.arange(count)), CAUSE: pa.array(np.full(count, number))})


@pytest.mark.parametrize("number", [0, 1, 123_456, 2**62])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_about_the_share_of_the_tuples_of_one_number_is_shed(number: int, share: float) -> None:
    found = kept(GateDropBox(1, share), burst(number, ROWS))
    assert len(found) == pytest.approx(ROWS * (1 - share), rel=0.1)


@given(st.lists(st.integers(1, 40), min_size=2, max_size=40), st.data())
def test_tuples_of_one_number_are_shed_alike_wherever_trains_are_cut(
    bursts: list[int], data: st.DataObject
) -> None:
    table = pa.concat_tables([burst(number, count) for number, count in enumerate(bursts)])
    place = sum(bursts[: data.draw(st.integers(1, len(bursts) - 1))])
    gate = GateDropBox(1, 0.5)
    assert kept(gate, table.slice(0, place)) + kept(gate, table.slice(place)) == kept(gate, table)


def test_the_tuples_of_neighbouring_numbers_are_shed_independently() -> None:
    gate = GateDropBox(1, 0.5)
    one, other = (set(kept(gate, burst(number, ROWS))) for number in (7, 8))
    assert len(one & other) == pytest.approx(ROWS / 4, rel=0.1)
