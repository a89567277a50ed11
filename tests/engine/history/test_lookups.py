"""Lookups: never less than a scan gives, and no more read than row groups that may match."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.builder import NetworkBuilder
from australis.algebra.expr import Value, parse
from australis.algebra.schema import Schema, parse_schema
from australis.algebra.types import TIMESTAMP
from australis.engine.history.allowed_values import lookup_of
from australis.engine.history.lookups import Lookups
from australis.engine.store import runs
from australis.engine.store.root import Root
from australis.engine.store.runs import described, encode_run, run_schema
from australis.engine.store.segments import SEQ, Segment, read_metadata, read_segment
from australis.engine.store.zones import Lookup, Zone, zones_of
from australis.kernels.expressions import evaluate as evaluate_all_rows
from australis.kernels.expressions.arrays import truths
from australis.plan.superboxes import plan
from australis.qos.intervals import Axis
from australis.reference.expressions import evaluate

_NUMBERS = [-7, -2, -1, 0, 1, 2, 3, 5, 8, 40]
_DOUBLES = [-math.inf, -2.5, -0.0, 0.0, 0.5, 1.0, 2.25, 1e300, math.inf, math.nan]
_TEXTS = ["", "a", "ab", "b", "B", "é", "zz", "\U0001f600", "￿"]
VALUES: dict[str, list[Value]] = {
    "int": [*_NUMBERS, 2**31 - 1, -(2**31)],
    "long": [*_NUMBERS, 2**63 - 1, -(2**63)],
    "double": [*_DOUBLES],
    "decimal(6,2)": [Decimal(number) / 4 for number in _NUMBERS],
    "string": [*_TEXTS],
    "timestamp": [number * 1_000_000 for number in _NUMBERS],
}


def literal(type_: str, value: Value) -> str:
    """A value as an expression writes it."""
    if type_ == "double":
        assert isinstance(value, float)
        return f"CAST('{value}' AS double)" if not math.isfinite(value) else f"{value!r}D"
    if type_ == "string":
        return f"'{value}'"
    if type_ == "timestamp":
        return f"timestamp_micros({value})"
    return f"CAST('{value}' AS {type_})"


DEPTH = 2


@st.composite
def predicates(draw: st.DrawFn, type_: str, depth: int = DEPTH) -> str:
    """Predicates on `k`, and some on `v`."""
    if depth and draw(st.booleans()):
        one, other = draw(predicates(type_, depth - 1)), draw(predicates(type_, depth - 1))
        return draw(st.sampled_from([f"({one}) and ({other})", f"({one}) or ({other})", f"not ({one})"]))
    a, b = (literal(type_, draw(st.sampled_from(VALUES[type_]))) for _ in range(2))
    sign = draw(st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "<=>"]))
    leaves = [f"k {sign} {a}", f"{a} {sign} k", f"k in ({a}, {b})", f"k between {a} and {b}", "v > 1"]
    leaves += ["k is null", "k is not null", f"k {sign} NULL", f"coalesce(k, {a}) = {b}", "true"]
    # A NULL that is all of an expression must say its type.
    leaves += ["CAST(NULL AS boolean)" if depth == DEPTH else "null"]
    if type_ in ("int", "long", "double", "decimal(6,2)"):
        leaves += [f"k * 2 {sign} {a}", f"k + 1.5D {sign} {a}", f"-k {sign} {a}", f"3 - k {sign} {a}"]
        leaves += [f"CAST(k AS double) / -2.0D {sign} {a}", f"k {sign} 1", f"k % 2 {sign} {a}", f"k {sign} v"]
    return draw(st.sampled_from(leaves))


TYPES = st.sampled_from(list(VALUES))


def schema_of(type_: str) -> Schema:
    return parse_schema(f"k {type_}, v double")


def zone(type_: str, value: Value) -> Zone:
    """The row group that has one value."""
    if value is None:
        return Zone(1, None, None, values=False, null=True)
    if isinstance(value, float) and math.isnan(value):
        return Zone(1, None, None, values=False, null=False, nan=True)
    at = value if isinstance(value, str) else Axis(schema_of(type_)["k"].type).position(value)
    return Zone(1, at, at, null=False)


@given(st.data(), TYPES)
def test_a_lookup_has_every_value_for_which_a_predicate_holds(data: st.DataObject, type_: str) -> None:
    text = data.draw(predicates(type_))
    schema = schema_of(type_)
    where = parse(text).bind(schema)
    lookup = lookup_of(where, schema["k"], "UTC")
    for value in [*VALUES[type_], None] if lookup is not None else []:
        holds = any(evaluate(where, {"k": value, "v": v}) is True for v in (0.0, 2.0, math.nan, None))
        assert lookup is not None
        assert lookup.meets(zone(type_, value)) or not holds, (text, value)


EXACT = [
    ("int", "k = 3", [3]),
    ("int", "k > 2 and k <= 5", [3, 5]),
    ("int", "k in (1, 8) or k < -2", [-7, 1, 8, -(2**31)]),
    ("int", "k * 2.0D = 10", [5]),
    ("long", "not (k < 40)", [40, 2**63 - 1]),
    ("long", "k > 2.5D and k < 6", [3, 5]),
    ("double", "k >= 1", [1.0, 2.25, 1e300, math.inf, math.nan]),
    ("double", "k < 0", [-math.inf, -2.5]),
    ("double", "k = CAST('NaN' AS double)", [math.nan]),
    ("decimal(6,2)", "k = 0.5", [Decimal("0.5")]),
    ("string", "k = 'ab'", ["ab"]),
    ("string", "k > 'zz'", ["zz", "é", "\U0001f600", "￿"]),
    ("timestamp", "k >= TIMESTAMP '1970-01-01 00:00:05'", [5_000_000, 8_000_000, 40_000_000]),
    ("int", "k is null", [None]),
    ("int", "k is null or k = 1", [None, 1]),
    ("int", "k = NULL", []),
]


@pytest.mark.parametrize(("type_", "text", "expected"), EXACT)
def test_a_lookup_has_no_more_than_it_must(type_: str, text: str, expected: list[Value]) -> None:
    schema = schema_of(type_)
    lookup = lookup_of(parse(text).bind(schema), schema["k"], "UTC")
    assert lookup is not None
    found = [value for value in [*VALUES[type_], None] if lookup.meets(zone(type_, value))]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


@pytest.mark.parametrize("text", ["v > 1", "k % 2 = 1", "k > v", "k is not null", "k <> 3 or v > 1", "true"])
def test_what_tells_nothing_of_the_key_is_no_lookup(text: str) -> None:
    schema = schema_of("int")
    assert lookup_of(parse(text).bind(schema), schema["k"], "UTC") is None


def test_a_type_without_an_axis_is_not_looked_up() -> None:
    schema = parse_schema("k boolean")
    assert lookup_of(parse("k = true").bind(schema), schema["k"], "UTC") is None


# --- files


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    monkeypatch.setattr(runs, "GROUP_ROWS", 3)
    root = Root.of(tmp_path)
    root.prepare()
    return root


def run_of(root: Root, type_: str, keys: list[Value], name: str) -> Segment:
    """A run with such keys, whose tuples have the numbers from 1 on."""
    schema = schema_of(type_)
    numbers = pa.array(range(1, len(keys) + 1), pa.int64())
    key = pa.array(keys, pa.int64()).cast(TIMESTAMP.arrow) if type_ == "timestamp" else None
    columns = [
        pa.array(keys, schema["k"].type.arrow) if key is None else key,
        pa.array([number % 3 / 2 for number in range(len(keys))], pa.float64()),
        numbers.cast(TIMESTAMP.arrow),
        numbers,
    ]
    table = pa.Table.from_arrays(columns, schema=run_schema(schema))
    data = encode_run(table, "k", ties=False)
    root.write(name, data)
    return described("a", name, 1, len(keys) + 1, table, data, "", "k")


def holding(table: pa.Table, text: str, schema: Schema) -> list[int]:
    where = parse(text).bind(schema)
    holds = truths(evaluate_all_rows(where, table.combine_chunks(), "UTC"))
    numbers: list[int] = table.filter(pa.array(holds))[SEQ].to_pylist()
    return numbers


names = (f"history/p/{number}.parquet" for number in range(10**9))


@given(st.data(), TYPES)
def test_what_is_looked_up_in_a_run_is_what_a_scan_finds(
    root_: Root, data: st.DataObject, type_: str
) -> None:
    text = data.draw(predicates(type_))
    keys = data.draw(st.lists(st.sampled_from([*VALUES[type_], None]), min_size=1, max_size=20))
    schema = schema_of(type_)
    run = run_of(root_, type_, keys, next(names))
    lookup = lookup_of(parse(text).bind(schema), schema["k"], "UTC")
    lo, hi = sorted(data.draw(st.tuples(st.integers(0, 22), st.integers(0, 22))))
    scanned = read_segment(root_, run, ["k", "v"], lo, hi)
    assert scanned[SEQ].to_pylist() == [n for n in range(1, len(keys) + 1) if lo <= n < hi]
    looked_up = read_segment(root_, run, ["k", "v"], lo, hi, lookup)
    assert holding(looked_up, text, schema) == holding(scanned, text, schema)
    if lookup is not None:
        whole = read_segment(root_, run, ["k"], 0, 99, lookup)
        counted = lookup.rows(zones_of(read_metadata(root_, run), "k", type_))
        assert whole.num_rows == counted


@pytest.fixture(scope="module")
def root_(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    """A root for examples, with row groups of three tuples."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "GROUP_ROWS", 3)
        root = Root.of(tmp_path_factory.mktemp("lookups"))
        root.prepare()
        (Path(root.path("history")) / "p").mkdir()
        yield root


