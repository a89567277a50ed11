"""The JSON and YAML form: it reads back equal, and says what is wrong with a text that it cannot read."""

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.algebra.boxes import Drop
from australis.algebra.builder import NetworkBuilder
from australis.algebra.form.form import dumps, from_json, json_schema, load, loads, to_json
from australis.algebra.network import Network, Node, Ref
from australis.algebra.order import Order
from australis.algebra.quality import Quality, ValueGraph
from australis.errors import AlgebraError, FormError, NetworkError

SMALL = {
    "australis": 1,
    "name": "n",
    "inputs": {"pos": {"schema": {"sid": "int", "pos": "int"}}},
    "boxes": {"f": {"box": "filter", "from": "pos", "predicates": ["pos > 1"]}},
    "outputs": {"out": {"from": "f"}},
}


def everything() -> Network:
    """A network with every box, and every optional part set."""
    net = NetworkBuilder("everything", timezone="Europe/Berlin", description="All of it: on, off, 1:30")
    quotes = net.input(
        "quotes", "sid string not null, at timestamp, price double, size int", description="quotes"
    )
    names = net.table("names", {"sid": "string", "name": "string"})
    order = Order("at", slack=4, group_by=("sid",))
    high, low, rest = quotes.point("recent", history="2 h", key="sid").route(
        "price  > 10", "price > 5", as_="route"
    )
    with net.group("windows", tag="w", description="windows of all kinds"):
        high.aggregate(
            {"a": "avg(price)"}, order, "1 hour", advance="10 min", timeout="5 s", align=True
        ).output("a")
        high.aggregate({"n": "count(*)"}, order, "1 hour", advance_when="size > 3", tag="t").output("b")
        low.tumble({"n": "count(*)"}, ["sid"], timeout="1 min").output("c")
        low.slide({"last": "last(price)"}, 3, advance=2, order=Order("Tup#", group_by=("sid",))).output("d")
        rest.xsection({"n": "count(*)"}, "at", size="1 min", slack=2).output("e")
    mapped = quotes.map(
        {"sid": "sid", "at": "at", "price": "price * 2", "size": "size"}, description="doubled"
    )
    merged = mapped.bsort(order).union(quotes.wsort("at", "sid", timeout="2 s"))
    pairs = merged.join(high, "left.sid = right.sid", size="1 min", left=order, right=order)
    pairs.join(names, "left.left_sid = right.sid", left=Order("left_at")).output("named")
    rest.resample(low, {"p": "linear(price)"}, "1 min", left=Order("at"), right=order).output(
        "resampled",
        Quality(
            delay=((0, 1), (2, 0)),
            loss=((0, 0), (1, 1)),
            value=ValueGraph("p", points=((0, 0), (1, 1))),
            weight=2,
        ),
    )
    quotes.output(
        "raw", Quality(value=ValueGraph("sid", categories=(("IBM", 1), ("BAC", 0.5)))), description="raw"
    )
    quotes.point("all", history="forever").point("some", history=1000)
    return net.build()


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_a_network_reads_back_equal(suffix: str) -> None:
    network = everything()
    text = dumps(network, suffix)
    again = loads(text, suffix)
    assert again == network
    assert dumps(again, suffix) == text


def boxes(**fields: object) -> dict[str, object]:
    return {"boxes": {"f": {"from": "pos", **fields}}}


def quality(**fields: object) -> dict[str, object]:
    return {"outputs": {"out": {"from": "f", "quality": fields}}}


BROKEN: list[dict[str, object]] = [
    {"extra": 1},
    {"australis": 2},
    {"name": "two words"},
    {"inputs": {"pos": {"schemas": {}}}},
    {"inputs": {"pos": {"schema": {}}}},
    {"inputs": {"pos": {"schema": {"2nd": "int"}}}},
    {"inputs": {"p.q": SMALL["inputs"]["pos"]}},  # type: ignore[index]
    {"inputs": {"pös": SMALL["inputs"]["pos"]}},  # type: ignore[index]
    {"outputs": {"quarantine": {"from": "f"}}},
    {"connection_points": {"c": {"at": "f", "history": -1}}},
    boxes(box="filter", predicates=[]),
    boxes(box="wsort", by=[], timeout="1 s"),
    boxes(box="tumble", functions={"n": "count(*)"}, group_by=[]),
    boxes(box="tumble", functions={"n m": "count(*)"}, group_by=["sid"]),
    boxes(box="aggregate", functions={"n": "count(*)"}, order={"on": "pos"}, size=-1),
    boxes(box="bsort", order={"on": "pos", "slack": -1}),
    boxes(box="bsort", order={"on": "pos", "slack": 1_000_001}),
    {"boxes": {"f": {"box": "union", "from": []}}},
    {"boxes": {"f": {"box": "filter", "from": ["pos", "pos"], "predicates": ["pos > 1"]}}},
    {"boxes": {"f": {"box": "join", "from": "pos", "predicate": "true", "left": {"on": "pos"}}}},
    quality(delay=[[0, 2]]),
    quality(value={"attribute": "sid", "categories": {"1": -1}}),
    quality(weight=0),
]


