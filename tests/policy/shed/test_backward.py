"""Backward propagation, checked by execution: a predicate at the gate sheds what it would at the output."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.boxes import Aggregate, Box, BSort, Filter, Join, Map, Resample, Tumble, Union
from australis.algebra.builder import NetworkBuilder
from australis.algebra.expr import Attribute, parse, text_of
from australis.algebra.network import Input, Network, Node, Output, Ref
from australis.algebra.order import Order
from australis.algebra.quality import ValueGraph
from australis.algebra.schema import Schema, parse_schema
from australis.errors import AlgebraError
from australis.kernels.expressions import evaluate
from australis.kernels.expressions.arrays import truths
from australis.kernels.pipeline import Pipeline
from australis.policy.shed.backward import backward
from australis.policy.shed.predicates import monotone, predicate
from australis.qos.histograms import Interval, Lowest
from australis.qos.intervals import along

SCHEMA = parse_schema("n int, l long, x double, p decimal(9,2), t timestamp, k string")
VALUES: dict[str, list[Any]] = {
    "n": [0, 1, -1, 7, 30, 2**31 - 1, -(2**31), None],
    "l": [0, 2, -5, 10**12, 2**63 - 1, -(2**63), None],
    "x": [0.0, -0.0, 0.1, 1.5, -3.25, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan, None],
    "p": [Decimal(v) for v in ("0.00", "0.01", "-1.50", "9.99", "9999999.99")] + [None],
    "t": [0, 1_500_000, -1, 10**15, None],
    "k": ["a", "b", "", None],
}
STEPS = (
    *("v * 2.5D", "v / -3", "v + 0.1D", "- v", "v - 7", "3 - v", "v * 1000", "v * 1.5", "1e-3 * v"),
    *("CAST(v AS double)", "CAST(v AS long)", "CAST(v AS int)", "CAST(v AS decimal(20,4))"),
    *("v * v", "abs(v)", "10 / v", "v div 3", "v % 5", "least(v, 3)", "coalesce(v, 1)"),
    *("CASE WHEN v > 2 THEN v ELSE - v END", "v * 0", "CAST(v AS decimal(38,10)) * 3"),
)
GRAPH = ValueGraph("v", points=((0, 0), (10, 1)))
EDGES = (-math.inf, -1e9, -4.5, -1.0, -0.0, 0.0, 0.1, 0.25, 1.0, 1.5, 3.0, 10.0, 1e6, 1e12, math.inf)


def drawn_boxes(random: Random, schema: Schema) -> list[Box]:
    """A chain of boxes that computes `v`, whatever types its steps produce."""
    carried = {name: name for name in SCHEMA.names}
    boxes: list[Box] = [Map({**carried, "v": random.choice(["n", "l", "x", "p", "t"])})]
    schema = boxes[0].output_schemas(schema)[0]
    for _ in range(random.randint(0, 4)):
        kind = random.random()
        if kind < 0.2:
            boxes.append(Filter((random.choice(["n > 0", "k = 'a'", "v is not null", "x < 1"]),)))
        elif kind < 0.3:
            boxes.append(BSort(Order("n", slack=1)))
        else:
            try:
                made = Map({**carried, "v": random.choice(STEPS)})
                schema = made.output_schemas(schema)[0]
                boxes.append(made)
            except AlgebraError:
                continue
    return boxes


def chain(boxes: list[Box]) -> Network:
    """Boxes in a chain; a Filter is left at its first port or its last."""
    nodes = {}
    source = Ref("in")
    for index, box in enumerate(boxes):
        nodes[f"b{index}"] = Node(box, (source,))
        source = Ref(f"b{index}", index % 2 if isinstance(box, Filter) else 0)
    return Network("n", {"in": Input(SCHEMA)}, nodes, {"out": Output(source)})


def drawn_tuples(random: Random, count: int) -> pa.Table:
    columns = {name: [random.choice(values) for _ in range(count)] for name, values in VALUES.items()}
    return table(SCHEMA, columns)


def table(schema: Schema, columns: dict[str, list[Any]]) -> pa.Table:
    return pa.table({f.name: pa.array(columns[f.name], f.type.arrow) for f in schema})


def results(network: Network, **inputs: pa.Table) -> list[tuple[Any, ...]]:
    """What comes out, with the end of the streams."""
    pipeline = Pipeline(network)
    out = pipeline.advance(pipeline.start(), inputs, 0, ending=True).outputs["out"]
    columns = [out[name].to_pylist() for name in network.output_schema("out").names]
    return [tuple(map(_comparable, row)) for row in zip(*columns, strict=True)]


def _comparable(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def kept(rows: pa.Table, schema: Schema, text: str) -> pa.Table:
    """The tuples for which a predicate does not hold."""
    holds = truths(evaluate(parse(text).bind(schema), rows, "UTC"))
    return rows.filter(pa.array(~holds))


def is_lowest(value: Any, lowest: Lowest, network: Network) -> bool:
    """By the meaning of `Lowest`, not by a predicate."""
    if value is None or value == "NaN":
        return lowest.others
    type_ = network.output_schema("out")["v"].type
    plain = int(value.timestamp() * 1e6) if type_.name == "timestamp" else value
    where = along(plain, type_)
    return any(each.low <= where < each.high or where == each.high == math.inf for each in lowest.intervals)


def drawn_lowest(random: Random) -> Lowest:
    edges = sorted(random.sample(range(len(EDGES)), 4))
    pairs = [Interval(EDGES[edges[i]], EDGES[edges[i + 1]]) for i in (0, 2)]
    return Lowest(tuple(pairs[: random.randint(1, 2)]), others=random.random() < 0.3)


@given(st.integers(0, 2**32))
def test_a_predicate_at_the_gate_sheds_what_it_would_at_the_output(seed: int) -> None:
    random = Random(seed)
    network, rows, lowest = chain(drawn_boxes(random, SCHEMA)), drawn_tuples(random, 60), drawn_lowest(random)
    source = network.outputs["out"].source
    field = network.schemas[source]["v"]
    found = backward(network, source, Attribute("v", field.type, field.nullable), [Ref("in")])
    assert found is not None
    shed = predicate(found[Ref("in")], lowest, GRAPH)
    names = network.output_schema("out").names
    whole = results(network, **{"in": rows})
    wanted = [row for row in whole if not is_lowest(row[names.index("v")], lowest, network)]
    got = results(network, **{"in": rows if shed is None else kept(rows, SCHEMA, text_of(shed))})
    assert Counter(map(str, got)) == Counter(map(str, wanted))


# --- what is inverted, and what is compared as it is


@pytest.mark.parametrize(
    ("text", "shed"),
    [
        ("x * 2", "((x >= 0.5D) AND (x <= 1.4999999999999998D))"),
        ("- x", "((x >= -2.9999999999999996D) AND (x <= -1.0D))"),
        ("1 - x / 10", "((x >= -19.999999999999996D) AND (x <= 5.551115123125783e-16D))"),
        ("CAST(n AS double) / 3", "((n >= 3) AND (n <= 8))"),
        ("CAST(l AS double)", "((l >= 1L) AND (l <= 2L))"),
        ("p * 1.5", "((p >= CAST(0.67BD AS decimal(9,2))) AND (p <= CAST(1.99BD AS decimal(9,2))))"),
        ("n", "((n >= 1) AND (n <= 2))"),
        ("n + 1", "(((n + 1) >= 1) AND ((n + 1) <= 2))"),
        ("n div 10", "(((CAST(n AS long) DIV 10L) >= 1L) AND ((CAST(n AS long) DIV 10L) <= 2L))"),
        ("1 / x", "(((1.0D / x) >= 1.0D) AND ((1.0D / x) <= 2.9999999999999996D))"),
    ],
)
def test_the_predicate_is_on_the_attribute_where_the_value_rises_or_falls_with_it(
    text: str, shed: str
) -> None:
    found = predicate(parse(text).bind(SCHEMA), Lowest((Interval(1.0, 3.0),)), GRAPH)
    assert found is not None
    assert text_of(found) == shed


@pytest.mark.parametrize(
    "text", ["n + 1", "x * 0", "CAST(x AS int)", "x * x", "x + n", "CAST(l AS int)", "abs(x)"]
)
def test_what_may_go_round_or_lose_its_order_is_not_inverted(text: str) -> None:
    assert monotone(parse(text).bind(SCHEMA)) is None


@pytest.mark.parametrize(("others", "left"), [(False, [0.5, math.nan, None]), (True, [0.5])])
def test_nan_is_not_above_all_others(others: bool, left: list[float | None]) -> None:
    rows = table(parse_schema("x double"), {"x": [0.5, 2.0, math.inf, math.nan, None]})
    found = predicate(parse("x").bind(SCHEMA), Lowest((Interval(1.0, math.inf),), others=others), GRAPH)
    assert found is not None
    assert str(kept(rows, parse_schema("x double"), text_of(found))["x"].to_pylist()) == str(left)


def test_categories() -> None:
    graph = ValueGraph("k", categories=(("a", 1.0), ("b", 0.2), ("c", 0.1)))
    attribute = parse("k").bind(SCHEMA)
    texts = [
        text_of(found) if found else None
        for found in (
            predicate(attribute, lowest, graph)
            for lowest in (
                Lowest(),
                Lowest(categories=("b",)),
                Lowest(categories=("b", "c")),
                Lowest(categories=("b",), others=True),
            )
        )
    ]
    assert texts == [
        None,
        "(k = 'b')",
        "(k IN ('b', 'c'))",
        "(((k = 'b') OR (k IS NULL)) OR (NOT (k IN ('a', 'b', 'c'))))",
    ]


# --- boxes with windows and sides


def moved(network: Network, attribute: str) -> dict[str, str] | None:
    source = network.outputs["out"].source
    field = network.schemas[source][attribute]
    gates = [Ref(name) for name in network.inputs]
    found = backward(network, source, Attribute(field.name, field.type, field.nullable), gates)
    return None if found is None else {str(ref): text_of(each) for ref, each in found.items()}


def one_box(box: Box, *schemas: str) -> Network:
    inputs = {f"in{i}": Input(parse_schema(schema)) for i, schema in enumerate(schemas)}
    node = Node(box, tuple(Ref(name) for name in inputs))
    return Network("n", inputs, {"box": node}, {"out": Output(Ref("box"))})


def test_a_key_of_groups_moves_before_its_windows_and_a_result_does_not() -> None:
    box = Aggregate({"top": "max(v)"}, Order("t", group_by=("k",)), size=10)
    network = one_box(box, "t long, k string, v double")
    assert moved(network, "k") == {"in0": "k"}
    assert moved(network, "top") is None
    assert moved(network, "t") is None


@given(st.integers(0, 2**32))
def test_groups_are_shed_whole(seed: int) -> None:
    random = Random(seed)
    box = Aggregate({"top": "max(v)", "n": "count(*)"}, Order("t", 1, group_by=("k",)), size=5)
    network = one_box(box, "t long not null, k double, v double")
    schema = network.inputs["in0"].schema
    columns = {
        "t": sorted(random.randint(0, 30) for _ in range(40)),
        "k": [random.choice([0.0, -0.0, 1.0, 2.0, math.nan, None]) for _ in range(40)],
        "v": [random.random() for _ in range(40)],
    }
    rows = table(schema, columns)
    found = predicate(Attribute("k", schema["k"].type), Lowest((Interval(0.0, 2.0),)), GRAPH)
    assert found is not None
    wanted = [row for row in results(network, in0=rows) if row[1] not in (0.0, 1.0)]
    got = results(network, in0=kept(rows, schema, text_of(found)))
    assert Counter(map(str, got)) == Counter(map(str, wanted))


def test_runs_of_other_tuples_would_become_one() -> None:
    assert moved(one_box(Tumble({"n": "count(*)"}, ("k",)), "k long"), "k") is None


def test_an_attribute_of_a_pair_moves_to_its_side_and_a_key_to_both() -> None:
    sides = ("t long, k string, v double", "t long, k string, w double")
    box = Join("left.k = right.k AND left.v < right.w", 5, Order("t"), Order("t"))
    assert moved(one_box(box, *sides), "w") == {"in1": "w"}
    assert moved(one_box(box, *sides), "left_k") == {"in0": "k", "in1": "k"}


def test_a_stored_table_sheds_nothing() -> None:
    inputs = {
        "in0": Input(parse_schema("t long, k string")),
        "in1": Input(parse_schema("k string, w double"), table=True),
    }
    node = Node(Join("left.k = right.k", left=Order("t")), (Ref("in0"), Ref("in1")))
    network = Network("n", inputs, {"box": node}, {"out": Output(Ref("box"))})
    assert moved(network, "w") is None
    assert moved(network, "left_k") == {"in0": "k"}


def test_resampled_groups_and_places() -> None:
    box = Resample({"near": "avg(w)"}, 5, Order("t"), Order("s", group_by=("k",)))
    network = one_box(box, "t long, a double", "s long, k string, w double")
    assert moved(network, "k") == {"in1": "k"}
    assert moved(network, "t") == {"in0": "t"}
    assert moved(network, "near") is None


def test_a_union_moves_to_all_its_streams() -> None:
    assert moved(one_box(Union(), "v double", "v double"), "v") == {"in0": "v", "in1": "v"}


def test_two_ways_with_different_values_are_none() -> None:
    net = NetworkBuilder("n")
    stream = net.input("in0", "v double")
    same = [stream.filter(f"v > {i}") for i in range(2)]
    same[0].union(same[1]).output("out")
    assert moved(net.build(), "v") == {"in0": "v"}
    net = NetworkBuilder("n")
    stream = net.input("in0", "v double")
    stream.map({"v": "v * 2"}).union(stream.map({"v": "v * 3"})).output("out")
    assert moved(net.build(), "v") is None


def test_a_gate_between_boxes_is_far_enough() -> None:
    net = NetworkBuilder("n")
    shared = net.input("in0", "v double").map({"w": "v * 2"}, as_="shared")
    shared.map({"u": "w + 1"}, as_="own").output("out")
    found = backward(net.build(), Ref("own"), parse("u").bind(parse_schema("u double")), [Ref("shared")])
    assert found is not None
    assert {str(ref): text_of(each) for ref, each in found.items()} == {"shared": "(w + 1.0D)"}
