"""Networks: every possible mistake has its message, and all of them are reported at once."""

import copy
import pickle

import pytest

from australis.algebra.boxes import Filter, Join, Map, Union
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Input, Network, Node, Output, Ref
from australis.algebra.order import Order
from australis.algebra.quality import Quality, ValueGraph
from australis.algebra.schema import parse_schema
from australis.errors import AlgebraError, NetworkError

POS = "sid int, time long, pos int"


def soldiers() -> NetworkBuilder:
    net = NetworkBuilder("soldiers")
    pos = net.input("pos", POS)
    across = pos.filter("pos >= 30", as_="across")
    count = across.aggregate({"soldiers": "count(*)"}, Order("time", slack=1), size=1, as_="count")
    count.filter("soldiers >= 3", as_="enough").output("alarm")
    return net


def problems(net: NetworkBuilder) -> list[str]:
    with pytest.raises(NetworkError) as caught:
        net.build()
    return [str(problem) for problem in caught.value.problems]


def test_types_are_inferred_over_the_whole_network() -> None:
    net = soldiers().build()
    assert str(net.output_schema("alarm")) == "time long not null, soldiers long not null"
    assert net.order == ("across", "count", "enough")
    assert net.consumers[Ref("across")] == (("count", 0),)
    assert net.consumers[Ref("across", 1)] == ()


def test_boxes_may_be_written_in_any_order() -> None:
    across = Node(Filter(("pos >= 30",)), (Ref("pos"),))
    again = Node(Filter(("pos >= 40",)), (Ref("across"),))
    inputs = {"pos": Input(parse_schema(POS))}
    net = Network("n", inputs, {"again": again, "across": across}, {"out": Output(Ref("again"))})
    assert net.order == ("across", "again")


def test_every_problem_is_reported_with_its_path_and_position() -> None:
    net = NetworkBuilder("n")
    pos = net.input("pos", POS)
    pos.filter("poz >= 30", as_="a").output("x")
    pos.map({"twice": "pos * 'a'"}, as_="b").output("y")
    found = problems(net)
    assert len(found) == 2
    assert found[0].startswith("n.a.predicates[0]: unknown attribute 'poz'")
    assert found[0].endswith("poz >= 30\n    ^")
    assert found[1].startswith("n.b.attributes.twice: ")


def test_a_loop_is_named_in_the_direction_of_its_arcs() -> None:
    boxes = {
        "a": Node(Union(), (Ref("pos"), Ref("c"))),
        "b": Node(Filter(("pos > 1",)), (Ref("a"),)),
        "c": Node(Filter(("pos > 2",)), (Ref("b"),)),
    }
    with pytest.raises(NetworkError, match=r"n.a: is in a loop: a -> b -> c -> a"):
        Network("n", {"pos": Input(parse_schema(POS))}, boxes, {"out": Output(Ref("c"))})


def test_a_deep_network_is_accepted() -> None:
    net = NetworkBuilder("deep")
    stream = net.input("pos", POS)
    for _ in range(3000):
        stream = stream.filter("pos > 0")
    stream.output("out")
    assert len(net.build().order) == 3000


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ((), "n.a: input port 0 of 1 is not connected"),
        ((Ref("pos"), Ref("pos")), "n.a: has 2 sources; expected 1"),
        ((Ref("nope"),), r"n.a.from\[0\]: there is no input or box 'nope'; expected one of pos, a"),
        ((Ref("pos", 1),), r"n.a.from\[0\]: 'pos' has no output port 1; expected a port from 0 to 0"),
    ],
)
def test_ports_that_are_not_connected_well(sources: tuple[Ref, ...], message: str) -> None:
    boxes = {"a": Node(Filter(("pos > 1",)), sources)}
    with pytest.raises(NetworkError, match=message):
        Network("n", {"pos": Input(parse_schema(POS))}, boxes, {"out": Output(Ref("a"))})


def test_an_id_is_given_once() -> None:
    net = NetworkBuilder("n")
    pos = net.input("pos", POS)
    pos.filter("pos > 1", as_="a")
    with pytest.raises(NetworkError, match=r"n.a: the box 'a' already exists"):
        pos.filter("pos > 2", as_="a")
    with pytest.raises(NetworkError, match="the input 'pos' already exists"):
        net.input("pos", POS)
    pos.filter("pos > 2", as_="pos").output("out")
    assert problems(net) == ["n.pos: is both an input and a box; expected each id only once"]


def test_union_wants_one_schema() -> None:
    net = NetworkBuilder("n")
    net.input("a", "x int").union(net.input("b", "x long"), as_="u").output("out")
    assert problems(net) == [
        "n.u.from[1]: has the attributes (x long); expected those of from[0], (x int); use a Map"
    ]


def test_stored_tables_are_for_joins_alone() -> None:
    net = NetworkBuilder("n")
    net.table("names", "sid int, name string").filter("sid > 1", as_="f").output("out")
    assert problems(net) == [
        "n.f.from[0]: 'names' is a stored table; expected a stream; only Join reads a table"
    ]
    net = NetworkBuilder("n")
    pos, other = net.input("pos", POS), net.input("other", POS)
    pos.join(other, "left.sid = right.sid", left=Order("time"), as_="j").output("out")
    assert "n.j.right: has no order, but other is a stream" in problems(net)[0]


