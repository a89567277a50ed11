"""Each declaration of a box decides something, and nothing is assumed that the box does not declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from australis import NetworkBuilder, Order
from australis.algebra.boxes.box import Box, Names, unchanged
from australis.algebra.expr import Expr, WindowCall, parse
from australis.algebra.network import Network, Ref
from australis.algebra.schema import Schema
from australis.algebra.user_functions import register_function
from australis.engine.ledger.counts.recent_counts import GateCount
from australis.engine.observe.quality import kept_by
from australis.errors import NetworkError, PolicyError
from australis.plan.spread import SpreadKind
from australis.plan.superboxes import Superbox, plan
from australis.policy.place.parting.split import part
from australis.policy.place.parting.stream_order import ascends, tracks
from australis.policy.shed.backward import backward
from australis.rewrite.improve import improve
from australis.rewrite.needs import needs
from australis.rewrite.rewrite import kept
from australis.rewrite.statistics import Measure, Statistics

KNOWN = Statistics({"box": Measure(5.0), "some": Measure(0.1, (0.1, 0.9))})


@dataclass(frozen=True)
class Told(Box):
    """A box of which only what is given here is known: the best case by default."""

    ordered: bool = True
    keeps_tuples: bool = False
    copies_tuples: bool = True
    pairs_inputs: bool = False
    timeout_us: int | None = None
    keys: tuple[str, ...] = ("k",)
    called: bool = False
    rejected: bool = False
    read: tuple[str, ...] = ("k",)
    handed_on: bool = True
    kind: ClassVar[str] = "told"
    arity: ClassVar[tuple[int, int | None]] = (1, 2)
    keeps_schema: ClassVar[bool] = True

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        return (inputs[0],)

    def partition_keys(self, port: int) -> Sequence[str]:
        return self.keys

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return (parse("`odd:same`(k)").bind(schemas[0]),) if self.called else ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return self.rejected

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return tuple(wanted[0] | set(self.read) for _ in schemas)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return unchanged(*schemas) if self.handed_on else ({},) * len(schemas)


@pytest.fixture(scope="module", autouse=True)
def _user_function() -> None:
    register_function("odd:same", lambda values: values, takes=("int",), returns="int")


def told(**said: Any) -> Network:
    """A network with the box, a filter of its groups after it, and a map that drops an attribute."""
    net = NetworkBuilder("n")
    stream = net.add(Told(**said), net.input("x", "k int, v int, w int"), as_="box")
    stream.filter("k > 1", as_="some").map({"k": "k", "v": "v"}, as_="m").output("y")
    return net.build()


def twice(**said: Any) -> Network:
    net = NetworkBuilder("n")
    stream = net.input("x", "k int, v int")
    for name in ("a", "b"):
        net.add(Told(**said), stream, as_=name).output(name)
    return net.build()


def superbox(network: Network) -> Superbox:
    (found,) = plan(network).superboxes.values()
    return found


@pytest.mark.parametrize(
    ("said", "goes_first"),
    [
        ({}, True),
        ({"keys": ()}, False),
        ({"keys": ("v",)}, False),
        ({"handed_on": False}, False),
        ({"called": True}, False),
        ({"rejected": True}, False),
        ({"ordered": False, "keys": ()}, False),
    ],
)
def test_a_filter_goes_before_a_box_that_keeps_its_groups_apart(
    said: dict[str, Any], goes_first: bool
) -> None:
    order = improve(told(**said), KNOWN).network.order
    assert (order.index("some") < order.index("box")) is goes_first


@pytest.mark.parametrize(
    ("said", "boxes"),
    [({}, 1), ({"called": True}, 2), ({"rejected": True}, 2), ({"ordered": False, "rejected": True}, 2)],
)
def test_boxes_are_shared_that_neither_call_nor_reject(said: dict[str, Any], boxes: int) -> None:
    assert len(improve(twice(**said)).network.boxes) == boxes


@pytest.mark.parametrize(
    ("said", "needed"),
    [({}, {"k", "v"}), ({"read": ("k", "w")}, {"k", "v", "w"}), ({"rejected": True}, {"k", "v", "w"})],
)
def test_a_box_gets_what_it_reads_and_all_that_it_may_reject(said: dict[str, Any], needed: set[str]) -> None:
    network = told(**said)
    assert needs(network, Statistics())[Ref("x")] == needed
    assert set(improve(network).network.input_schemas("box")[0].names) == needed


def test_a_projection_is_only_put_before_what_copies() -> None:
    assert "x_narrow" in improve(told()).network.boxes
    assert "x_narrow" not in improve(told(copies_tuples=False)).network.boxes


def test_a_state_with_whole_tuples_stays_with_its_attributes() -> None:
    running = Statistics(running=("box",))
    for keeps_tuples, names in ((False, ("k", "v")), (True, ("k", "v", "w"))):
        network = told(keeps_tuples=keeps_tuples)
        after = improve(network, running).network
        assert after.input_schemas("box")[0].names == names
        assert kept(network, after) == {"box"}
        assert ("box" in kept(network, improve(network).network)) is not keeps_tuples


def test_a_plan_knows_of_timeouts_and_state() -> None:
    assert not superbox(told()).has_timeouts
    assert superbox(told(timeout_us=0)).has_timeouts
    assert superbox(told()).ordered == ("box",)
    assert superbox(told(ordered=False)).ordered == ()


def test_tuples_are_spread_as_far_as_a_box_says() -> None:
    kinds = [superbox(told(**said)).spread.kind for said in ({"ordered": False}, {}, {"keys": ()})]
    assert kinds == [SpreadKind.ROWS, SpreadKind.KEYS, SpreadKind.ONE]
    net = NetworkBuilder("n")
    stream = net.add(Told(handed_on=False), net.input("x", "k int"), as_="box")
    stream.aggregate({"n": "count(*)"}, Order("k", group_by=()), 1).output("y")
    assert superbox(net.build()).spread.kind is SpreadKind.ONE
    net = NetworkBuilder("n")
    net.add(Told(), net.input("x", "k int"), net.input("z", "k int"), as_="box").output("y")
    assert superbox(net.build()).spread.kind is SpreadKind.ONE, "groups of two inputs may meet"


def test_what_is_lost_before_pairs_multiplies() -> None:
    for pairs, fraction in ((False, 0.5), (True, 0.25)):
        net = NetworkBuilder("n")
        streams = [net.input(name, "k int") for name in ("x", "z")]
        net.add(Told(pairs_inputs=pairs), *streams, as_="box").output("y")
        found = superbox(net.build())
        gates = {(found.id, stream): GateCount(10, 5) for stream in found.streams}
        assert kept_by(found, gates) == fraction


@pytest.mark.parametrize(
    ("said", "text", "reason"),
    [
        ({"keys": ()}, "k > 1", "depends on all tuples"),
        ({"rejected": True}, "k > 1", "depends on all tuples"),
        ({"ordered": False, "keys": (), "rejected": True}, "k > 1", "depends on all tuples"),
        ({"called": True}, "k > 1", "calls a user function"),
        ({}, "v > 1", "depends on tuples"),
    ],
)
def test_a_box_is_not_split_where_it_says_nothing_for_it(
    said: dict[str, Any], text: str, reason: str
) -> None:
    with pytest.raises(PolicyError, match=reason):
        part(told(**said), "box", text)
    assert part(told(), "box", "k > 1").divides
    assert not part(told(ordered=False, keys=()), "box", "v > 1").divides


def test_nothing_is_known_of_its_order_or_its_values() -> None:
    network = told(ordered=False, keys=())
    assert not ascends(network, Ref("box"), ("k",))
    assert tracks(network, Ref("box")) is None
    assert backward(network, Ref("box"), parse("k").bind(network.schemas[Ref("box")]), [Ref("x")]) is None


def test_only_a_box_with_a_table_side_reads_a_table() -> None:
    net = NetworkBuilder("n")
    net.add(Told(), net.input("x", "k int"), net.table("t", "k int"), as_="box").output("y")
    with pytest.raises(NetworkError, match="'t' is a stored table"):
        net.build()


def test_its_cost_is_guessed_as_that_of_the_dearest_box() -> None:
    net = NetworkBuilder("n")
    net.input("x", "k int, v int").join(
        net.input("z", "k int, v int"), "true", size=1, left=Order("k"), right=Order("k"), as_="join"
    ).output("y")
    known = Statistics()
    assert known.of(told(), "box").tuple_us >= known.of(net.build(), "join").tuple_us
