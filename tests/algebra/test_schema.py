"""Schemas, types and sizes: what they accept, and what they say when they refuse."""

import pickle

import pytest

from australis.algebra.schema import parse_schema, schema_of
from australis.algebra.spans import microseconds, units
from australis.algebra.types import DOUBLE, INT, LONG, TIMESTAMP, decimal, parse_type
from australis.errors import AlgebraError, EngineError, FormError, KernelError, NetworkError, Problem


def test_a_schema_reads_back_from_its_text_and_its_mapping() -> None:
    schema = parse_schema("sid int not null, at timestamp, price decimal(10, 2)")
    assert schema.as_dict() == {"sid": "int not null", "at": "timestamp", "price": "decimal(10,2)"}
    assert schema_of(schema.as_dict()) == schema
    assert parse_schema(str(schema)) == schema


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sid integr", "unknown type 'integr'; expected one of int, long"),
        ("sid", "attribute 'sid' has no type; expected 'name type'"),
        ("sid int, sid long", "attribute 'sid' occurs twice"),
        ("2sid int", "'2sid' is not a valid attribute name"),
        ("price decimal(39,2)", "no decimal(39,2); expected decimal(p,s) with 1 <= p <= 38"),
    ],
)
def test_a_bad_schema_says_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(AlgebraError) as caught:
        parse_schema(text)
    assert message in str(caught.value)


def test_aliases_name_the_same_type() -> None:
    assert parse_type("BIGINT") == LONG
    assert parse_type("integer") == INT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10 min", 600_000_000),
        ("1.5 s", 1_500_000),
        ("2h", 7_200_000_000),
        ("1 day", 86_400_000_000),
        ("5 us", 5),
    ],
)
def test_lengths_of_time(text: str, expected: int) -> None:
    assert microseconds(text) == expected


@pytest.mark.parametrize("text", ["10", "10 parsecs", "-1 s", "0 s", "0.1 us", "", "٣ s", "9" * 99 + " s"])
def test_no_length_of_time(text: str) -> None:
    with pytest.raises(AlgebraError, match="is no"):
        microseconds(text)


def test_a_time_ends() -> None:
    assert microseconds("4611686018427387904 us") == 2**62
    with pytest.raises(AlgebraError, match=r"expected at most 2\^62 microseconds"):
        microseconds("4611686018427387905 us")


def test_a_size_of_zero_must_be_allowed() -> None:
    assert [units(0, LONG, zero=True), units(0.0, DOUBLE, zero=True), units("0 s", TIMESTAMP, zero=True)] == [
        0
    ] * 3


def test_sizes_are_in_the_units_of_the_order() -> None:
    assert units("1 hour", TIMESTAMP) == 3_600_000_000
    assert units(0.25, decimal(10, 2)) == 25
    assert units(3, DOUBLE) == 3.0


@pytest.mark.parametrize(
    ("span", "order_type"),
    [(10, TIMESTAMP), ("10 min", LONG), (0, LONG), (0.5, INT), (0.001, decimal(10, 2)), (True, LONG)]
    + [(number, type_) for number in (1e400, -1e400, float("nan"), 10**400) for type_ in (LONG, DOUBLE)],
)
def test_a_size_that_does_not_fit_its_order(span: object, order_type: object) -> None:
    with pytest.raises(AlgebraError, match="is no"):
        units(span, order_type)  # type: ignore[arg-type]


def test_a_schema_has_attributes_but_not_without_end() -> None:
    with pytest.raises(AlgebraError, match="is empty; expected 1 to 10000 attributes"):
        schema_of({})
    with pytest.raises(AlgebraError, match="has 10001 attributes"):
        schema_of({f"a{number}": "int" for number in range(10_001)})


def test_schemas_and_errors_survive_pickling() -> None:
    schema = parse_schema("sid int not null, price decimal(10, 2)")
    again = pickle.loads(pickle.dumps(schema))
    assert again == schema
    assert again["price"] == schema["price"]
    problem = Problem("n.a", "is wrong", "right", "text", 2)
    for error in (NetworkError([problem, problem]), FormError(problem)):
        found = pickle.loads(pickle.dumps(error))
        assert (type(found), str(found), found.problems) == (type(error), str(error), error.problems)
    for single in (KernelError(problem), EngineError(problem)):
        copied = pickle.loads(pickle.dumps(single))
        assert (type(copied), str(copied), copied.problem) == (type(single), str(single), problem)