def test_the_schema_accepts_what_is_written_and_refuses_what_is_refused() -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    jsonschema.Draft202012Validator.check_schema(json_schema())
    assert list(validator.iter_errors(to_json(everything()))) == []
    assert validator.is_valid(SMALL)
    for broken in BROKEN:
        document = {**SMALL, **broken}
        assert not validator.is_valid(document)
        with pytest.raises(AlgebraError):
            from_json(document)


def test_the_published_schema_is_the_one_in_the_code() -> None:
    published = Path(__file__).parents[2] / "docs" / "network.schema.json"
    assert json.loads(published.read_text()) == json_schema()


def changed(**parts: object) -> dict[str, object]:
    return {**SMALL, **parts}


def with_box(**fields: object) -> dict[str, object]:
    return changed(boxes={"f": {"box": "filter", "from": "pos", "predicates": ["pos > 1"], **fields}})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (changed(australis=7), "australis: version 7 of the form is not supported; expected 1"),
        (changed(australis=True), "version True"),
        ({"name": "n"}, "australis: is missing"),
        (changed(extra=1), "extra: unknown field; expected one of name, description, timezone, inputs"),
        ({"australis": 1}, "name: is missing"),
        ([], r"is \[\]; expected an object"),
        (with_box(predicate="x"), "n.f.predicate: unknown field; expected one of predicates"),
        (with_box(predicates="pos > 1"), "n.f.predicates: is 'pos > 1'; expected a list of texts"),
        (with_box(predicates=["pos > 1", 3]), r"n.f.predicates\[1\]: is 3; expected a text"),
        (
            with_box(box="filtre"),
            r"n.f.box: unknown box 'filtre' \(perhaps 'filter'\); expected one of filter, map",
        ),
        (with_box(box="drop"), "n.f.box: 'drop' is a system box"),
        (
            changed(boxes={"f": {"box": "wsort", "from": "pos", "by": ["pos"], "timeout": 5}}),
            "n.f.timeout: is 5; expected a length of time such as '30 s'",
        ),
        (
            changed(inputs={"pos": {"schema": {"t": "timestamp"}, "progress": {"on": "t", "idle": 5}}}),
            r"n.inputs.pos.progress.idle: is 5; expected a length of time such as '30 s'",
        ),
        (
            changed(outputs={"out": {"from": "f.late"}}),
            r"n.outputs.out.from: 'f' has no output port 'late'; expected a port from 0 to 1",
        ),
        (with_box(box=[]), r"n.f.box: unknown box \[\]; expected one of filter, map"),
        (with_box(predicates=10**400), r"n.f.predicates: is 1000000000\d*\.\.\.\d*; expected a list"),
        (changed(australis="1" * 1000), r"australis: version '1*\.\.\.1*' of the form"),
        (changed(inputs={"pos": {"schema": {}}}), "n.inputs.pos.schema: is empty; expected 1 to 10000"),
        (with_box(**{"from": 3}), "n.f.from: is 3; expected a stream or a list of streams"),
        (changed(boxes={"f": {"box": "bsort", "from": "pos"}}), "n.f.order: is missing"),
        (
            changed(boxes={"f": {"box": "bsort", "from": "pos", "order": {"on": "pos", "slack": "4 m"}}}),
            "n.f.order.slack",
        ),
        (
            changed(boxes={"f": {"box": "bsort", "from": "pos", "order": {"on": "pos", "slack": True}}}),
            "whole number",
        ),
        (
            changed(inputs={"pos": {"schema": {"sid": "integr"}}}),
            "n.inputs.pos.schema.sid: unknown type 'integr'",
        ),
        (changed(inputs={"pos": {"schema": {"sid": 4}}}), "n.inputs.pos.schema.sid: is 4; expected a text"),
        (
            changed(outputs={"out": {"from": "f", "quality": {"delay": [[0, 2]]}}}),
            "quality.delay: utility 2.0",
        ),
        (changed(outputs={"out": {"from": "f", "quality": {"delay": [[0]]}}}), r"delay\[0\]: is \[0\]"),
        (changed(outputs={"out": {"from": "f", "quality": {"delay": [[10**400, 1]]}}}), r"delay\[0\]: is \["),
        (changed(outputs={"out": {"from": "f", "quality": {"weight": float("inf")}}}), "weight: is inf"),
        (changed(outputs={"out": {"source": "f"}}), "n.outputs.out.source: unknown field; expected 'from'"),
        (changed(outputs={"out": {}}), "n.outputs.out.from: is missing; expected from"),
        (
            changed(outputs={"out": {"from": "f", "qualty": {}}}),
            r"n.outputs.out.qualty: unknown field \(perhaps 'quality'\); "
            "expected one of from, quality, description",
        ),
        (
            changed(boxes={"f": {"box": "bsort", "from": "pos", "order": {"on": "pos", "slack": "2 min"}}}),
            "n.f.order.slack: '2 min' is not a size for an order of type int",
        ),
    ],
)
def test_what_is_wrong_with_a_document(document: object, message: str) -> None:
    with pytest.raises(AlgebraError, match=message):
        from_json(document)


