"""`australis explain` and the pictures: the same network gives the same picture, and everything is in it."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.app.files import NETWORK, australis, write

from australis import Network, NetworkBuilder, Order
from australis.algebra.boxes import (
    Aggregate,
    BSort,
    Drop,
    Filter,
    Join,
    Map,
    Resample,
    Slide,
    Tumble,
    Union,
    WSort,
    XSection,
)
from australis.algebra.boxes.box import Box
from australis.app.pictures import draw_mermaid, draw_svg, notation_of
from australis.app.pictures.coordinates import draw, separated
from australis.app.pictures.layers import Edge, Item, arrange, crossings, has_loop
from australis.app.pictures.scene import scene_of

BY_SID = Order("time", slack=2, group_by=("sid",))
TIME = Order("time")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("box", "text"),
    [
        (Filter(("pos >= 30", "pos >= 10")), "Filter(pos >= 30, pos >= 10)"),
        (Map({"sid": "sid", "km": "pos / 1000"}), "Map(sid, km = pos / 1000)"),
        (Union(), "Union"),
        (BSort(BY_SID), "BSort(Assuming Order(On time, Slack 2, GroupBy sid))"),
        (WSort(("time", "sid"), "5 s"), "WSort(time, sid, Timeout 5 s)"),
        (
            Aggregate({"n": "count(*)"}, TIME, 10, advance=5, timeout="1 s", align=True),
            "Aggregate(count(*) -> n, Assuming Order(On time), Size 10, Advance 5, Aligned, Timeout 1 s)",
        ),
        (
            Aggregate({"n": "count(*)"}, TIME, 10, advance_when="pos > 0"),
            "Aggregate(count(*) -> n, Assuming Order(On time), Size 10, Advance when pos > 0)",
        ),
        (Tumble({"n": "count(*)"}, ("sid",)), "Tumble(count(*) -> n, GroupBy sid)"),
        (Slide({"n": "count(*)"}, 3), "Slide(count(*) -> n, Size 3, Advance 1)"),
        (XSection({"n": "count(*)"}, "time", slack=4), "XSection(count(*) -> n, On time, Size 1, Slack 4)"),
        (
            Join("left.pos = right.pos", 10, TIME, BY_SID),
            "Join(left.pos = right.pos, Size 10, Left Assuming Order(On time), "
            "Right Assuming Order(On time, Slack 2, GroupBy sid))",
        ),
        (
            Join("left.pos = right.pos", left=TIME),
            "Join(left.pos = right.pos, Left Assuming Order(On time), Right a stored table)",
        ),
        (
            BSort(Order("time", by="progress", group_by=("sid",), late=True)),
            "BSort(Assuming Order(On time, By progress, GroupBy sid, Late))",
        ),
        (
            Resample({"p": "avg(pos)"}, 10, TIME, BY_SID),
            "Resample(avg(pos) -> p, Size 10, Left Assuming Order(On time), "
            "Right Assuming Order(On time, Slack 2, GroupBy sid))",
        ),
        (Drop(0.25), "Drop(Rate 0.25)"),
    ],
)
def test_notation(box: Box, text: str) -> None:
    assert str(notation_of(box)) == text


@pytest.fixture
def net(tmp_path: Path) -> Path:
    return write(tmp_path / "soldiers.yaml", NETWORK)


def test_the_tree(net: Path) -> None:
    answer = australis("explain", net)
    assert answer.exit_code == 0
    assert (
        answer.stdout
        == """\
soldiers
├── reports: input
│   (sid int not null, time long, pos int)
│   └── across: Filter(pos >= 30)
│       ├── port 0 (sid int not null, time long, pos int)
│       │   └── count: Aggregate(count(*) -> soldiers, Assuming Order(On time, Slack 1), Size 1)
│       │       (time long not null, soldiers long not null)
│       │       └── counts: output
│       └── port 1 (sid int not null, time long, pos int)
│           └── named (left): Join(left.sid = right.sid, Left Assuming Order(On time), Right a stored table)
│               (left_sid int not null, time long, pos int, right_sid int, name string)
│               └── near: output
└── names: stored table
    (sid int, name string)
    └── named (right, see above)