def test_one_value_is_in_one_row_group(root: Root) -> None:
    run = run_of(root, "int", [*range(30)], "segments/x.parquet")
    wanted = Lookup("k", "int", ((17, 17),))
    assert wanted.groups(zones_of(read_metadata(root, run), "k", "int")) == [5]
    assert read_segment(root, run, ["k"], 0, 99, wanted)["k"].to_pylist() == [15, 16, 17]


def test_nan_is_looked_for_only_behind_the_numbers(root: Root) -> None:
    keys: list[Value] = [*map(float, range(7)), math.nan, None]
    found = zones_of(read_metadata(root, run_of(root, "double", keys, "segments/x.parquet")), "k", "double")
    assert Lookup("k", "double", (), nan=True).groups(found) == [2]


def test_texts_that_are_too_long_to_tell_are_read(root: Root) -> None:
    run = run_of(root, "string", ["a" * 5000, "b" * 5000, "c" * 5000, "d"], "segments/x.parquet")
    wanted = Lookup("k", "string", (("b", "bz"),))
    assert wanted.groups(zones_of(read_metadata(root, run), "k", "string")) == [0]


def test_a_lookup_travels_as_plain_values() -> None:
    for type_, text, _ in EXACT:
        schema = schema_of(type_)
        lookup = lookup_of(parse(text).bind(schema), schema["k"], "UTC")
        assert lookup is not None
        ranges = [list(each) for each in lookup.ranges]
        given_ = {"attribute": "k", "type": type_, "ranges": ranges, "null": lookup.null, "nan": lookup.nan}
        assert Lookup.from_dict(given_) == lookup


@pytest.mark.parametrize("weight", [None, "w"])
def test_what_a_gate_may_change_is_not_looked_up(root: Root, weight: str | None) -> None:
    net = NetworkBuilder("n")
    past = net.input("s", "k int, w double not null", weight=weight).point("past", history="forever", key="w")
    past.filter("w = 2", as_="some").output("out")
    assert Lookups(root, plan(net.build())).readers == (set() if weight else {"some"})
