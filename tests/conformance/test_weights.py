"""Networks whose inputs have a weight: reference, kernels and node give the same one to tuples without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.conformance.engine_runs import Journey, random_restarts, random_setting, recut
from tests.conformance.random_networks import Event, random_events, random_network, random_rows
from tests.conformance.test_engine import without_unread
from tests.conformance.test_networks import agree
from tests.engine.in_process import InProcess

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.schema import Field, Schema
from australis.algebra.types import DOUBLE
from australis.errors import NetworkError
from australis.kernels.run import PipelineRun
from australis.reference.network import ReferenceRun

RANDOM = st.randoms(use_true_random=False)
WEIGHT = "weight_"


def weighty(random: Random) -> tuple[Network, list[dict[str, Any]], list[Event]]:
    """A random network whose streams have a weight, which many tuples come without."""
    network = without_unread(random_network(random))
    stored = random_rows(random, network.inputs["stored"].schema, 5) if "stored" in network.inputs else []
    events = [_given(random, event) for event in random_events(random, network)]
    more = Field(WEIGHT, DOUBLE, nullable=False)
    inputs = {
        name: given
        if given.table
        else replace(given, schema=Schema((*given.schema.fields, more)), weight=WEIGHT)
        for name, given in network.inputs.items()
    }
    try:
        network = replace(network, inputs=inputs, known=None)
    except NetworkError:
        # A Union, say, of an input and something that has no weight.
        assume(False)
    return network, stored, events


def _given(random: Random, event: Event) -> Event:
    rows = tuple(({**row, WEIGHT: random.choice([None, 1.0, 2.5])}, ts) for row, ts in event.rows)
    return replace(event, rows=rows)


@given(RANDOM)
def test_random_networks_on_kernels(random: Random) -> None:
    agree(*weighty(random))


@given(RANDOM)
@settings(max_examples=10)
def test_random_networks_on_a_node(random: Random) -> None:
    network, stored, events = weighty(random)
    events, setting = recut(random, events), random_setting(random)
    Journey(network, stored, events, setting, random_restarts(random, setting, len(events))).check()


def test_tuples_without_the_attribute(tmp_path: Path) -> None:
    net = NetworkBuilder("n")
    flows = net.input("flows", "n long not null, copies double not null, host string", weight="copies")
    flows.filter("copies < 5", as_="small").output("small")
    flows.aggregate({"used": "count(*)", "came": "sum(copies)"}, Order("n"), 2, as_="sums").output("sums")
    network = net.build()
    rows: list[dict[str, Any]] = [
        {"n": 1, "host": "a"},
        {"n": 2, "copies": None, "host": None},
        {"n": 3, "copies": 7.0, "host": "c"},
    ]
    reference, kernels = ReferenceRun(network), PipelineRun(network)
    emitted = [each for row in rows for each in (*reference.push("flows", row, 0, 0),)] + reference.flush(0)
    expected = {
        name: [dict(each.values) for each in emitted if each.output == name] for name in network.outputs
    }
    assert expected["small"] == [
        {"n": 1, "copies": 1.0, "host": "a"},
        {"n": 2, "copies": 1.0, "host": None},
    ]
    assert expected["sums"] == [{"n": 1, "used": 2, "came": 2.0}, {"n": 3, "used": 1, "came": 7.0}]
    tables = [pa.table({name: [value] for name, value in row.items()}) for row in rows]
    found: dict[str, list[Any]] = {name: [] for name in network.outputs}
    for outputs in (*(kernels.push("flows", table, 0) for table in tables), kernels.flush(0)):
        for name in network.outputs:
            found[name] += outputs[name].drop_columns(["#ts"]).to_pylist()
    assert found == expected
    with Node(tmp_path, runner=InProcess()) as node:
        node.deploy(network)
        for row in rows:
            node.push("flows", row)
        node.flush()
        node.drain()
        for name in network.outputs:
            assert node.read(name).drop_columns(["#ts", "#seq"]).to_pylist() == expected[name]
