"""Every problem of a document is found at once: of parts, of the graph, of types, of QoS graphs."""

from __future__ import annotations

from typing import Any

import pytest

from australis.algebra.form import from_json, loads
from australis.algebra.network import Input
from australis.algebra.progress import Progress
from australis.algebra.schema import parse_schema
from australis.errors import AlgebraError, FormError, NetworkError

TRIPS = {"schema": {"van": "int not null", "at": "timestamp", "speed": "double"}}
ORDER = {"on": "at", "group_by": ["van"]}

DOCUMENT = """
australis: 1
name: vans
colour: red
timezone: Mars/Base
inputs:
  reports: {schema: {van: int, speed: doubel, fuel: dubble}}
  trips: {schema: {van: int not null, at: timestamp, speed: double}}
boxes:
  fast: {box: filter, from: trips, predicates: ["spede > 100 and vann = 1", "speed >"]}
  mean:
    box: aggregate
    from: fast
    functions: {avg: "avg(spede)", n: "count(*)", m: "max(at 1)"}
    order: {on: att, group_by: [vanx]}
    size: 5 min
  after: {box: map, from: mean, attributes: {a: avg}}
  lost: {box: filter, from: nowhere, predicates: ["true"], color: red}
  odd: {box: flter, from: trips}
  reader: {box: filter, from: reports, predicates: ["speed > 1", "fule > 1"]}
outputs:
  alarms: {from: fast.7, quality: {delay: [[0, 1], [1, 2]], loss: [[0, 0], [1, 0.5]]}}
  fine: {from: odd}
  gone: {from: elsewhere}
connection_points:
  past: {at: reader, key: vvv, history: 1 fortnight}
"""

PLACES = [
    "colour",
    "vans.inputs.reports.schema.speed",
    "vans.inputs.reports.schema.fuel",
    "vans.fast.predicates[1]",
    "vans.mean.functions.m",
    "vans.lost.color",
    "vans.odd.box",
    "vans.outputs.alarms.quality.delay",
    "vans.outputs.alarms.quality.loss",
    "vans.connection_points.past.history",
    "vans.timezone",
    "vans.lost.from[0]",
    "vans.outputs.alarms.from",
    "vans.outputs.gone.from",
    "vans.fast.predicates[0]",
    "vans.fast.predicates[0]",
    "vans.mean.order.group_by[0]",
    "vans.mean.order.on",
    "vans.mean.functions.avg",
    "vans.reader.predicates[1]",
    "vans.connection_points.past.key",
]


def test_every_problem_is_found_at_once() -> None:
    with pytest.raises(FormError) as raised:
        loads(DOCUMENT, ".yaml")
    assert [problem.path for problem in raised.value.problems] == PLACES


def network(boxes: dict[str, Any], **outputs: Any) -> dict[str, Any]:
    return {"australis": 1, "name": "n", "inputs": {"trips": TRIPS}, "boxes": boxes, "outputs": outputs}


def mean(functions: dict[str, str]) -> dict[str, Any]:
    return {"box": "aggregate", "from": "trips", "functions": functions, "order": ORDER, "size": "1 min"}


def places(document: dict[str, Any]) -> list[str]:
    with pytest.raises(NetworkError) as raised:
        from_json(document)
    return [problem.path for problem in raised.value.problems]


def test_boxes_after_a_faulty_one_are_checked() -> None:
    boxes = {
        "mean": mean({"avg": "avg(spede)", "n": "count(*)"}),
        "scaled": {"box": "map", "from": "mean", "attributes": {"avg": "avg * 2", "n": "n", "k": "nn"}},
        "high": {"box": "filter", "from": "scaled", "predicates": ["avg > 1 and k > 2", "n > 'x'", "m > 1"]},
    }
    graph = {"value": {"attribute": "avg", "points": [[0, 0], [1, 1]]}}
    found = places(network(boxes, high={"from": "high", "quality": graph}))
    # What avg and k are is not known, so nothing is said of their use.
    assert found == [
        "n.mean.functions.avg",
        "n.scaled.attributes.k",
        "n.high.predicates[1]",
        "n.high.predicates[2]",
    ]