"""
    )


def test_a_join_with_a_table_is_shown_below_its_stream(tmp_path: Path) -> None:
    lines = NETWORK.splitlines(keepends=True)
    swapped = write(tmp_path / "swapped.yaml", "".join([*lines[:3], lines[4], lines[3], *lines[5:]]))
    tree = australis("explain", swapped).stdout
    assert tree.index("reports: input") < tree.index("named (left): Join") < tree.index("names: stored table")


def test_mermaid(net: Path) -> None:
    answer = australis("explain", net, "--format", "mermaid")
    lines = answer.stdout.splitlines()
    assert lines[0] == "flowchart LR"
    assert '  in_names[("names")]' in lines
    assert '  box_across["across<br/>Filter(pos #gt;= 30)"]' in lines
    assert '  box_across -->|"1: sid, time, pos"| box_named' in lines


PROGRESS = """\
australis: 1
name: cars
inputs:
  pos: {schema: {at: timestamp, car: long}, progress: {on: at, slack: 10 s, idle: 30 s}}
  calls: {schema: {At: timestamp, said: timestamp}, progress: {on: At, promise: said}}
boxes:
  counts:
    box: aggregate
    from: pos
    functions: {n: count(*)}
    order: {on: at, by: progress, group_by: [car], late: true}
    size: 1 min
  nearest_call_time:
    box: resample
    from: [counts, calls]
    functions: {said: last(said)}
    size: 5 s
    left: {on: at, by: progress}
    right: {on: At, by: progress, late: true}
    keep: [car]
outputs: {late: {from: counts.1}, late_calls: {from: nearest_call_time.1}, found: {from: nearest_call_time}}
"""


@pytest.fixture
def cars(tmp_path: Path) -> Path:
    return write(tmp_path / "cars.yaml", PROGRESS)


def test_progress_in_the_tree(cars: Path) -> None:
    assert (
        australis("explain", cars).stdout
        == """\
cars
├── pos: input
│   Progress(On at, Slack 10 s, Idle 30 s)
│   (at timestamp, car long), marks of at
│   └── counts: Aggregate(count(*) -> n, Assuming Order(On at, By progress, GroupBy car, Late), Size 1 min)
│       ├── port 0 (at timestamp not null, car long, n long not null), marks of at
│       │   └── nearest_call_time (left): Resample(last(said) -> said, Size 5 s, Left Assuming Order(On at, By
│       │       progress), Right Assuming Order(On At, By progress, Late), Keep car)
│       │       ├── port 0 (at timestamp not null, car long, said timestamp), marks of at
│       │       │   └── found: output
│       │       └── port 1, late right (At timestamp, said timestamp)
│       │           └── late_calls: output
│       └── port 1, late (at timestamp, car long)
│           └── late: output
└── calls: input
    Progress(On At, Promise said)
    (At timestamp, said timestamp), marks of At
    └── nearest_call_time (right, see above)
"""
    )


def test_progress_in_the_picture(cars: Path) -> None:
    picture = ElementTree.fromstring(australis("explain", cars, "--format", "svg").stdout)
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    for said in ("progress on at", "slack 10 s, idle 30 s", "progress on At", "promise said"):
        assert texts.count(said) == 1
    ports = [text.text for text in picture.iter(f"{SVG}text") if text.get("class") == "port"]
    assert ports == ["0", "late", "L", "R", "0", "late right"]
    titles = [title.text for title in picture.iter(f"{SVG}title")]
    assert "pos (at timestamp, car long), marks of at" in titles
    assert "counts.1 (at timestamp, car long)" in titles


def test_progress_in_mermaid(cars: Path) -> None:
    lines = australis("explain", cars, "--format", "mermaid").stdout.splitlines()
    assert '  in_calls(["calls<br/>Progress(On At, Promise said)"])' in lines
    assert '  box_counts -->|"late: at, car"| out_late' in lines


def test_progress_in_json(cars: Path) -> None:
    found = json.loads(australis("explain", cars, "--json").stdout)
    assert found["network"]["inputs"]["pos"]["progress"] == {"on": "at", "slack": "10 s", "idle": "30 s"}
    assert found["marks"] == {"pos": ["at"], "calls": ["At"], "counts": ["at"], "nearest_call_time": ["at"]}
    assert found["late_outputs"] == {"counts.1": "pos", "nearest_call_time.1": "calls"}


OPTIMISED = """\
australis: 1
name: wide
inputs: {x: {schema: {k: int, g: string, a: double, b: double}}}
boxes:
  up: {box: map, from: x, attributes: {k: k, g: upper(g)}}
  some: {box: filter, from: up, predicates: [k > 1]}
