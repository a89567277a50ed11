"""A value of the wrong kind is refused by the name of its field, never by an accidental error inside."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from australis.algebra.boxes import Aggregate, Drop, Map, Resample, Tumble, Union
from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.expr import parse, parse_window
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.quality import Quality, ValueGraph
from australis.algebra.user_functions import register_aggregate, register_function
from australis.errors import AlgebraError

N: Any = {"n": "count(*)"}
A: Any = Order("a")


def stream() -> Any:
    """A stream of one attribute, as an untyped caller would use it."""
    return NetworkBuilder("n").input("s", "a int, t timestamp")


def built(made: Stream) -> Network:
    made.output("out")
    return made._builder.build()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: parse(5), "is 5; expected an expression as a text"),  # type: ignore[arg-type]
        (lambda: parse_window([]), r"is \[\]; expected a call of a window function"),  # type: ignore[arg-type]
        (lambda: stream().filter(5), r"predicates\[0\]: is 5; expected a text"),
        (lambda: stream().map({"a": [1]}), r"attributes.a: is \[1\]; expected an expression as a text"),
        (lambda: stream().map({1: "a"}), r"attributes\[0\]: is 1; expected a text as a name"),
        (lambda: stream().map(["a"]), r"attributes\[0\]: is 'a'; expected a name and an expression"),
        (lambda: stream().map(None), "attributes: is None; expected a mapping"),
        (lambda: stream().bsort("a"), "order: is 'a'; expected an Order"),
        (lambda: stream().wsort("a", timeout=5), "timeout: is 5; expected a length of time"),
        (lambda: stream().aggregate(N, "a", 1), "order: is 'a'; expected an Order"),
        (lambda: stream().aggregate(N, A, 1, align="no"), "align: is 'no'; expected True or False"),
        (lambda: stream().aggregate(N, A, 1, align=1), "align: is 1; expected True or False"),
        (lambda: stream().aggregate(N, A, 1, timeout=5), "timeout: is 5; expected a length of time"),
        (lambda: built(stream().aggregate(N, A, None)), "size: is missing; expected a size, or session"),
        (lambda: built(stream().aggregate(N, A, [])), r"size: \[\] is not a size for an order of type int"),
        (
            lambda: built(stream().aggregate(N, A, math.inf)),
            "size: inf is not a size for an order of type int",
        ),
        (lambda: built(stream().aggregate(N, Order("t"), 1)), "size: 1 is not a length of time"),
        (lambda: stream().slide(N, 2, order=None), "order: is None; expected an Order"),
        (lambda: stream().tumble(N, None), "group_by: is None; expected a list of texts"),
        (
            lambda: stream().join("x", "TRUE", size=1, left=A, right=A),
            r"join1.from\[1\]: is 'x'; expected a s",
        ),
        (lambda: stream().join(stream(), "TRUE", size=1, left="a"), "left: is 'a'; expected an Order"),
        (lambda: Resample(N, 1, None, A), "left: is None; expected an Order"),  # type: ignore[arg-type]
        (lambda: Order("a", group_by=None), "group_by: is None; expected a list"),  # type: ignore[arg-type]
        (lambda: Order("a", group_by=(1,)), r"group_by\[0\]: is 1; expected a text"),  # type: ignore[arg-type]
        (lambda: Drop("x"), "rate: is 'x'; expected a number from 0 to 1"),  # type: ignore[arg-type]
        (lambda: Drop(0.5, seed=1.5), "seed: is 1.5; expected a whole number"),  # type: ignore[arg-type]
        (lambda: Order(None), "on: is None; expected the name"),  # type: ignore[arg-type]
        (lambda: NetworkBuilder(None), "name: is None; expected a text"),  # type: ignore[arg-type]
        (lambda: NetworkBuilder("n").input("s", None), "schema: is None; expected"),  # type: ignore[arg-type]
        (lambda: NetworkBuilder("n").input("s", {"a": 1}), "a: is 1; expected a type"),  # type: ignore[dict-item]
        (lambda: NetworkBuilder("n").input(1, "a int"), "input: is 1; expected"),  # type: ignore[arg-type]
        (lambda: stream().filter("a > 1", as_=5), "as_: is 5; expected"),
        (lambda: stream().filter("a > 1", tag=3), "tag: is 3; expected a text"),
        (lambda: stream().port(1.0), "port: is 1.0; expected"),
        (lambda: stream().port(-1), "s: has no output port -1; expected 0 or more"),
        (lambda: stream().point("p", history=1.5), "history: is 1.5; expected"),
        (lambda: stream().point("p", history="5"), "history: '5' is not a length of time"),
        (lambda: stream().output("p", {"delay": []}), "quality: is .*; expected a Quality"),
        (lambda: Quality(delay=None), "delay: is None; expected a list of pairs"),  # type: ignore[arg-type]
        (lambda: Quality(delay=((1,),)), r"delay\[0\]: is \(1,\); expected a pair"),  # type: ignore[arg-type]
        (lambda: Quality(value="x"), "value: is 'x'; expected a ValueGraph"),  # type: ignore[arg-type]
        (lambda: Quality(weight="x"), "weight: is 'x'; expected a number"),  # type: ignore[arg-type]
        (lambda: ValueGraph(5, ((0, 1),)), "attribute: is 5; expected a text"),  # type: ignore[arg-type]
        (lambda: register_function("m:x", None, takes=(), returns="int"), "call: is None"),  # type: ignore[arg-type]
        (lambda: register_function("m:x", abs, takes="int", returns="int"), "takes: 'int' is not a list"),  # type: ignore[arg-type]
        (lambda: register_function("m:x", abs, takes=(), returns=1), "is 1; expected a type"),  # type: ignore[arg-type]
        (
            lambda: register_aggregate("m:x", init=list, incr=3, final=max, takes=(), returns="int"),  # type: ignore[arg-type]
            "incr: is 3; expected a function",
        ),
    ],
)
def test_a_value_of_the_wrong_kind(make: Callable[[], object], message: str) -> None:
    with pytest.raises(AlgebraError, match=f"^(n.[a-z]+1.)?{message}"):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Map((("n", "a"), ("n", "a + 1"))), "attributes.n: occurs twice"),
        (lambda: Aggregate((("n", "count(*)"), ("n", "sum(a)")), A, 1), "functions.n: occurs twice"),
        (lambda: Order("a", group_by=("b", "b")), r"group_by\[1\]: 'b' occurs twice"),
        (lambda: Tumble(N, ("b", "b")), r"group_by\[1\]: 'b' occurs twice"),
        (
            lambda: Order("a", slack=1_000_001),
            "slack: 1000001 is not a valid slack; expected .* from 0 to 1000000",
        ),
        (
            lambda: Quality(delay=((-1, 1),)),
            "delay: position -1.0 is out of range; expected a number, 0 or gr",
        ),
        (
            lambda: Quality(loss=((2, 1),)),
            "loss: position 2.0 is out of range; expected a number from 0 to 1",
        ),
        (lambda: Quality(delay=((math.nan, 1),)), "delay: is nan; expected a number as a position"),
        (lambda: Quality(delay=((math.inf, 1),)), "delay: is inf; expected a number as a position"),
        (lambda: Quality(weight=math.inf), "weight: is inf; expected a number greater than 0"),
        (lambda: ValueGraph("a", ((math.nan, 1),)), "points: is nan"),
    ],
)
def test_a_value_out_of_its_range(make: Callable[[], object], message: str) -> None:
    with pytest.raises(AlgebraError, match=f"^{message}"):
        make()


def test_categories_may_be_a_mapping() -> None:
    graph = ValueGraph("a", categories={"x": 1, "y": 0.5})  # type: ignore[arg-type]
    assert graph.categories == (("x", 1.0), ("y", 0.5))


def test_a_stream_belongs_to_its_builder() -> None:
    with pytest.raises(AlgebraError, match=r"union1.from\[1\]: 's' is a stream of another builder"):
        stream().union(stream())


def test_users_put_in_no_system_box() -> None:
    pos = stream()
    with pytest.raises(AlgebraError, match="drop1: a drop is a system box"):
        pos._builder.add(Drop(0.5), pos)


def test_a_union_has_two_streams() -> None:
    with pytest.raises(AlgebraError, match=r"n.union1: input port 1 of 2 is not connected"):
        built(stream().union())
    assert built((pos := stream()).union(pos)).boxes["union1"].box == Union()


@pytest.mark.parametrize(
    ("on", "size", "advance"), [("a", 4_000_000_000, 1), ("d", 1e308, 1e-300), ("t", "100001 us", "1 us")]
)
def test_a_tuple_is_not_in_countless_windows(on: str, size: Any, advance: Any) -> None:
    pos = NetworkBuilder("n").input("s", "a int, d double, t timestamp")
    with pytest.raises(AlgebraError, match=r"n.w.advance: with size .* and advance .* too many windows"):
        built(pos.aggregate(N, Order(on), size, advance=advance, as_="w"))


def test_a_size_of_zero_is_for_joins() -> None:
    pos = stream()
    built(pos.join(pos, "TRUE", size=0, left=A, right=A))
    pos = stream()
    built(pos.resample(pos, N, "0 s", left=Order("t"), right=Order("t")))
    with pytest.raises(
        AlgebraError, match="size: 0 is not a size for an order of type int; expected a number greater than 0"
    ):
        built(stream().aggregate(N, A, 0))
    with pytest.raises(AlgebraError, match="size: '0 s' is not a whole, positive number of microseconds"):
        built(stream().aggregate(N, Order("t"), "0 s"))
    with pytest.raises(
        AlgebraError, match="size: -1 is not a size for an order of type int; expected a number, 0 or greater"
    ):
        built((pos := stream()).join(pos, "TRUE", size=-1, left=A, right=A))


@pytest.mark.parametrize("name", ["é", "aé", "a٣"])
def test_names_are_in_ascii(name: str) -> None:
    with pytest.raises(AlgebraError, match=r"expected letters \(a to z, A to Z\), digits and _"):
        built(NetworkBuilder(name).input("s", "a int"))
    with pytest.raises(AlgebraError, match=r"expected letters \(a to z, A to Z\), digits and _"):
        built(stream().filter("a > 1", as_=name))
    with pytest.raises(AlgebraError, match=r"expected letters \(a to z, A to Z\), digits and _"):
        NetworkBuilder("n").input("s", f"{name} int")


def test_a_value_graph_fits_its_attribute() -> None:
    net = NetworkBuilder("n")
    pos = net.input("s", "a int, s string, b boolean, t timestamp")
    for attribute in ("a", "s", "b", "t"):
        pos.output(f"p{attribute}", Quality(value=ValueGraph(attribute, points=((0, 1),))))
        pos.output(f"c{attribute}", Quality(value=ValueGraph(attribute, categories=(("x", 1),))))
    with pytest.raises(AlgebraError) as caught:
        net.build()
    assert [
        p.path.removesuffix(".value.points").removesuffix(".value.categories") for p in caught.value.problems
    ] == [f"n.outputs.{name}.quality" for name in ("ca", "ps", "pb", "cb", "ct")]