def test_a_misspelt_field_is_one_problem() -> None:
    with pytest.raises(FormError) as caught:
        from_json(changed(boxes={"f": {"box": "filter", "from": "pos", "predicats": ["pos > 1"]}}))
    assert [str(each) for each in caught.value.problems] == [
        "n.f.predicats: unknown field (perhaps 'predicates'); expected one of predicates"
    ]


def test_a_stream_that_is_not_there_may_be_a_box_that_could_not_be_read() -> None:
    boxes = {"crowd": {"box": "filter", "from": "pos"}, "big": {"box": "union", "from": ["crowds", "pos"]}}
    with pytest.raises(FormError, match="there is no input or box 'crowds'") as caught:
        from_json(changed(boxes=boxes, outputs={"out": {"from": "big"}, "other": {}}))
    found = next(each for each in caught.value.problems if each.path == "n.big.from[0]")
    assert found.what == "there is no input or box 'crowds' (perhaps 'crowd')"
    assert found.expected == "one of pos, big, crowd"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            "{fare: decimal(6,2), sid: int}",
            "n.inputs.pos.schema.fare: YAML splits it at the comma; "
            'expected quotes inside {...}: "decimal(6,2)"',
        ),
        ("{fare: decimal(6, sid: int}", "n.inputs.pos.schema.fare: unknown type 'decimal(6'"),
    ],
)
def test_a_text_that_yaml_splits_at_its_comma_is_named(schema: str, message: str) -> None:
    text = f"australis: 1\nname: n\ninputs:\n  pos: {{schema: {schema}}}\n"
    with pytest.raises(FormError) as caught:
        loads(text, ".yaml")
    assert str(caught.value.problems[0]).startswith(message)


def test_all_problems_of_a_document_come_at_once() -> None:
    boxes = {"a": {"box": "nope"}, "b": {"box": "filter", "from": "pos", "predicates": ["pos >"]}}
    with pytest.raises(FormError) as caught:
        from_json(changed(boxes=boxes, outputs={"o": {"from": "a", "oops": 1}}))
    assert [p.path for p in caught.value.problems] == ["n.a.box", "n.b.predicates[0]", "n.outputs.o.oops"]


def test_text_that_is_not_json_or_yaml() -> None:
    with pytest.raises(FormError, match="is not valid JSON: Expecting ',' delimiter at line 2, column 1"):
        loads('{"a": 1\n"b": 2}')
    with pytest.raises(FormError, match=r"is not valid YAML: .* at line 2, column"):
        loads("a: 1\n b: 2", ".yaml")
    with pytest.raises(FormError, match="is nested too deeply"):
        loads("[" * 100_000)


def test_an_id_that_occurs_twice_is_not_lost() -> None:
    text = '{"australis": 1, "name": "n\\"{",\n "boxes": {"f": {"from": "f"},\n   "\\u0066": {}}}'
    with pytest.raises(FormError) as caught:
        loads(text)
    [problem] = caught.value.problems
    assert str(problem).startswith("f: occurs twice at line 3, column 4; expected each id only once\n")
    assert text[problem.position :].startswith('"\\u0066"')
    with pytest.raises(FormError, match="name: occurs twice at line 3, column 1; expected each id only once"):
        loads("australis: 1\nname: a\nname: b\n", ".yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\n2: b", "2: is not a text at line 2, column 1; expected a text as a name; put it in quotes"),
        ("a: 1\n? [b]\n: 2", r"\['b'\]: is not a text at line 2, column 3"),
        ("a: &x 1\nb: 2", "has an anchor or an alias at line 1, column 4; expected every value written out"),
        ("a: 1\nb: *x", "has an anchor or an alias at line 2, column 4"),
        ("a: !!int x", "has the tag 'tag:yaml.org,2002:int' at line 1, column 4"),
        ("a: !!timestamp x", "has the tag"),
    ],
)
def test_yaml_that_json_does_not_have(text: str, message: str) -> None:
    with pytest.raises(FormError, match=message):
        loads(text, ".yaml")


