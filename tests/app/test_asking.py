"""Queries in the words of the command line, and what is shown of their tuples."""

from __future__ import annotations

import json
from io import StringIO

import click
import pyarrow as pa
import pytest
from rich.console import Console

from australis import NetworkBuilder, parse_schema
from australis.app.asking.delivery import Rows, open_destination
from australis.app.asking.offline import in_sequence
from australis.app.options.queries import QueryOptions, bound, in_one_line, point_schema
from australis.errors import NetworkError

SCHEMA = "car int not null, speed double"


def running() -> NetworkBuilder:
    net = NetworkBuilder("cars", timezone="Europe/Berlin")
    fast, _ = net.input("pos", SCHEMA).point("pos", history="1 h").route("speed > 80", as_="split")
    fast.output("fast")
    return net


def test_a_query_of_one_line_has_the_schema_and_the_zone_of_its_point() -> None:
    query = in_one_line(running().build(), "pos", "speed > 99", {"car": "car"})
    assert (query.timezone, list(query.boxes), str(query.output_schema("found"))) == (
        "Europe/Berlin",
        ["where", "map"],
        "car int not null",
    )
    bare = in_one_line(running().build(), "pos", None, {})
    assert (list(bare.boxes), bare.output_schema("found")) == ([], parse_schema(SCHEMA))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nobody", "cars: there is no connection point 'nobody'; expected one of pos"),
        (
            "split.1",
            "cars: 'split.1' is an arc, but no connection point; expected one of pos; "
            "or `connection_points: {split_1: {at: split.1, history: 1 h}}` in the network, "
            "and `australis deploy` of it",
        ),
    ],
)
def test_what_is_no_connection_point(name: str, said: str) -> None:
    with pytest.raises(NetworkError) as refused:
        point_schema(running().build(), name)
    assert str(refused.value) == said


def test_a_network_without_connection_points() -> None:
    net = NetworkBuilder("bare")
    net.input("pos", SCHEMA).output("all")
    with pytest.raises(
        NetworkError, match="expected a network with connection points; or `connection_points"
    ):
        point_schema(net.build(), "pos")


def test_the_only_input_of_a_query_is_the_point() -> None:
    net = NetworkBuilder("ask")
    given = net.input("reports", SCHEMA)
    given.filter("speed > 1").union(given).output("twice")
    given.output("as_it_is")
    query = bound(running().build(), net.build(), "pos")
    assert list(query.inputs) == ["pos"]
    assert {str(ref) for node in query.boxes.values() for ref in node.sources} == {"pos", "filter1"}
    assert str(query.outputs["as_it_is"].source) == "pos"
    with pytest.raises(NetworkError, match="no connection point 'reports'"):
        bound(running().build(), net.build(), None)


def test_which_of_several_inputs_is_meant_is_not_guessed() -> None:
    net = NetworkBuilder("ask")
    net.input("a", SCHEMA).union(net.input("b", SCHEMA)).output("both")
    with pytest.raises(click.UsageError, match="ask has the inputs a, b: none of them is pos"):
        bound(running().build(), net.build(), "pos")


def test_words_that_do_not_go_together() -> None:
    with pytest.raises(click.UsageError, match="--net is a whole query"):
        QueryOptions("pos", "speed > 1", "net.yaml", {}).check()
    with pytest.raises(click.UsageError, match="--map is for the tuples of a connection point"):
        QueryOptions(None, None, None, {"x": "1"}).check()


# --- what is shown


def table(*speeds: float | None) -> pa.Table:
    return pa.table(
        {"car": pa.array(range(len(speeds)), pa.int32()), "speed": pa.array(speeds, pa.float64())}
    )


def test_rows_on_a_terminal_stand_below_one_another() -> None:
    text = StringIO()
    rows = Rows({"fast": parse_schema(SCHEMA)}, Console(file=text, width=60), limit=4)
    rows.take("fast", table(1234.5, None))
    rows.take("fast", table(1.5))
    assert not rows.is_full
    rows.take("fast", table(7.0, 8.0))
    assert (rows.is_full, rows.tuples) == (True, 4)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    assert lines[0] == "car    speed"
    assert lines[2:] == ["  0   1234.5", "  1     NULL", "  0      1.5", "  0      7.0"]


def test_rows_of_several_outputs_are_told_apart() -> None:
    text = StringIO()
    schemas = {"one": parse_schema("a int"), "two": parse_schema("b string")}
    rows = Rows(schemas, Console(file=text, width=60))
    one, two = pa.table({"a": pa.array([1], pa.int32())}), pa.table({"b": ["x"]})
    for output, found in (("one", one), ("one", one), ("two", two), ("one", one)):
        rows.take(output, found)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    assert [line for line in lines if line.endswith(":")] == ["one:", "two:", "one:"]
    assert lines.count("a") == 2


def test_lines_say_of_which_output_they_are(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    schemas = {"one": parse_schema("a string"), "two": parse_schema("a string")}
    with open_destination(schemas, None, None, as_json=False) as lines:
        lines.take("one", pa.table({"a": ["x\ny}", None]}))
        lines.take("two", pa.table({"a": ["z"]}))
    found = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert found == [
        {"output": "one", "tuple": {"a": "x\ny}"}},
        {"output": "one", "tuple": {"a": None}},
        {"output": "two", "tuple": {"a": "z"}},
    ]


def test_streams_are_put_into_sequence() -> None:
    """Whatever the tables are cut into; tuples of one number come in the order of the streams."""
    one = [pa.table({"#seq": [1, 1, 3]}), pa.table({"#seq": [3, 7]})]
    other = [pa.table({"#seq": [1]}), pa.table({"#seq": [2, 5]}), pa.table({"#seq": [8, 9]})]
    found = [
        (name, number)
        for name, each in in_sequence({"a": iter(one), "b": iter(other), "c": iter([])})
        for number in each["#seq"].to_pylist()
    ]
    assert [number for _, number in found] == [1, 1, 1, 2, 3, 3, 5, 7, 8, 9]
    assert [number for name, number in found if name == "b"] == [1, 2, 5, 8, 9]
