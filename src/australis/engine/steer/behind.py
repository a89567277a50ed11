"""What is behind an input: the outputs that its tuples come to, and how much of each."""

from __future__ import annotations

from collections.abc import Iterator

from australis.plan.superboxes import Plan
from australis.policy.load import Situation
from australis.policy.shed import Flow
from australis.policy.upstream import Downstream


def outputs_behind(plan: Plan, situation: Situation, name: str, age_s: float) -> Iterator[Downstream]:
    """The outputs behind an input whose tuples have some age when they arrive, by what was measured."""
    flow = Flow(situation)
    shares = _shares(plan, situation, flow, name)
    for output, goal in situation.goals.items():
        if not goal.way and plan.outputs[output] == name:
            yield Downstream(goal.quality)
        elif output in shares:
            late_s = goal.delay or 0.0
            # Since a trigger, delays count from its arrival here.
            later_s = late_s if goal.quality.counts_since_trigger else max(0.0, late_s - age_s)
            yield Downstream(goal.quality, shares[output], later_s, goal.fraction)


def _shares(plan: Plan, situation: Situation, flow: Flow, name: str) -> dict[str, float]:
    """The part of each output that comes by an input; all of it, until something has come."""
    arriving, found = flow.arriving({}), dict[str, float]()
    for stage in plan.arcs[name].readers if name in plan.arcs else ():
        known = flow.shares(stage, arriving[stage], {}) if arriving[stage] > 0 else {}
        for output in situation.stages[stage].outputs:
            found[output] = min(1.0, found.get(output, 0.0) + known.get(output, 0.0 if known else 1.0))
    return found
