"""The graphs of outputs in pictures: every graph is there, inside its chart, and ticks do not overlap."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.files import australis, write

from australis import Network, NetworkBuilder, Quality, ValueGraph
from australis.app.pictures import draw_mermaid, draw_svg
from australis.app.pictures.charts import CHART_HEIGHT, CHART_WIDTH, charts_of, charts_width
from australis.app.pictures.notation import quality_notation
from australis.app.pictures.scene import scene_of

DELAY = ((0, 1), (2, 1), (10, 0))
LOSS = ((0, 0), (0.5, 0.8), (1, 1))
KINDS = ValueGraph("kind", categories=(("note", 0.1), ("alarm", 1), ("<odd> & long", 0.5)))
FULL = Quality(DELAY, LOSS, KINDS, 3)
MANY = ValueGraph("kind", categories=tuple((f"k{number}", 1 - number / 10) for number in range(10)))
SVG = "{http://www.w3.org/2000/svg}"


def network(*qualities: Quality | None) -> Network:
    net = NetworkBuilder("n")
    stream = net.input("s", "kind string, v double")
    for number, quality in enumerate(qualities):
        stream.output(f"out{number}", quality)
    return net.build()


def elements(text: str, kind: str) -> Iterator[ElementTree.Element]:
    return (e for e in ElementTree.fromstring(text).iter() if e.get("class") == kind)


def test_a_graph_has_a_chart_with_its_good_zone_and_its_marks() -> None:
    delay, loss, value = charts_of(FULL)
    assert (delay.title, loss.title, value.title) == ("delay", "delivered", "kind")
    assert delay.ticks == ((pytest.approx(2 / 11.2), "δ 2 s"), (pytest.approx(10 / 11.2), "10 s"))
    assert delay.good == pytest.approx(2 / 11.2)
    assert delay.curve[0] == (0, 1)
    assert delay.curve[-1] == (1, 0)
    assert [text for _, text in loss.ticks] == ["0 %", "50 %", "100 %"]
    assert value.bars == (("alarm", 1), ("<odd> & long", 0.5), ("note", 0.1))
    assert charts_of(None) == charts_of(Quality()) == ()


def test_everything_is_in_the_picture() -> None:
    picture = draw_svg(network(FULL, None, Quality(weight=2)))
    texts = {e.text for e in ElementTree.fromstring(picture).iter(f"{SVG}text")}
    assert {"weight 3", "weight 2", "delay", "delivered", "kind", "δ 2 s", "10 s", "50 %", "alarm"} <= texts
    titles = {e.text for e in ElementTree.fromstring(picture).iter(f"{SVG}title")}
    assert {"Delay(0 s: 1, 2 s: 1, 10 s: 0)", "Loss(0 %: 0, 50 %: 0.8, 100 %: 1)"} <= titles
    assert [len(list(elements(picture, kind))) for kind in ("chart", "curve", "good", "bar")] == [3, 2, 1, 3]


def test_without_graphs_there_is_no_trace_of_charts() -> None:
    assert "chart" not in draw_svg(network(None, Quality(weight=2)))


def test_many_categories_are_hinted_at() -> None:
    picture = draw_svg(network(Quality(value=MANY)))
    texts = {e.text for e in ElementTree.fromstring(picture).iter(f"{SVG}text")}
    assert {"k0", "k3", "… 6 more"} <= texts
    assert "k4" not in texts


@st.composite
def qualities(draw: st.DrawFn) -> Quality:
    positions = st.one_of(st.just(0.0), st.floats(0.001, 1e6))
    xs = sorted(draw(st.sets(positions, min_size=1, max_size=5)))
    ys = sorted(draw(st.lists(st.floats(0, 1), min_size=len(xs), max_size=len(xs))), reverse=True)
    falling = tuple(zip(xs, [1, *ys[1:]], strict=True))
    fractions = ((x / 1e6, y) for x, y in zip(xs, [*ys[1:][::-1], 1], strict=True))
    loss = dict(fractions)
    value = draw(st.sampled_from([None, KINDS, MANY, ValueGraph("v", falling)]))
    return Quality(falling, tuple(loss.items()), value, draw(st.floats(0.1, 100)))


@given(st.lists(qualities(), min_size=1, max_size=3))
def test_charts_stay_in_their_room_and_curves_in_their_charts(found: list[Quality]) -> None:
    scene = scene_of(network(*found))
    outputs = [(shape, place) for shape, place in scene.shapes if shape.kind == "output"]
    for shape, (x, y) in outputs:
        assert shape.body_width + charts_width(len(shape.charts)) == pytest.approx(shape.width)
        assert shape.height >= max(shape.body_height, CHART_HEIGHT)
        assert x + shape.width <= scene.width + 1e-6
        assert y + shape.height <= scene.height + 1e-6
        for chart in shape.charts:
            assert all(-1e-9 <= place <= 1 + 1e-9 and 0 <= worth <= 1 for place, worth in chart.curve)
            assert all(a <= b + 1e-9 for (a, _), (b, _) in itertools.pairwise(chart.curve))
            assert all(b - a > 0.05 for (a, _), (b, _) in itertools.pairwise(chart.ticks))
            assert all(len(text) <= 12 and -0.15 < place < 1.08 for place, text in chart.ticks)
    ElementTree.fromstring(draw_svg(network(*found)))


def test_charts_do_not_overlap() -> None:
    frames = list(elements(draw_svg(network(FULL, FULL)), "chart"))
    corners = [(float(e.get("x", "")), float(e.get("y", ""))) for e in frames]
    assert len(corners) == 6
    for (x1, y1), (x2, y2) in itertools.combinations(corners, 2):
        assert abs(x1 - x2) >= CHART_WIDTH or abs(y1 - y2) >= CHART_HEIGHT


def test_the_notation_of_graphs() -> None:
    assert str(quality_notation(Quality())) == "QoS(Weight 1)"
    value = ValueGraph("v", ((0, 1), (2.5, 0)))
    assert (
        str(quality_notation(Quality(value=value, weight=0.5))) == "QoS(Weight 0.5, Value(v, 0: 1, 2.5: 0))"
    )


def test_tree_and_mermaid_have_the_graphs(tmp_path: Path) -> None:
    form = """\
australis: 1
name: n
inputs: {s: {schema: {v: double}}}
outputs: {out: {from: s, quality: {delay: [[0, 1], [0.5, 1], [90, 0]], weight: 2}}, plain: {from: s}}
"""
    assert (
        australis("explain", write(tmp_path / "n.yaml", form)).stdout
        == """\
n
└── s: input
    (v double)
    ├── out: output
    │   QoS(Weight 2, Delay(0 s: 1, 500 ms: 1, 90 s: 0))
    └── plain: output
"""
    )
    lines = draw_mermaid(network(FULL, None)).splitlines()
    assert '  out_out1>"out1"]' in lines
    assert any(line.startswith('  out_out0>"out0<br/>QoS(Weight 3, Delay(0 s: 1') for line in lines)
    assert any("#lt;odd#gt; #amp; long: 0.5" in line for line in lines)


def test_check_warns_of_graphs_that_mislead(tmp_path: Path) -> None:
    form = """\
australis: 1
name: n
inputs: {s: {schema: {v: double}}}
outputs: {out: {from: s, quality: {loss: [[0.5, 0], [1, 1]]}}}
"""
    answer = australis("check", write(tmp_path / "n.yaml", form))
    assert answer.exit_code == 0
    assert "warning: n.outputs.out.quality.loss: is steeper above 0.5 than below, so shed" in answer.stderr
