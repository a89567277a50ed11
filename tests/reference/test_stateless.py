"""Filter, Map, Union and Drop."""

from __future__ import annotations

import pytest

from australis.algebra.boxes import Drop, Filter, Map, Union
from australis.algebra.schema import parse_schema
from australis.reference.boxes.drop import fraction
from australis.reference.machines import machine_of
from australis.reference.row import Tuple


@pytest.mark.parametrize(("a", "output"), [(30, 0), (29, 1), (9, 2), (None, 2)])
def test_filter_sends_a_tuple_to_the_first_predicate_it_satisfies(a: int | None, output: int) -> None:
    machine = machine_of(Filter(("a >= 30", "a >= 10")), (parse_schema("a int"),))
    tuple_ = Tuple({"a": a}, 7)
    assert machine.push(0, tuple_, 0) == [(output, tuple_)]


def test_map_computes_from_the_input_and_forgets_the_rest() -> None:
    machine = machine_of(Map({"b": "a", "a": "a + b"}), (parse_schema("a int, b int, c int"),))
    assert machine.push(0, Tuple({"a": 1, "b": 2, "c": 3}, 7), 0) == [(0, Tuple({"b": 1, "a": 3}, 7))]


def test_union_emits_tuples_as_they_arrive() -> None:
    machine = machine_of(Union(), (parse_schema("a int"),) * 2)
    tuple_ = Tuple({"a": 1}, 7)
    assert machine.push(1, tuple_, 0) == [(0, tuple_)]


# --- Drop


def test_the_hash_is_that_of_splitmix64() -> None:
    """Its published first outputs for a seed of 0."""
    outputs = (0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC)
    for number, output in enumerate(outputs):
        assert fraction(0, number) == (output >> 11) / 2**53


@pytest.mark.parametrize("rate", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("seed", [0, 1, -1, 2**70])
def test_drop_drops_about_its_rate(rate: float, seed: int) -> None:
    machine = machine_of(Drop(rate, seed), (parse_schema("a int"),))
    kept = sum(len(machine.push(0, Tuple({"a": 1}, 0), 0)) for _ in range(4000))
    assert kept == pytest.approx(4000 * (1 - rate), abs=120 if 0 < rate < 1 else 0)


def test_drop_keeps_a_tuple_whose_fraction_is_just_the_rate() -> None:
    machine = machine_of(Drop(fraction(0, 0), seed=0), (parse_schema("a int"),))
    assert len(machine.push(0, Tuple({"a": 1}, 0), 0)) == 1


def test_drop_chooses_by_the_number_of_the_tuple() -> None:
    machine = machine_of(Drop(0.5, seed=3), (parse_schema("a int"),))
    kept = [number for number in range(50) if machine.push(0, Tuple({"a": number}, 0), 0)]
    assert kept == [number for number in range(50) if fraction(3, number) >= 0.5]
