"""Drop boxes for a need: where they are, how much they shed, and what never happens to an output."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.quality import Points, Quality, ValueGraph
from australis.policy.load import Goal, Situation, Stage
from australis.policy.shed.drop_boxes import places, shed
from australis.policy.shed.flow import Flow
from australis.policy.shed.levels import EVENNESS
from australis.policy.shed.walk import STRIDE
from australis.qos.graphs import utility

LINE: Points = ((0, 0), (1, 1))
BENT: Points = ((0, 0), (0.8, 1), (1, 1))


def goal(name: str, *way: str, loss: Points = LINE, **more: object) -> Goal:
    return Goal(name, Quality(loss=loss, **more), way)  # type: ignore[arg-type]


def situation(stages: list[Stage], goals: list[Goal], workers: int = 1) -> Situation:
    return Situation(0, {s.id: s for s in stages}, {g.id: g for g in goals}, workers)


def rates(situation: Situation, need: float, **more: object) -> dict[str, float]:
    found = shed(Flow(situation, **more), need)  # type: ignore[arg-type]
    return {stage: round(box.rate, 9) for stage, box in found.boxes.items()}


def branches(*outputs: str, rate: float = 1000.0) -> list[Stage]:
    return [Stage(f"s{o}", outputs=frozenset({o}), rate=rate, tuple_us=1000) for o in outputs]


# --- the order of the paper


def test_the_smallest_slope_goes_first_until_anothers_is_smaller() -> None:
    gentle, steep = goal("a", "sa", loss=BENT), goal("b", "sb", loss=((0, 0), (0.5, 0.75), (1, 1)))
    here = situation(branches("a", "b"), [gentle, steep])
    assert rates(here, 0.1) == {"sa": 0.1}
    assert rates(here, 0.5) == {"sa": 0.2, "sb": 0.3}
    assert rates(here, 0.9) == {"sa": 0.4, "sb": 0.5}


def test_a_weight_makes_a_slope_steeper() -> None:
    here = situation(branches("a", "b"), [goal("a", "sa", weight=3.0), goal("b", "sb")])
    assert rates(here, 1.2) == {"sa": 0.2, "sb": 1.0}


def test_with_equal_slopes_the_dearer_tuples_go() -> None:
    cheap, dear = branches("a", "b")
    dear = Stage(dear.id, outputs=dear.outputs, rate=1000, tuple_us=4000)
    assert rates(situation([cheap, dear], [goal("a", "sa"), goal("b", "sb")]), 1.0) == {"sb": 0.25}


def test_above_a_split_what_all_outputs_lose_counts() -> None:
    shared = Stage("s", {"sa": 1.0, "sb": 1.0}, frozenset("ab"), rate=1000, tuple_us=100)
    own = [Stage(f"s{o}", {}, frozenset(o), tuple_us=1000) for o in "ab"]
    both = [goal("a", "s", "sa"), goal("b", "s", "sb")]
    assert rates(situation([shared, *own], both), 1.05) == {"s": 0.5}
    one = [both[0], goal("b", "s", "sb", weight=9.0)]
    assert rates(situation([shared, *own], one), 0.5) == {"sa": 0.5}


# --- in proportion


def test_equal_graphs_lose_equal_fractions() -> None:
    here = situation(branches("a", "b", "c"), [goal(name, f"s{name}") for name in "abc"])
    assert rates(here, 1.2) == {"sa": 0.4, "sb": 0.4, "sc": 0.4}
    flat = situation(branches("a", "b"), [goal("a", "sa", loss=BENT), goal("b", "sb", loss=BENT)])
    assert rates(flat, 0.1) == {"sa": 0.05, "sb": 0.05}


def test_the_same_line_with_more_points_is_the_same_line() -> None:
    here = situation(
        branches("a", "b"), [goal("a", "sa"), goal("b", "sb", loss=((0, 0), (0.4, 0.4), (1, 1)))]
    )
    assert rates(here, 1.2) == {"sa": 0.6, "sb": 0.6}


def test_who_would_lose_a_little_more_loses_a_little_less() -> None:
    here = situation(branches("a", "b"), [goal("a", "sa", weight=1.1), goal("b", "sb")])
    # 1.1 x (1 + a) = 1 + b, and a + b = 1.
    assert rates(here, 1.0) == {"sa": round(0.9 / 2.1, 9), "sb": round(1.2 / 2.1, 9)}
    assert rates(here, 0.1) == {"sb": 0.1}


def test_without_evenness_one_after_the_other_loses_all() -> None:
    here = situation(branches("a", "b"), [goal("a", "sa", weight=1.1), goal("b", "sb")])
    found = shed(Flow(here), 1.2, evenness=0.0)
    assert {stage: round(box.rate, 9) for stage, box in found.boxes.items()} == {"sb": 1.0, "sa": 0.2}


def test_the_more_evenness_the_more_alike_are_the_losses() -> None:
    here = situation(branches("a", "b"), [goal("a", "sa", weight=2.0), goal("b", "sb")])
    apart = []
    for evenness in (0.0, 1.0, 4.0, 100.0):
        delivered = shed(Flow(here), 1.0, evenness=evenness).delivered
        apart.append(delivered["a"] - delivered["b"])
    assert apart == sorted(apart, reverse=True)
    assert apart[0] == pytest.approx(1.0)
    # With evenness alone each is shed in inverse proportion to what it would lose.
    assert apart[-1] == pytest.approx(1 / 3, abs=0.02)


def test_nearly_equal_outputs_after_a_shared_place_stay_nearly_equal() -> None:
    shared = Stage("s", {f"s{o}": 1.0 for o in "abc"}, frozenset("abc"), rate=1000, tuple_us=1)
    own = [Stage(f"s{o}", {}, frozenset(o), tuple_us=1000) for o in "abc"]
    weights = {"a": 1.0, "b": 1.05, "c": 9.0}
    here = situation([shared, *own], [goal(o, "s", f"s{o}", weight=weights[o]) for o in "abc"])
    delivered = shed(Flow(here), 1.0).delivered
    assert delivered["c"] == 1.0
    assert delivered["a"] == pytest.approx(delivered["b"], abs=STRIDE)


# --- the places


def test_of_stages_that_lead_to_the_same_outputs_the_first_has_the_drop_box() -> None:
    chain = [
        Stage("first", {"second": 1.0}, frozenset("a"), rate=1000, tuple_us=500),
        Stage("second", {}, frozenset("a"), tuple_us=500),
    ]
    assert rates(situation(chain, [goal("a", "first", "second")]), 0.5) == {"first": 0.5}


def test_a_long_queue_further_down_may_be_shed_too() -> None:
    first = Stage("first", {"second": 1.0}, frozenset("a"), rate=100, tuple_us=500)
    late = goal("a", "first", "second", delay=((0, 1), (1, 1), (2, 0)))
    short, long = (Stage("second", {}, frozenset("a"), waiting=n, tuple_us=500) for n in (100, 4000))
    assert list(places(Flow(situation([first, short], [late])), frozenset("a"))) == ["first"]
    here = situation([first, long], [late])
    assert list(places(Flow(here), frozenset("a"))) == ["first", "second"]
    found = rates(here, 0.6, horizon_s=2.0)
    assert found["first"] == 1.0
    assert 0.4 < found["second"] < 0.6


def test_an_output_without_graph_is_not_touched_nor_what_leads_to_it() -> None:
    shared = Stage("s", {"sa": 1.0, "sb": 1.0}, frozenset("ab"), rate=1000, tuple_us=500)
    own = [Stage(f"s{o}", {}, frozenset(o), tuple_us=500) for o in "ab"]
    here = situation([shared, *own], [goal("a", "s", "sa"), Goal("b", Quality(), ("s", "sb"))])
    found = shed(Flow(here), 0.7)
    assert {stage: box.rate for stage, box in found.boxes.items()} == {"sa": 1.0}
    assert (found.recovered, round(found.missing, 9)) == (0.5, 0.2)
    assert found.delivered == {"a": 0.0, "b": 1.0}


def test_an_unknown_output_is_not_touched() -> None:
    assert rates(situation(branches("a"), []), 0.5) == {}


def test_a_stage_that_asks_for_too_much_is_relieved_before_the_node_is() -> None:
    shared = Stage("s", {"sa": 1.0, "sb": 1.0}, frozenset("ab"), rate=1000, tuple_us=100)
    own = [Stage("sa", {}, frozenset("a"), tuple_us=2000), Stage("sb", {}, frozenset("b"), tuple_us=500)]
    here = situation([shared, *own], [goal("a", "s", "sa"), goal("b", "s", "sb")], workers=4)
    assert rates(here, 0.0) == {}
    found = shed(Flow(here), 0.0, each=1.0)
    assert {stage: round(box.rate, 9) for stage, box in found.boxes.items()} == {"sa": 0.5}
    assert found.recovered == pytest.approx(1.0)


def test_an_inactive_output_is_not_considered() -> None:
    here = situation(branches("a", "b"), [goal("a", "sa", loss=BENT), goal("b", "sb")])
    assert rates(here, 0.5, inactive=("a",)) == {"sb": 0.5}
    assert Flow(here, inactive=("a",)).asked({}) == 1.0


def test_values_stand_in_for_a_loss_graph() -> None:
    value = ValueGraph("v", points=((0, 0), (10, 1)))
    here = situation(branches("a", "b"), [goal("a", "sa"), Goal("b", Quality(value=value), ("sb",))])
    assert shed(Flow(here), 0.5, {"b": ((0, 0), (0.4, 0.95), (1, 1))}).boxes.keys() == {"sb"}
    assert shed(Flow(here), 1.5).boxes.keys() == {"sa", "sb"}


# --- what is asked for


def test_trains_and_backlogs_ask_for_time() -> None:
    late = goal("a", "sa", delay=((0, 1), (1, 1), (2, 0)))
    stage = Stage("sa", outputs=frozenset("a"), rate=100, tuple_us=1000, train_us=50_000, waiting=1050)
    here = situation([stage], [late])
    assert Flow(here, train=100).asked({}) == pytest.approx(0.15)
    assert Flow(here, train=math.inf, horizon_s=2).asked({}) == pytest.approx(0.1 + 0.5)
    assert Flow(here, train=math.inf).need() == pytest.approx(-0.9)


def test_a_stage_fed_by_inputs_and_stages_has_both() -> None:
    first = Stage("f", {"j": 2.0}, rate=100, tuple_us=100)
    join = Stage("j", {}, rate=450, direct=250, tuple_us=1000)
    assert Flow(situation([first, join], [])).asked({"f": 0.5}) == pytest.approx(0.005 + 0.1 + 0.25)


def test_a_need_too_small_for_the_numbers_ends() -> None:
    huge = Stage("sa", outputs=frozenset("a"), rate=1e15, tuple_us=1e9)
    found = shed(Flow(situation([huge], [goal("a", "sa")])), 1e-3)
    assert all(0.0 <= box.rate <= 1.0 for box in found.boxes.values())


# --- laws


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    """Trees of stages of up to three levels, with outputs at their ends."""
    number = st.floats(0.1, 10.0)
    stages: dict[str, Stage] = {}
    goals: dict[str, Goal] = {}
    for root in range(draw(st.integers(1, 2))):
        _grow(draw, f"r{root}", (), stages, goals, draw(number) * 100, number)
    ordered = dict(reversed(stages.items()))
    return Situation(0, ordered, goals, workers=draw(st.integers(1, 3)), headroom=draw(st.floats(0.1, 1.0)))


def _grow(
    draw: st.DrawFn,
    name: str,
    way: tuple[str, ...],
    stages: dict[str, Stage],
    goals: dict[str, Goal],
    rate: float,
    number: st.SearchStrategy[float],
) -> frozenset[str]:
    way = (*way, name)
    children = [f"{name}.{i}" for i in range(draw(st.integers(1, 3)))] if len(way) < 3 else []
    outputs = [_grow(draw, child, way, stages, goals, 0.0, number) for child in children]
    if not children or draw(st.booleans()):
        goals[f"o{name}"] = Goal(f"o{name}", draw(qualities()), way)
        outputs.append(frozenset({f"o{name}"}))
    feeds = {child: draw(number) / 5 for child in children}
    reached = frozenset().union(*outputs)
    stages[name] = Stage(name, feeds, reached, rate=rate, tuple_us=draw(number) * 100)
    return reached


@st.composite
def qualities(draw: st.DrawFn) -> Quality:
    xs = sorted(draw(st.sets(st.integers(1, 9), max_size=3)))
    ys = sorted(draw(st.lists(st.integers(0, 10), min_size=len(xs) + 1, max_size=len(xs) + 1)))
    points = tuple(zip([0.0, *(x / 10 for x in xs), 1.0], [*(y / 10 for y in ys), 1.0], strict=True))
    loss = points if draw(st.integers(0, 3)) else ()
    return Quality(loss=loss, weight=draw(st.floats(0.1, 5.0)))


NEEDS = st.floats(0.0, 20.0)


@given(situations(), NEEDS)
def test_rates_are_fractions_and_the_need_is_met_or_all_is_shed(here: Situation, need: float) -> None:
    flow = Flow(here)
    found = shed(flow, need)
    kept = {stage: 1.0 - box.rate for stage, box in found.boxes.items()}
    assert all(0.0 < box.rate <= 1.0 and math.isfinite(box.rate) for box in found.boxes.values())
    assert flow.asked({}) - flow.asked(kept) == pytest.approx(found.recovered, abs=1e-6)
    if found.missing:
        losing = {name for name, g in here.goals.items() if g.quality.loss}
        all_shed = dict.fromkeys(places(flow, frozenset(losing)), 0.0)
        assert flow.asked(kept) == pytest.approx(flow.asked(all_shed), abs=1e-6)
    else:
        assert found.recovered == pytest.approx(need, abs=1e-6)


@given(situations(), NEEDS)
def test_outputs_without_graphs_lose_nothing(here: Situation, need: float) -> None:
    found = shed(Flow(here), need)
    whole = {name for name, g in here.goals.items() if not g.quality.loss}
    assert not any(here.stages[stage].outputs & whole for stage in found.boxes)
    assert all(found.delivered[name] == pytest.approx(1.0) for name in whole)


@given(situations(), NEEDS)
def test_along_a_way_fractions_multiply(here: Situation, need: float) -> None:
    found = shed(Flow(here), need)
    for name, each in here.goals.items():
        kept = [1.0 - found.boxes[stage].rate for stage in each.way if stage in found.boxes]
        assert found.delivered[name] == pytest.approx(math.prod(kept), abs=1e-6)


@given(situations(), NEEDS, st.floats(0.0, 1.0))
def test_shedding_less_never_loses_more(here: Situation, need: float, part: float) -> None:
    less, more = shed(Flow(here), need * part), shed(Flow(here), need)
    assert _total(less.lost) <= _total(more.lost) + 1e-6
    assert all(less.delivered[name] >= more.delivered[name] - 1e-6 for name in here.goals)
    assert all(more.boxes[stage].rate >= box.rate - 1e-6 for stage, box in less.boxes.items())


@given(situations(), NEEDS)
def test_what_is_lost_is_read_from_the_graphs(here: Situation, need: float) -> None:
    found = shed(Flow(here), need)
    for name, lost in found.lost.items():
        quality = here.goals[name].quality
        kept = utility(quality.loss, found.delivered[name])
        assert lost == pytest.approx(quality.weight * (utility(quality.loss, 1.0) - kept), abs=1e-6)


@given(st.lists(st.floats(0.2, 5.0), min_size=2, max_size=5), st.floats(0.0, 1.0))
def test_along_concave_graphs_no_other_drop_boxes_lose_less(weights: list[float], part: float) -> None:
    """The walk against a search of all mixtures on a grid, for two outputs; evenness costs a bounded part."""
    a, b = weights[:2]
    here = situation(
        branches("a", "b"),
        [goal("a", "sa", loss=BENT, weight=a), goal("b", "sb", loss=((0, 0), (0.5, 0.75), (1, 1)), weight=b)],
    )
    need = 2.0 * part
    found, even = (_total(shed(Flow(here), need, evenness=evenness).lost) for evenness in (0.0, EVENNESS))
    curves: Mapping[str, Points] = {name: each.quality.loss for name, each in here.goals.items()}
    for step in range(101):
        rate_a = max(0.0, need - 1.0) + step / 100 * (min(1.0, need) - max(0.0, need - 1.0))
        lost = a * (1 - utility(curves["a"], 1 - rate_a)) + b * (1 - utility(curves["b"], 1 - need + rate_a))
        assert found <= lost + 1e-6
        assert even <= (1.0 + EVENNESS) * lost + 1e-6


@given(
    st.lists(st.tuples(st.floats(0.5, 2.0), st.floats(0.5, 2.0)), min_size=2, max_size=6),
    st.lists(st.floats(-0.01, 0.01), min_size=6, max_size=6),
    st.floats(0.05, 0.95),
)
def test_a_small_difference_of_costs_makes_a_small_difference_of_rates(
    made: list[tuple[float, float]], errors: list[float], part: float
) -> None:
    """Costs are measured, and a part of each measurement is noise: it must not decide who loses all."""

    def delivered(noise: list[float]) -> list[float]:
        names = [f"o{number}" for number in range(len(made))]
        stages = [
            Stage(f"s{name}", outputs=frozenset({name}), rate=1000, tuple_us=1000 * cost * (1 + error))
            for name, (cost, _), error in zip(names, made, noise, strict=False)
        ]
        goals = [goal(name, f"s{name}", weight=weight) for name, (_, weight) in zip(names, made, strict=True)]
        flow = Flow(situation(stages, goals))
        found = shed(flow, part * flow.asked({})).delivered
        return [found[name] for name in names]

    exact, measured = delivered([0.0] * len(made)), delivered(errors)
    assert max(abs(one - other) for one, other in zip(exact, measured, strict=True)) <= 0.1


def _total(lost: Mapping[str, float]) -> float:
    return math.fsum(lost.values())
