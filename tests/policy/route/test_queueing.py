"""The queueing model: rates, response times, the most that a routing takes; the paper's examples and laws."""

from __future__ import annotations

from math import fsum, inf, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.route.plans import plans, weights

from australis.errors import PolicyError
from australis.policy.route.examples import J3, S3
from australis.policy.route.plan import DistributedPlan, Operator, RoutedStream, any_order, in_order, plan_of
from australis.policy.route.queueing import (
    average_response_time,
    compute_rate,
    maximum_data_rate,
    paths_of,
    probabilities,
    queue_length,
    residence_time,
    shares,
    throughput,
    weights_of,
)


def test_the_paths_of_the_examples() -> None:
    assert len(paths_of(S3.streams[0])) == 6
    assert [path for stream in J3.streams for path in paths_of(stream)] == [
        ("op0", "op4", "op5"),
        ("op1", "op3", "op5"),
        ("op1", "op5", "op3"),
        ("op2", "op4", "op3"),
    ]


def test_rates_of_j3_are_those_of_the_formulas() -> None:
    found = compute_rate(J3, {("op1", "op3"): 0.24, ("op1", "op5"): 0.76}, {"op0": 20, "op1": 80, "op2": 20})
    assert found.operators == pytest.approx(
        {
            "op3": 80 * 0.24 + 80 * 0.76 * 0.2 + 20 * 0.4,
            "op4": 40,
            "op5": 80 * 0.76 + 80 * 0.24 * 0.8 + 20 * 0.1,
        }
    )
    assert found.sink["op0", "op4", "op5"] == pytest.approx(20 * 0.1 * 0.2)
    assert found.sink["op2", "op4", "op3"] == pytest.approx(20 * 0.4 * 0.8)


def test_response_time_of_a_chain_is_the_sum_of_its_residence_times() -> None:
    plan = plan_of(
        (Operator("a", 1, 0.5, resources=4), Operator("b", 1, 1.0, resources=2)),
        (RoutedStream("x", in_order("a", "b")),),
    )
    found = compute_rate(plan, {}, {"x": 2.0})
    assert found.operators == {"a": 2.0, "b": 1.0}
    assert average_response_time(plan, found) == pytest.approx(1 / (4 - 2) + 1 / (2 - 1))


def test_an_overloaded_operator_keeps_tuples_for_ever() -> None:
    operator = Operator("a", work=0.5, resources=1)
    assert (residence_time(operator, 2), queue_length(operator, 3)) == (inf, inf)
    assert queue_length(operator, throughput(operator, 100)) == pytest.approx(100)


def test_where_nothing_weighs_anything_tuples_go_everywhere() -> None:
    assert probabilities("a", ["b", "c"], {("a", "d"): 1.0}) == [("b", 0.5), ("c", 0.5)]
    assert probabilities("a", ["b", "c"], {("a", "b"): 3.0, ("a", "c"): 1.0}) == [("b", 0.75), ("c", 0.25)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Operator("a", work=0), "a.work: is 0; expected a number above 0"),
        (lambda: Operator("a", work=1, selectivity=0), "a.selectivity: is 0; expected above 0"),
        (
            lambda: DistributedPlan({}, (RoutedStream("x", {}, 0.5),)),
            "streams: their shares do not add up to 1",
        ),
        (
            lambda: DistributedPlan({}, (RoutedStream("x", {}, 1.0), RoutedStream("y", {}, 0.0))),
            "y.share: is 0.0; expected a number",
        ),
        (lambda: DistributedPlan({}, (RoutedStream("x", any_order("a")),)), "x: visits a"),
        (
            lambda: plan_of((Operator("a", 1),), (RoutedStream("x", {"a": frozenset("a")}),)),
            "x: can never visit a; expected operators that can come first",
        ),
    ],
)
def test_a_plan_that_cannot_be_is_refused(make: object, message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        make()  # type: ignore[operator]
    assert str(refused.value).startswith(message)


@given(st.data())
def test_rates_are_conserved(data: st.DataObject) -> None:
    """What the sink gets accounts for all that came to operators, and does not depend on the routing."""
    plan = data.draw(plans())
    found = compute_rate(plan, data.draw(weights(plan)), shares(plan, 100))
    for stream in plan.streams:
        reached = fsum(rate for path, rate in found.sink.items() if path[0] == stream.id)
        assert isclose(reached, 100 * stream.share * plan.yielded(stream), rel_tol=1e-9)
    for op, rate in found.operators.items():
        assert isclose(rate, _from_paths(plan, found.sink, op), rel_tol=1e-9)


def _from_paths(plan: DistributedPlan, sink: dict[tuple[str, ...], float], op: str) -> float:
    """What must have come to an operator for the sink to get what it gets."""
    whole = 0.0
    for path, rate in sink.items():
        if op in path:
            for later in path[path.index(op) :]:
                rate /= plan.operators[later].made_of(path[0])
            whole += rate
    return whole


@given(st.data())
def test_response_times_diverge_at_the_maximum_data_rate(data: st.DataObject) -> None:
    plan = data.draw(plans())
    routing = data.draw(weights(plan))
    most = maximum_data_rate(plan, routing, inf)

    def response_time(part: float) -> float:
        return average_response_time(plan, compute_rate(plan, routing, shares(plan, part * most)))

    times = [response_time(part) for part in (0.5, 0.9, 0.999, 0.999999)]
    assert times == sorted(times)
    assert response_time(1 + 1e-9) == inf
    assert times[-1] > 100 * min(op.service_time for op in plan.operators.values())


@given(st.data())
def test_rates_do_not_depend_on_the_scale_of_weights(data: st.DataObject) -> None:
    plan = data.draw(plans())
    routing = data.draw(weights(plan))
    doubled = {step: weight * 2 for step, weight in routing.items()}
    assert maximum_data_rate(plan, routing) == pytest.approx(maximum_data_rate(plan, doubled))


def test_a_single_way_takes_what_its_slowest_operator_takes() -> None:
    """Everything first to op2, as a centralised eddy would: it is full while op1 and op3 are not."""
    first = weights_of([("op0", "op2", "op1", "op3")])
    assert maximum_data_rate(S3, first, inf) == pytest.approx(200)
