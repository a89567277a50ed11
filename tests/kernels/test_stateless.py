"""Filter, Map, Union and Unnest over batches, against results worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest
from tests.kernels.running import Run

from australis.algebra.boxes import Filter, Map, Union, Unnest
from australis.algebra.schema import parse_schema
from australis.algebra.user_functions import register_function
from australis.errors import AlgebraError

SOLDIERS = "sid int, pos long"
TAGGED = "id int, tags string"


def test_a_tuple_goes_to_the_first_predicate_that_holds() -> None:
    run = Run(Filter(("pos >= 30", "pos >= 10")), SOLDIERS)
    outputs = run.push_all(0, (1, 5), (2, 30), (3, 10), (4, 31), (5, None))
    assert outputs == [[(2, 30), (4, 31)], [(3, 10)], [(1, 5), (5, None)]]
    assert run.causes == [1, 3]
    assert run.ts == [2, 4]


def test_a_predicate_is_asked_only_about_tuples_that_are_still_there() -> None:
    asked: list[list[int]] = []

    def odd(numbers: pa.Array) -> pa.Array:
        asked.append(numbers.to_pylist())
        return pa.array([number % 2 == 1 for number in asked[-1]])

    register_function("test_stateless:odd", odd, takes=("long",), returns="boolean")
    run = Run(Filter(("pos > 5", "`test_stateless:odd`(pos)")), SOLDIERS)
    outputs = run.push_all(0, (1, 6), (2, 3), (3, 7), (4, 2))
    assert outputs == [[(1, 6), (3, 7)], [(2, 3)], [(4, 2)]]
    assert asked == [[3, 2]]


def test_predicates_without_attributes() -> None:
    run = Run(Filter(("pos > 5", "true", "false")), SOLDIERS)
    assert run.push_all(0, (1, 6), (2, 3)) == [[(1, 6)], [(2, 3)], [], []]
    assert run.push_all(0) == [[], [], [], []]


def test_filter_takes_batches_in_pieces() -> None:
    run = Run(Filter(("pos > 5",)), SOLDIERS)
    halves = [pa.table({"sid": [1, 2], "pos": [6, 3]}), pa.table({"sid": [3], "pos": [9]})]
    batch = pa.concat_tables(halves).append_column("#ts", pa.array([1, 2, 3], pa.timestamp("us", "UTC")))
    step = run.kernel.step(run.state, 0, batch, 0)
    assert step.outputs[0]["sid"].to_pylist() == [1, 3]
    assert step.outputs[1]["#cause"].to_pylist() == [1]


def test_map_computes_every_attribute_from_the_input() -> None:
    run = Run(Map({"pos": "sid", "sid": "pos + 1", "kind": "'soldier'"}), SOLDIERS)
    assert run.push(0, (1, 5), (2, None)) == [(1, 6, "soldier"), (2, None, "soldier")]
    assert (run.ts, run.causes) == ([1, 2], [0, 1])
    assert run.kernel.output_schemas[0].names == ("pos", "sid", "kind")


def test_map_of_constants_knows_how_many_tuples_there_are() -> None:
    run = Run(Map({"one": "1"}), SOLDIERS)
    assert run.push(0, (1, 5), (2, 6)) == [(1,), (1,)]
    assert run.push(0) == []


def test_union_lets_all_tuples_through_and_widens_what_may_be_null() -> None:
    run = Run(Union(), "sid int not null", "sid int")
    assert run.push(0, (1,), (2,)) == [(1,), (2,)]
    assert run.push(1, (None,)) == [(None,)]
    assert run.ts == [3]
    assert run.kernel.output_schemas[0]["sid"].nullable


def test_nothing_is_remembered() -> None:
    for box in (Filter(("pos > 5",)), Map({"a": "pos"}), Union()):
        run = Run(box, SOLDIERS)
        run.push(0, (1, 6))
        assert run.state == {}
        assert run.flush() == []


def test_unnest_repeats_a_tuple_for_each_element() -> None:
    run = Run(Unnest("split(tags, ',')", "tag", "place"), TAGGED)
    rows = run.push(0, (1, "a,b,,c"), (2, None), (3, ""), (4, "d,e"))
    assert rows == [
        (1, "a,b,,c", "a", 0),
        (1, "a,b,,c", "b", 1),
        (1, "a,b,,c", "", 2),
        (1, "a,b,,c", "c", 3),
        (3, "", "", 0),
        (4, "d,e", "d", 0),
        (4, "d,e", "e", 1),
    ]
    assert run.causes == [0, 0, 0, 0, 2, 3, 3]
    assert run.ts == [1, 1, 1, 1, 3, 4, 4]


def test_unnest_can_keep_tuples_without_elements() -> None:
    run = Run(Unnest("split(tags, ',')", "tag", "place", keep_empty=True), TAGGED)
    rows = run.push(0, (1, None), (2, "a,b"), (3, None), (4, "c"))
    assert [row[2:] for row in rows] == [(None, None), ("a", 0), ("b", 1), (None, None), ("c", 0)]
    assert run.causes == [0, 1, 1, 2, 3]
    assert run.push(0, (5, None)) == [(5, None, None, None)]
    assert run.push(0) == []


def test_unnest_of_a_constant_and_without_tuples() -> None:
    run = Run(Unnest("split('x-y', '-')", "part"), TAGGED)
    assert run.push(0, (1, "a"), (2, None)) == [(1, "a", "x"), (1, "a", "y"), (2, None, "x"), (2, None, "y")]
    assert run.push(0) == []


def test_unnest_takes_slices_of_batches_in_pieces() -> None:
    run = Run(Unnest("split(tags, ',')", "tag"), TAGGED)
    pieces = [pa.table({"id": pa.array([1, 2], pa.int32()), "tags": ["a,b", None]})] * 2
    batch = pa.concat_tables(pieces).append_column("#ts", pa.array([1, 2, 3, 4], pa.timestamp("us", "UTC")))
    step = run.kernel.step(run.state, 0, batch.slice(1), 0)
    assert step.outputs[0]["tag"].to_pylist() == ["a", "b"]
    assert step.outputs[0]["#cause"].to_pylist() == [1, 1]


@pytest.mark.parametrize(
    ("box", "path"),
    [
        (lambda: Unnest("split(tags", "tag"), "array"),
        (lambda: Unnest("split(tags, ',')", "1st"), "attribute"),
        (lambda: Unnest("split(tags, ',')", "tag", "1st"), "position"),
        (lambda: Unnest("split(tags, ',')", "tag", "tag"), "position"),
        (lambda: Unnest("tags", "tag").output_schemas(parse_schema(TAGGED)), "array"),
        (lambda: Unnest("split(tags, ',')[0]", "tag").output_schemas(parse_schema(TAGGED)), "array"),
        (lambda: Unnest("split(tags, ',')", "id").output_schemas(parse_schema(TAGGED)), "attribute"),
        (lambda: Unnest("split(tags, ',')", "tag", "id").output_schemas(parse_schema(TAGGED)), "position"),
    ],
)
def test_bad_parameters_of_unnest_are_refused(box: Callable[[], object], path: str) -> None:
    with pytest.raises(AlgebraError) as raised:
        box()
    assert raised.value.problems[0].path == path
