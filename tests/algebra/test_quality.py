"""QoS graphs: what is refused for which reason, and where greedy decisions are only nearly optimal."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis import AlgebraError, NetworkBuilder, Quality, ValueGraph
from australis.algebra.form.form import from_json, loads, to_json
from australis.algebra.quality import Points

CONVEX = Quality(
    delay=((0, 1), (2, 1), (6, 0.75), (8, 0), (9, 0)),
    loss=((0, 0), (0.3, 0.6), (0.8, 0.95), (1, 1)),
    value=ValueGraph("v", ((0, 1), (1, 0), (2, 1))),
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Quality(delay=((0, 0.5), (2, 1))),
            r"delay\[1\]: utility rises from 0.5 to 1 at 2; expected no more than before it: lateness makes",
        ),
        (
            lambda: Quality(loss=((0, 1), (0.5, 0.25), (1, 1))),
            r"loss\[1\]: utility falls from 1 to 0.25 at 0.5; expected no less than before it: loss makes",
        ),
        (
            lambda: Quality(delay=((0, 0.9), (2, 0))),
            "delay: is not normalised: its highest utility is 0.9; expected 1 as the highest utility",
        ),
        (lambda: Quality(loss=((0, 0), (1, 0.5))), "loss: is not normalised: its highest utility is 0.5"),
        (lambda: ValueGraph("v", ((0, 0), (1, 0.5))), "points: is not normalised"),
        (lambda: ValueGraph("v", categories=(("a", 0.5),)), "categories: is not normalised"),
        (lambda: Quality(delay=((0, 1.5), (2, 0))), "delay: utility 1.5 is not normalised"),
        (lambda: Quality(delay=((0, math.nan),)), "delay: is nan; expected a number from 0 to 1"),
        (lambda: Quality(delay=((2, 1), (1, 0))), r"delay: positions \[2.0, 1.0\] do not ascend"),
        (lambda: Quality(loss=((0.5, 0), (0.5, 1))), "loss: positions .* do not ascend"),
        (lambda: ValueGraph("v", categories=(("a", 1), ("a", 0))), "categories.a: occurs twice"),
        (lambda: ValueGraph("v", (("a", 1),)), "points: is 'a'; expected a number as a position"),  # type: ignore[arg-type]
        (lambda: Quality(since="newest"), "since: is 'newest'; expected oldest or trigger"),
        (lambda: Quality(since=None), "since: is None; expected oldest or trigger"),  # type: ignore[arg-type]
        (lambda: ValueGraph("v"), "value graph of 'v'; expected either points or categories"),
    ],
)
def test_a_bad_graph_is_refused_with_the_reason(make: Callable[[], object], message: str) -> None:
    with pytest.raises(AlgebraError, match=f"^{message}"):
        make()


def test_in_a_text_the_path_leads_to_the_graph() -> None:
    text = """
australis: 1
name: n
inputs: {s: {schema: {a: int}}}
outputs:
  one: {from: s, quality: {delay: [[0, 0.5], [2, 1]]}}
  two: {from: s, quality: {loss: [[0, 0], [1, 0.5]]}}
  three: {from: s, quality: {delay: {since: trigger, points: [[0, 0.5], [2, 1]]}}}
  four: {from: s, quality: {delay: {since: begin}, weight: 0}}
"""
    with pytest.raises(AlgebraError) as caught:
        loads(text, ".yaml")
    found = [problem.path for problem in caught.value.problems]
    assert found == [
        "n.outputs.one.quality.delay[1]",
        "n.outputs.two.quality.loss",
        "n.outputs.three.quality.delay.points[1]",
        "n.outputs.four.quality.weight",
        "n.outputs.four.quality.delay.since",
    ]


@pytest.mark.parametrize(
    ("written", "quality"),
    [
        ([[0, 1], [2, 0]], Quality(delay=((0, 1), (2, 0)))),
        ({"points": [[0, 1], [2, 0]]}, Quality(delay=((0, 1), (2, 0)))),
        ({"since": "oldest", "points": [[0, 1], [2, 0]]}, Quality(delay=((0, 1), (2, 0)))),
        (
            {"since": "trigger", "points": [[0, 1], [2, 0]]},
            Quality(delay=((0, 1), (2, 0)), since="trigger"),
        ),
        ({"since": "trigger"}, Quality(since="trigger")),
    ],
)
def test_a_delay_graph_is_its_points_or_says_what_it_counts_from(written: object, quality: Quality) -> None:
    outputs = {"o": {"from": "s", "quality": {"delay": written}}}
    read = from_json(
        {"australis": 1, "name": "n", "inputs": {"s": {"schema": {"a": "int"}}}, "outputs": outputs}
    )
    assert read.outputs["o"].quality == quality
    assert from_json(to_json(read)) == read, "nothing is lost when it is written"
    is_plain = not quality.counts_since_trigger
    assert isinstance(to_json(read)["outputs"]["o"]["quality"]["delay"], list) == is_plain


def warnings(quality: Quality) -> list[str]:
    net = NetworkBuilder("n")
    net.input("s", "v double").output("out", quality)
    return [str(warning) for warning in net.build().warnings()]


def test_convex_graphs_and_value_graphs_of_any_shape_are_without_warning() -> None:
    assert warnings(CONVEX) == []
    assert warnings(Quality(delay=((2, 1), (10, 0)), loss=((0, 0.5), (0.5, 1)))) == []
    assert warnings(Quality(loss=((0, 0), (0.3, 0.3), (0.7, 0.7), (0.9, 0.9), (1, 1)))) == []


@pytest.mark.parametrize(
    ("quality", "warning"),
    [
        (
            Quality(delay=((1, 1), (2, 0.25), (4, 0))),
            "delay: falls less steeply after 2 s than before, so scheduling is only nearly optimal",
        ),
        (
            Quality(delay=((1, 1), (2, 0.5), (3, 0.5), (4, 0))),
            "delay: falls less steeply after 2 s than before",
        ),
        (
            Quality(loss=((0, 0), (0.5, 0.25), (1, 1))),
            "loss: is steeper above 0.5 than below, so shedding is only nearly optimal; expected a convex",
        ),
        (Quality(loss=((0.2, 0), (1, 1))), "loss: is steeper above 0.2 than below"),
        (Quality(delay=((0, 1), (2, 0))), "delay: no delay is good enough; expected utility 1 up to a delay"),
    ],
)
def test_what_gradients_mislead_about_is_warned_of(quality: Quality, warning: str) -> None:
    (found,) = warnings(quality)
    assert found.startswith(f"n.outputs.out.quality.{warning}")


@st.composite
def pieces(draw: st.DrawFn) -> list[tuple[float, float]]:
    """Widths and slopes of the pieces of a curve."""
    sizes = st.floats(0.01, 1)
    return draw(st.lists(st.tuples(sizes, sizes), min_size=1, max_size=6))


def falling(found: list[tuple[float, float]]) -> Points:
    drops = [width * slope for width, slope in found]
    points, x, lost = [(1.0, 1.0)], 1.0, 0.0
    for (width, _), drop in zip(found, drops, strict=True):
        x, lost = x + width, lost + drop
        points.append((x, max(0.0, 1 - lost / sum(drops))))
    return tuple(points)


@given(pieces())
def test_pieces_in_the_order_of_their_slopes_are_convex(found: list[tuple[float, float]]) -> None:
    ordered = sorted(found, key=lambda piece: piece[1])
    assert not list(Quality(delay=falling(ordered)).warnings())
    steepest_first = list(Quality(delay=falling(ordered[::-1])).warnings())
    assert bool(steepest_first) or ordered[-1][1] - ordered[0][1] < 1e-6