def test_what_a_sound_box_leaves_behind_is_unknown_afterwards() -> None:
    boxes = {
        "mean": mean({"avg": "avg(spede)", "n": "count(*)"}),
        "scaled": {"box": "map", "from": "mean", "attributes": {"n": "n"}},
        "high": {"box": "filter", "from": "scaled", "predicates": ["avg > 1"]},
    }
    assert places(network(boxes, high={"from": "high"})) == ["n.mean.functions.avg", "n.high.predicates[0]"]


def test_pairs_with_a_faulty_side_are_checked() -> None:
    sides = {"left": {"on": "at"}, "right": {"on": "at"}}
    boxes = {
        "mean": mean({"speed": "avg(spede)", "n": "count(*)"}),
        "both": {
            "box": "join",
            "from": ["trips", "mean"],
            "size": "1 min",
            **sides,
            "predicate": "left.vam = 1",
        },
        "near": {"box": "join", "from": ["trips", "mean"], "size": "1 min", **sides, "predicate": "true"},
        "high": {"box": "filter", "from": "near", "predicates": ["right_speed > 1", "right_sped > 1"]},
    }
    found = places(network(boxes, high={"from": "high"}, both={"from": "both"}))
    assert found == ["n.mean.functions.speed", "n.both.predicate", "n.high.predicates[1]"]


def test_graph_and_types_are_checked_together() -> None:
    boxes = {
        "one": {"box": "filter", "from": "nowhere", "predicates": ["true"]},
        "two": {"box": "filter", "from": "trips", "predicates": ["sped > 1"]},
        "three": {"box": "union", "from": ["two"]},
    }
    found = places(network(boxes, one={"from": "one"}, two={"from": "two"}, three={"from": "three"}))
    assert found == ["n.one.from[0]", "n.three", "n.two.predicates[0]"]


def test_loops_hide_no_problem_elsewhere() -> None:
    boxes = {
        "a": {"box": "union", "from": ["trips", "b"]},
        "b": {"box": "filter", "from": "a", "predicates": ["spede > 1"]},
        "c": {"box": "filter", "from": "c", "predicates": ["true"]},
        "after": {"box": "filter", "from": "b", "predicates": ["spede > 1"]},
        "other": {"box": "filter", "from": "trips", "predicates": ["spede > 1"]},
    }
    with pytest.raises(NetworkError) as raised:
        from_json(network(boxes, x={"from": "other"}))
    assert [(problem.path, problem.what) for problem in raised.value.problems] == [
        ("n.a", "is in a loop: a -> b -> a"),
        ("n.c", "is in a loop: c -> c"),
        ("n.other.predicates[0]", "unknown attribute 'spede'"),
    ]


def test_all_texts_of_a_list_and_an_object_are_checked() -> None:
    boxes = {
        "a": {"box": "filter", "from": "trips", "predicates": [1, "true", None]},
        "b": {"box": "map", "from": "trips", "attributes": {"x": [1], "y": "van", "z": None}},
    }
    with pytest.raises(FormError) as raised:
        from_json(network(boxes, x={"from": "a"}))
    assert [problem.path for problem in raised.value.problems] == [
        "n.a.predicates[0]",
        "n.a.predicates[2]",
        "n.b.attributes.x",
        "n.b.attributes.z",
    ]


def test_a_bad_format_hides_no_problem_of_the_boxes_after_its_input() -> None:
    document = network(
        {"a": {"box": "filter", "from": "trips", "predicates": ["spede > 1"]}}, x={"from": "a"}
    )
    document["inputs"] = {"trips": {**TRIPS, "format": {"csv": {"seperator": ";"}}}}
    with pytest.raises(FormError) as raised:
        from_json(document)
    assert [problem.path for problem in raised.value.problems] == [
        "n.inputs.trips.format.csv.seperator",
        "n.a.predicates[0]",
    ]


def test_a_bad_progress_is_refused_by_its_fields() -> None:
    """Nothing is said of lengths along an attribute that is not there."""
    schema = "t timestamp, n long"
    for progress, found in (
        (Progress("tt", slack="10 s", idle="1 s"), ["progress.on"]),
        (Progress("tt", promise="pp"), ["progress.promise", "progress.on"]),
        (Progress("t", promise="pp"), ["progress.promise"]),
        (Progress("n", slack="10 s", idle="1 s"), ["progress.slack", "progress.idle"]),
    ):
        with pytest.raises(AlgebraError) as caught:
            Input(parse_schema(schema), progress=progress)
        assert [problem.path for problem in caught.value.problems] == found
