"""What people write who know other systems: what it is called here, and constants without quotes."""

from __future__ import annotations

import math

import pytest

from australis import AlgebraError, NetworkBuilder, dumps, loads
from australis.algebra.expr import parse
from australis.algebra.expr.functions import LEFT_OUT
from australis.algebra.expr.parsing.operands import CALLABLE
from australis.algebra.expr.parsing.other_names import OTHER_NAMES
from australis.algebra.schema import parse_schema

SCHEMA = parse_schema("pos int, name string")


def refusal(text: str) -> str:
    with pytest.raises(AlgebraError) as raised:
        parse(text).bind(SCHEMA)
    return str(raised.value).splitlines()[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("len(name)", "unknown function 'len'; expected length"),
        ("LOG(pos)", "unknown function 'log'; expected ln, log10 or log2"),
        (
            "toDateTime(pos)",
            "unknown function 'todatetime'; expected timestamp_seconds(x), timestamp_millis(x)",
        ),
        ("iif(pos > 1, 1, 2)", "unknown function 'iif'; expected if(condition, a, b) or CASE WHEN condition"),
        ("percentile_cont(pos)", "expected percentile(x, p) in an Aggregate box: it is a window function"),
        ("now()", "cannot read the clock, and the time at which a tuple arrived is hidden"),
        ("date_trunk('DAY', pos)", "expected a function of docs/expressions.md (perhaps 'date_trunc')"),
    ],
)
def test_a_function_of_another_name(text: str, message: str) -> None:
    assert message in refusal(text)


def test_no_function_that_exists_is_said_to_be_another() -> None:
    assert len(OTHER_NAMES) > 80
    assert OTHER_NAMES.keys() & set(CALLABLE) == set()
    assert OTHER_NAMES.keys() & LEFT_OUT.keys() == set()


def test_a_word_may_be_meant_as_a_text() -> None:
    assert refusal("alarm") == (
        "unknown attribute 'alarm'; expected one of pos, name, or, if it is a text, \"'alarm'\""
    )
    assert refusal("nane") == "unknown attribute 'nane'; expected one of pos, name (perhaps 'name')"
    assert refusal("alarm + 1") == "unknown attribute 'alarm'; expected one of pos, name"


def test_constants_in_a_map_need_no_quotes() -> None:
    net = NetworkBuilder("n")
    given = {"n": 1, "less": -3, "flag": True, "not": False, "ratio": 0.5, "huge": 1e300, "pos": "pos"}
    net.input("x", SCHEMA).map(given, as_="m").output("o")
    network = net.build()
    assert str(network.output_schema("o")) == (
        "n int not null, less int not null, flag boolean not null, not boolean not null, "
        "ratio decimal(1,1) not null, huge double not null, pos int"
    )
    text = """
        australis: 1
        name: n
        inputs: {x: {schema: {pos: int, name: string}}}
        boxes:
          m:
            box: map
            from: x
            attributes: {n: 1, less: -3, flag: true, not: false, ratio: 0.5, huge: 1.0e+300, pos: pos}
        outputs: {o: {from: m}}
    """
    assert loads(text, ".yaml") == network
    assert loads(dumps(network)) == network


@pytest.mark.parametrize("value", [None, math.nan, math.inf, [1], {}])
def test_other_values_are_no_constants(value: object) -> None:
    net = NetworkBuilder("n")
    with pytest.raises(AlgebraError, match=r"attributes\.n: is .*; expected an expression as a text"):
        net.input("x", SCHEMA).map({"n": value})  # type: ignore[dict-item]
