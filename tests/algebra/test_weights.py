"""The weight of an input: what is one, what is refused, and which streams still have it, under which name."""

from __future__ import annotations

import pytest

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.form import dumps, loads
from australis.algebra.network import Input, Network
from australis.algebra.order import Order
from australis.algebra.schema import parse_schema
from australis.algebra.store import file_format_of
from australis.errors import AlgebraError

FLOWS = "time long not null, host string, bytes double, copies double not null"


def flows() -> tuple[NetworkBuilder, Stream]:
    net = NetworkBuilder("n")
    return net, net.input("flows", FLOWS, weight="copies")


def weights(stream: Stream, net: NetworkBuilder) -> dict[str, str]:
    """The weights of the streams after the inputs, of a network whose output is a stream."""
    stream.output("out")
    network: Network = net.build()
    return {str(ref): name for ref, name in network.weights.items() if ref.id not in network.inputs}


# --- what is a weight


@pytest.mark.parametrize(
    ("schema", "weight", "expected"),
    [
        (
            FLOWS,
            "copis",
            "weight: unknown attribute 'copis'; expected an attribute of the type double not null",
        ),
        (
            FLOWS,
            "bytes",
            "weight: the attribute 'bytes' has the type double; "
            "expected an attribute of the type double not null",
        ),
        (
            FLOWS,
            "time",
            "weight: the attribute 'time' has the type long not null; "
            "expected an attribute of the type double not null",
        ),
        (FLOWS, 5, "weight: is 5; expected the name of an attribute"),
    ],
)
def test_what_is_no_weight(schema: str, weight: str, expected: str) -> None:
    with pytest.raises(AlgebraError) as raised:
        Input(parse_schema(schema), weight=weight)
    assert str(raised.value) == expected


def test_a_stored_table_has_no_weight() -> None:
    with pytest.raises(AlgebraError) as raised:
        Input(parse_schema(FLOWS), table=True, weight="copies")
    assert str(raised.value) == "weight: is for streams, but this is a stored table; expected no weight"


def test_a_wrong_weight_hides_no_other_problem() -> None:
    text = """
    {"australis": 1, "name": "n", "inputs": {"s": {"schema": {"k": "int"}, "weight": "k"}},
     "boxes": {"f": {"box": "filter", "from": "s", "predicates": ["j > 0"]}}, "outputs": {"o": {"from": "f"}}}
    """
    with pytest.raises(AlgebraError) as raised:
        loads(text)
    assert [str(each).partition(";")[0] for each in raised.value.problems] == [
        "n.inputs.s.weight: the attribute 'k' has the type int",
        "n.f.predicates[0]: unknown attribute 'j'",
    ]


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_documents_keep_it(suffix: str) -> None:
    net, stream = flows()
    stream.output("out")
    network = net.build()
    assert loads(dumps(network, suffix), suffix) == network
    assert network.inputs["flows"].weight == "copies"
    assert "weight" in dumps(network, suffix)


def test_sources_may_leave_it_out() -> None:
    given = Input(parse_schema(FLOWS), weight="copies")
    assert given.arriving.but_optional().names == ("time", "host", "bytes")
    assert given.arriving.but_optional("copies") == given.arriving
    assert str(given.schema) == FLOWS, "every tuple of the stream has it"
    assert Input(parse_schema(FLOWS)).arriving == parse_schema(FLOWS)


def test_columns_of_a_format_may_leave_it_out() -> None:
    made = file_format_of({"csv": {"header": False, "columns": ["host", "bytes", "time"]}})
    assert Input(parse_schema(FLOWS), format=made, weight="copies").format == made
    with pytest.raises(AlgebraError, match="lacks the attribute copies"):
        Input(parse_schema(FLOWS), format=made)


# --- which streams have it


def test_boxes_that_pass_tuples_on() -> None:
    net, stream = flows()
    small = stream.filter("bytes < 100", as_="small")
    numbered = small.bsort(Order("time", slack=2), as_="sorted").map(
        {"time": "time", "times": "copies"}, as_="renamed"
    )
    assert weights(numbered, net) == {
        "small": "copies",
        "small.1": "copies",
        "sorted": "copies",
        "renamed": "times",
    }


def test_a_map_may_leave_it_out_compute_it_or_keep_it_twice() -> None:
    net, stream = flows()
    stream.map({"host": "host"}, as_="without").output("a")
    stream.map({"copies": "copies * 2"}, as_="computed").output("b")
    assert weights(stream.map({"first": "copies", "copies": "copies"}, as_="twice"), net) == {
        "twice": "copies"
    }


def test_a_union_has_it_if_all_inputs_have() -> None:
    net, stream = flows()
    other = net.input("others", FLOWS, weight="copies")
    third = net.input("third", FLOWS)
    stream.union(other, as_="both").output("both")
    assert weights(stream.union(other, third, as_="all"), net) == {"both": "copies"}


def test_a_join_has_that_of_its_first_side_that_has_one() -> None:
    net, stream = flows()
    plain = net.input("plain", "at long not null, host string")
    left, right = Order("time"), Order("at")
    stream.join(plain, "left.host = right.host", size=5, left=left, right=right, as_="first").output("a")
    plain.join(stream, "left.host = right.host", size=5, left=right, right=left, as_="second").output("b")
    outer = stream.join(
        plain, "left.host = right.host", size=5, left=left, right=right, how="right", as_="outer"
    )
    found = weights(outer, net)
    assert found.keys() == {"first", "second"}, "in the outer one it may be NULL"
    assert set(found.values()) == {"copies"}


def test_results_of_windows_have_none_but_their_late_tuples_do() -> None:
    net, stream = flows()
    order = Order("time", group_by=("copies",), late=True)
    counts = stream.aggregate({"n": "count(*)"}, order, 10, as_="counts")
    stream.tumble({"n": "count(*)"}, ["copies"], as_="runs").output("runs")
    assert weights(counts, net) == {"counts.1": "copies"}


def test_a_network_without_weights() -> None:
    net = NetworkBuilder("n")
    net.input("s", FLOWS).filter("bytes > 1").output("out")
    assert net.build().weights == {}
