"""Requests of a client: what a node tells and does, and what it refuses."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.engine.control.house import House, cars, running

from australis import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.control.client import Control
from australis.errors import EngineError, ExpressionError, NetworkError, PolicyError


def test_what_a_node_tells_and_does(house: House, control: Control) -> None:
    assert control.network() == running()
    house.push(cars(1, 2, 3))
    assert control.statistics() == {"log_end": 3}
    control.pause()
    assert house.paused
    control.resume()
    assert not house.paused
    difference = control.difference(running("other"))
    assert (difference.lines(), difference.as_dict()["lost"]) == (("the network is other",), [])
    assert house.current == running()
    assert control.change(running("other")).lines() == ("the network is other",)
    assert house.current == running("other")


def test_a_box_is_split_and_made_whole(control: Control) -> None:
    change = control.split("fast", 3, by=["car"], dry_run=True)
    assert change.lines() == ("the network is fast 3 ['car'] False True",)
    assert control.split("fast", any_order=True).lines() == ("the network is fast 2 [] True False",)
    assert control.unsplit("fast").lines() == ("the network is fast False",)
    with pytest.raises(PolicyError, match="refused: has no groups"):
        control.split("refused")


def test_tables_for_a_change(control: Control) -> None:
    """They may be longer than a frame, or empty."""
    tables = {"long": pa.table({"x": range(3_000_000)}), "empty": pa.table({"x": pa.array([], pa.int64())})}
    told = control.change(running(), tables=tables).as_dict()
    assert told["tables"] == {"long": 3_000_000, "empty": 0}


def test_errors_arrive_as_what_they_were(control: Control) -> None:
    with pytest.raises(EngineError) as refused:
        control.difference(running("refused"))
    assert str(refused.value) == "refused.pos: would lose its type; expected the type that it has"
    with pytest.raises(EngineError, match="node: failed: ValueError: nobody foresaw this"):
        control.change(running("broken"))
    assert control.statistics() == {"log_end": 0}, "the conversation goes on"


def test_an_invalid_network_is_refused_with_all_problems(control: Control) -> None:
    control.say({"request": "change", "tables": {}, "network": _twice_wrong()})
    with pytest.raises(NetworkError) as refused:
        control.hear()
    first, second = refused.value.problems
    assert (first.text, first.position, second.text, second.position) == ("sped > 1", 0, "speed + car", 0)
    control.say({"request": "difference", "network": {"australis": 2}})
    with pytest.raises(ExpressionError.__bases__[0], match="version 2 of the form"):
        control.hear()


def _twice_wrong() -> dict[str, object]:
    return {
        "australis": 1,
        "name": "wrong",
        "inputs": {"pos": {"schema": {"car": "int", "speed": "double"}}},
        "boxes": {
            "one": {"box": "filter", "from": "pos", "predicates": ["sped > 1"]},
            "two": {"box": "filter", "from": "pos", "predicates": ["speed + car"]},
        },
        "outputs": {"a": {"from": "one"}, "b": {"from": "two"}},
    }


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({}, "request.request: is missing; expected one of type str"),
        ({"request": 7}, "request.request: is of type int; expected one of type str"),
        ({"request": "dance"}, "request: there is no request 'dance'; expected one of status, statistics"),
        ({"request": "took", "output": "fast"}, "request: there is no request 'took'"),
        ({"request": "detach"}, "request.name: is missing"),
        ({"request": "detach", "name": "nobody"}, "nobody: is no query"),
        ({"request": "join", "name": "nobody", "follow": True}, "no query 'nobody' is attached"),
        (
            {"request": "attach", "network": [], "keep": False, "follow": True},
            "request.network: is of type list",
        ),
        ({"request": "attach", "network": {}, "keep": 1, "follow": True}, "australis: is missing"),
        ({"request": "change", "network": {}}, "request.tables: is missing"),
    ],
)
def test_requests_that_are_refused(control: Control, request_: dict[str, object], said: str) -> None:
    control.say(request_)
    with pytest.raises(Exception, match="^" + said):
        control.hear()
    assert control.attached() == {}, "the conversation goes on"


def test_networks_travel_whole(control: Control) -> None:
    net = NetworkBuilder("t", timezone="Europe/Berlin", description="ü")
    net.input("pos", "at timestamp, x decimal(10,2)").filter("x > 1.5").point("p", history=5).output("o")
    network: Network = net.build()
    control.change(network)
    assert control.network() == network