outputs: {out: {from: some}}
"""


def test_optimised(tmp_path: Path) -> None:
    net = write(tmp_path / "wide.yaml", OPTIMISED)
    lines = australis("explain", net, "--optimised").stdout.splitlines()
    assert any(line.endswith("x_narrow: Map(k, g)") for line in lines)
    assert lines[-2].startswith("1. some moves before up: it passes 50 % of its tuples")
    assert lines[-1] == "2. x_narrow keeps 2 of the 4 attributes of x, so some has less to copy"
    found = json.loads(australis("explain", net, "--optimised", "--json").stdout)
    assert [rewrite["rule"] for rewrite in found["rewrites"]] == ["reorder", "project"]
    assert found["order"] == ["x_narrow", "some", "up"]


def test_nothing_to_optimise_is_said(net: Path) -> None:
    assert australis("explain", net, "--optimised").stdout.endswith("No rule finds anything to improve.\n")
    answer = australis("explain", "--root", net.parent, "--optimised")
    assert answer.exit_code == 2
    assert "--root shows a network as it runs" in answer.output
    for wrong in ((), (net, "--root", net.parent)):
        assert "Either NET, or what runs on --root DIR" in australis("explain", *wrong).output


def test_json(net: Path) -> None:
    found = json.loads(australis("explain", net, "--format", "json").stdout)
    assert found["order"] == ["across", "count", "named"]
    assert found["schemas"]["across.1"] == {"sid": "int not null", "time": "long", "pos": "int"}
    assert found["notation"]["across"] == "Filter(pos >= 30)"
    assert found["network"]["name"] == "soldiers"


def test_the_name_of_the_output_tells_the_format(net: Path, tmp_path: Path) -> None:
    for name, begin in (("a.svg", "<svg"), ("a.mmd", "flowchart"), ("a.json", "{"), ("a.txt", "soldiers\n")):
        answer = australis("explain", net, "-o", tmp_path / name)
        assert (answer.exit_code, answer.stdout) == (0, "")
        assert (tmp_path / name).read_text().startswith(begin)
    unknown = australis("explain", net, "-o", tmp_path / "a.png")
    assert unknown.exit_code == 2
    assert "a.png: its name has no known extension; expected .svg, .mmd" in unknown.stderr
    assert not (tmp_path / "a.png").exists()
    refused = australis("explain", net, "-o", tmp_path / "none" / "a.svg")
    assert refused.exit_code == 1
    assert "a.svg: cannot be written: No such file or directory" in refused.stderr


def busy() -> Network:
    """Groups in groups, arcs that cross, a table, connection points, ports, long texts."""
    net = NetworkBuilder("busy")
    a, b = net.input("a", "k int, t long, v double"), net.input("b", "k int, t long, v double")
    table = net.table("known", "k int, name string")
    order = Order("t", 3, ("k",))
    with net.group("outer"):
        low, high, rest = a.route("v < 1", "v > " + " + ".join(["k"] * 40), as_="route")
        with net.group("inner"):
            joined = low.join(b, "left.k = right.k", size=5, left=order, right=order, as_="pairs")
    crossed = b.union(high, a, as_="all")
    joined.map({"k": "left_k", "d": "left_v - right_v"}, as_="slim").output("pairs")
    crossed.join(table, "left.k = right.k", left=Order("t"), as_="known_ones").output("named")
    crossed.point("history", history="2 h")
    rest.bsort(order, as_="sorted").point("archive", history="forever")
    return net.build()


def test_everything_is_in_the_svg() -> None:
    network = busy()
    picture = draw_svg(network)
    assert picture == draw_svg(busy())
    root = ElementTree.fromstring(picture)
    texts = {element.text for element in root.iter(f"{SVG}text")}
    titles = {element.text for element in root.iter(f"{SVG}title")}
    names = {box_id.rpartition(".")[2] for box_id in network.boxes}
    assert (
        names | set(network.inputs) | set(network.outputs) | {"outer", "inner", "history", "archive"} <= texts
    )
    assert {"0", "1", "2", "L", "R"} <= texts
    for box_id, node in network.boxes.items():
        assert f"{box_id}: {notation_of(node.box)}" in titles
    assert "b (k int, t long, v double)" in titles
    assert not re.search(r"<script|href|url\((?!#head)", picture)


def test_an_svg_is_xml_whatever_a_description_holds() -> None:
    net = NetworkBuilder("odd")
    described = "bell \x07, null \x00, half \ud800, no character \uffff, <tag> & tab\t"
    net.input("a", "x int").filter("x > 0", as_="f", description=described).output("out")
    titles = [
        e.text or "" for e in ElementTree.fromstring(draw_svg(net.build())).iter() if e.tag.endswith("title")
    ]
    wanted = "bell \ufffd, null \ufffd, half \ufffd, no character \ufffd, <tag> & tab\t"
    assert any(wanted in title for title in titles)


def test_shapes_do_not_overlap_and_lie_in_their_frames() -> None:
    scene = scene_of(busy())
    rectangles = [(shape.name, *place, shape.width, shape.height) for shape, place in scene.shapes]
    for (_, x1, y1, w1, h1), (_, x2, y2, w2, h2) in itertools.combinations(rectangles, 2):
        assert x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1
    for frame in scene.frames:
        x, y = frame.corner
        inside = [
            name
            for name, left, top, width, height in rectangles
            if x <= left and left + width <= x + frame.width and y <= top and top + height <= y + frame.height
        ]
        assert set(inside) == {name for name, *_ in rectangles if name.startswith(f"{frame.group}.")}
    for wire in scene.wires:
        assert all(a[0] <= b[0] for a, b in itertools.pairwise(wire.points))


def test_a_group_that_streams_leave_and_enter_again_is_drawn_open() -> None:
    net = NetworkBuilder("open")
    stream = net.input("a", "k int")
    with net.group("g"):
        first = stream.filter("k > 0", as_="first")
    between = first.filter("k > 1", as_="between")
    with net.group("h"):
        _ = between.filter("k > 2", as_="other").output("other")
    last = net.add(Filter(("k > 3",)), between, as_="last")
    last.output("out")
    boxes = dict(net.build().boxes)
    boxes["g.again"] = boxes.pop("last")
    built = net.build()
    network = Network("open", built.inputs, boxes, {"other": built.outputs["other"]})
    scene = scene_of(network)
    assert [frame.group for frame in scene.frames] in ([], ["h"])
    assert len(scene.shapes) == 6


def test_loops_are_seen() -> None:
    arcs = [Edge("a", 0, "b", 0), Edge("b", 0, "a", 0)]
    assert has_loop(["a", "b"], arcs)
    assert not has_loop(["a", "b"], arcs[:1])


def test_crossings_that_can_be_avoided_are() -> None:
    items = [Item(name, 10, 10) for name in ("a", "b", "c", "x", "y", "z")]
    arcs = [Edge("a", 0, "z", 0), Edge("b", 0, "y", 0), Edge("c", 0, "x", 0)]
    assert crossings(arrange(items, arcs)) == 0


def test_arcs_in_a_row_are_straight() -> None:
    items = [Item(name, 10, 10 + 7 * n, (5.0,), (5.0,)) for n, name in enumerate("abcd")]
    arcs = [Edge("a", 0, "b", 0), Edge("b", 0, "c", 0), Edge("c", 0, "d", 0)]
    drawing = draw(items, arcs, {})
    assert {round(y, 6) for way in drawing.ways.values() for _, y in way} == {5.0}


def test_separated_keeps_wishes_that_do_no_harm() -> None:
    assert separated([0.0, 100.0], [1.0, 1.0], [10.0]) == [0.0, 100.0]
    assert separated([3.0, 3.0, 3.0], [1.0, 1.0, 1.0], [2.0, 2.0]) == [1.0, 3.0, 5.0]
    assert separated([0.0, 0.0], [3.0, 1.0], [4.0]) == [-1.0, 3.0]


def test_mermaid_escapes_what_it_would_read() -> None:
    net = NetworkBuilder("signs")
    net.input("a", "s string").filter("s = '\"<b>|`#' OR s LIKE '%&%'").output("b")
    text = draw_mermaid(net.build())
    assert "#quot;#lt;b#gt;#124;#96;#35;" in text
    assert "#amp;" in text