def test_a_stored_table_cannot_be_an_output() -> None:
    net = NetworkBuilder("n")
    names = net.table("names", "sid int, name string")
    names.point("kept", history="1 h").output("out")
    assert problems(net) == [
        "n.outputs.out.from: 'names' is a stored table; expected a stream; only Join reads a table",
        "n.connection_points.kept.at: 'names' is a stored table; expected a stream; only Join reads a table",
    ]


def test_boxes_after_a_faulty_box_that_keeps_the_attributes_are_checked() -> None:
    net = NetworkBuilder("n")
    pos, other = net.input("pos", POS), net.input("other", "sid int")
    _, rest = pos.route("poz >= 30", as_="a")
    sorted_ = rest.bsort(Order("tme"), as_="b").wsort("pso", timeout="1 s", as_="c")
    merged = sorted_.union(other, as_="d")
    merged.map({"lost": "nowhere"}, as_="e").filter("what > 1", as_="f").output("out")
    merged.filter("sidd > 1", as_="g").output("more")
    assert [line.split(":")[0] for line in problems(net)] == [
        "n.a.predicates[0]",
        "n.b.order.on",
        "n.c.by[0]",
        "n.d.from[1]",
        "n.e.attributes.lost",
        "n.g.predicates[0]",
    ]


def test_joins_that_double_the_attributes_end_early() -> None:
    net = NetworkBuilder("n")
    stream, order = net.input("pos", "t long"), Order("t")
    for step in range(30):
        stream = stream.join(stream, "true", size=1, left=order, right=order, as_=f"j{step}")
        order = Order(f"left_{order.on}")
    stream.output("out")
    assert problems(net) == ["n.j13: has 16384 attributes; expected 1 to 10000 attributes"]


def test_names_timezones_and_outputs_are_checked() -> None:
    net = NetworkBuilder("n", timezone="Mars/Base")
    net.input("pos", POS).output("quarantine")
    found = problems(net)
    assert found[0].startswith("n.outputs.quarantine: is the output that every network has")
    assert found[1].startswith("n.timezone: unknown time zone 'Mars/Base'")


def test_graphs_and_points_name_existing_attributes() -> None:
    net = NetworkBuilder("n")
    pos = net.input("pos", POS).point("recent", history="2 h", key="sidd")
    pos.output("out", Quality(value=ValueGraph("poss", points=((0, 0), (10, 1)))))
    assert [line.split(":")[0] for line in problems(net)] == [
        "n.outputs.out.quality.value.attribute",
        "n.connection_points.recent.key",
    ]


def test_groups_are_prefixes_of_ids() -> None:
    net = NetworkBuilder("n")
    pos = net.input("pos", POS)
    with net.group("detect", tag="d"), net.group("inner"):
        pos.filter("pos > 1", as_="a").output("out")
    built = net.build()
    assert list(built.boxes) == ["detect.inner.a"]
    assert list(built.groups) == ["detect", "detect.inner"]


def test_a_join_that_can_never_forget_is_warned_about() -> None:
    net = NetworkBuilder("n")
    left, right = net.input("a", POS), net.input("b", POS)
    grouped = Order("time", group_by=("sid",))
    left.join(right, "left.pos = right.pos", size=10, left=Order("time"), right=grouped, as_="j").output(
        "out"
    )
    assert [str(w) for w in net.build().warnings()] == [
        "n.j.right.group_by: 'sid' is in no equality of the predicate, "
        "so the other side's state grows without end; expected a condition such as left.sid = right.sid"
    ]


def test_unread_streams_are_warned_about() -> None:
    net = soldiers()
    net.input("unused", POS)
    net.build()
    warnings = [str(w) for w in net.build().warnings()]
    assert warnings == ["soldiers.unused: no box or output reads this input"]


def test_a_network_is_a_value() -> None:
    assert soldiers().build() == soldiers().build()
    with pytest.raises(TypeError):
        soldiers().build().boxes["x"] = None  # type: ignore[index]


def test_a_network_is_copied_pickled_and_a_key() -> None:
    net = soldiers().build()
    for again in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net), copy.copy(net)):
        assert again == net
        assert {net: "found"}[again] == "found"
        assert again.output_schema("alarm") == net.output_schema("alarm")
    backwards = Network(net.name, net.inputs, dict(reversed(net.boxes.items())), net.outputs)
    assert backwards == net
    assert hash(backwards) == hash(net)


def test_a_port_is_a_short_number() -> None:
    text = "f." + "1" * 5000
    assert Ref.parse(text) == Ref(text)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Filter(()), "predicates: is empty"),
        (lambda: Filter("pos > 1"), "is not a list of names"),  # type: ignore[arg-type]
        (lambda: Filter(("pos >",)), r"predicates\[0\]"),
        (lambda: Map({}), "attributes: is empty"),  # type: ignore[arg-type]
        (lambda: Order("time", slack=-1), "slack: -1 is not a valid slack"),
        (lambda: Order("Tup#", slack=1), "slack: Tup# is always in order"),
        (lambda: Join("left.a = right.a", size=1), "neither side has an order"),
        (lambda: Join("left.a = right.a", left=Order("t"), right=Order("t")), "size: is None"),
    ],
)
def test_a_box_refuses_bad_arguments_when_it_is_made(make: object, message: str) -> None:
    with pytest.raises(AlgebraError, match=message):
        make()  # type: ignore[operator]
