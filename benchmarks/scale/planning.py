"""Planning 10,000 boxes, from the network to the superboxes and what trains ask of them."""

from __future__ import annotations

from benchmarks.scale.networks import chains, fan
from benchmarks.scale.timing import cpu_seconds

from australis import Network
from australis.plan.superboxes import Discipline, plan

BOXES = 10_000


def measure() -> dict[str, float]:
    """The seconds that the plans of 10,000 boxes take, and of 1,000 for comparison."""
    return {
        "plan_s": _plan_s(fan(BOXES)),
        "plan_chains_s": _plan_s(chains(BOXES)),
        "plan_1000_s": _plan_s(fan(BOXES // 10)),
    }


def _plan_s(network: Network) -> float:
    return cpu_seconds(lambda: _planned(network), passes=3)


def _planned(network: Network) -> None:
    made = plan(network, Discipline.BRANCH)
    assert made.ways
    assert made.outputs_after
    made.views, made.outputs, made.outputs_downstream()