def test_a_message_quotes_little_of_a_large_document() -> None:
    value: object = "x" * 100
    for _ in range(12):
        value = [value] * 9
    with pytest.raises(FormError) as caught:
        from_json(changed(australis=value))
    assert len(str(caught.value)) < 20_000


def test_aliases_of_aliases_are_not_followed() -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    with pytest.raises(FormError, match="has an anchor or an alias at line 1"):
        loads("\n".join([*lines, "australis: *a29"]), ".yaml")


@pytest.mark.parametrize(("suffix", "text"), [(".json", '{"australis": %s}'), (".yaml", "australis: %s")])
def test_a_number_without_end(suffix: str, text: str) -> None:
    with pytest.raises(FormError, match="has a number of 5000 digits"):
        loads(text % ("1" * 5000), suffix)


@given(st.text(st.characters(), max_size=40))
@example("tab\tand trailing \n  \n\x85 next \u2028 line \u2029 \ufeff end \x7f\x00 \ud800")
@example("two\nlines\n")
@example("word " * 60)
@example(" word\n" * 60)
def test_every_description_reads_back_exactly(description: str) -> None:
    network = from_json(changed(description=description))
    for suffix in (".json", ".yaml", ".yml"):
        assert loads(dumps(network, suffix), suffix).description == description


def test_other_suffixes_are_refused() -> None:
    with pytest.raises(FormError, match=r".toml: is not a network file; expected a name that ends in .json"):
        loads("{}", ".toml")
    with pytest.raises(FormError, match="is not a network file"):
        dumps(from_json(SMALL), "yaml")
    assert loads(dumps(from_json(SMALL), ".YAML"), ".YML") == from_json(SMALL)


def test_yaml_has_the_values_of_json() -> None:
    text = """
australis: 1
name: n
inputs: {pos: {schema: {sid: int, time: long}}}
boxes:
  sort: {box: bsort, from: pos, order: {on: time, slack: 2}}
outputs: {out: {from: sort}}
"""
    assert loads(text, ".yaml").boxes["sort"].box.order == Order("time", slack=2)  # type: ignore[attr-defined]


def test_files_that_are_not_there_or_no_networks(tmp_path: Path) -> None:
    with pytest.raises(FormError, match=r"missing.json: cannot be read"):
        load(tmp_path / "missing.json")
    with pytest.raises(FormError, match=r"is not a network file; expected a name that ends in .json"):
        load(tmp_path / "net.txt")
    binary = tmp_path / "net.json"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormError, match="cannot be read"):
        load(binary)


def test_system_boxes_are_shown_but_never_read_from_users() -> None:
    net = from_json(SMALL)
    boxes = {"drop": Node(Drop(0.25, seed=3), (Ref("pos"),)), "f": Node(net.boxes["f"].box, (Ref("drop"),))}
    shedding = Network(net.name, net.inputs, boxes, net.outputs)
    document = to_json(shedding)
    assert document["boxes"]["drop"] == {"box": "drop", "from": "pos", "rate": 0.25, "seed": 3}
    assert from_json(document, system=True) == shedding
    with pytest.raises(FormError, match="system box"):
        from_json(document)


def test_a_network_that_does_not_hold_together_is_a_network_error() -> None:
    with pytest.raises(NetworkError, match="there is no input or box 'g'"):
        from_json(changed(outputs={"out": {"from": "g"}}))


@pytest.mark.parametrize("source", ["lab/edge-1/speeds", "lab/speeds", "lab/a/detect.fast"])
def test_an_input_may_be_an_output_of_another_node(source: str) -> None:
    document = {
        "australis": 1,
        "name": "n",
        "inputs": {"s": {"schema": {"a": "int"}, "from": source}},
        "outputs": {"o": {"from": "s"}},
    }
    network = loads(json.dumps(document))
    assert network.inputs["s"].source == source
    assert json.loads(dumps(network)) == document
