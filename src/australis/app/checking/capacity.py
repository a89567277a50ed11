"""The static analysis of `australis check --rate`: from its arguments to the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import click

from australis.algebra.network import Network
from australis.app.checking.question import CapacityQuestion
from australis.app.checking.rates import input_rates, machine_cores, read_costs, sample_files
from australis.app.checking.rehearsal import rehearsed
from australis.app.checking.static_shedding import shed_statically
from australis.engine.calibrate import Calibration, calibrate, known_costs, sample
from australis.engine.observe import look
from australis.plan.spread import SpreadKind
from australis.plan.superboxes import plan
from australis.policy.analysis import Analysis, Costs, Hardware, Verdict, analyse
from australis.policy.shed import Shedding


@dataclass(frozen=True)
class CapacityReport:
    """An analysis, the costs that it is based on, and what the shedder would do under overload."""

    network: Network
    analysis: Analysis
    costs: Costs
    shedding: Shedding | None
    notes: tuple[str, ...]

    @property
    def is_overloaded(self) -> bool:
        return self.analysis.verdict is Verdict.OVERLOADED

    def as_dict(self) -> dict[str, Any]:
        """The report for `--json`."""
        found = self.analysis
        loads = {part: getattr(found, part) for part in ("inputs", "boxes", "outputs")}
        return {
            "verdict": found.verdict.value,
            "capacity": found.machine.capacity,
            "headroom": found.machine.headroom,
            "min_cap": found.min_cap,
            "excess": found.excess,
            "shed": found.shed,
            "bottleneck": found.bottleneck,
            "crowded": found.crowded,
            "node": asdict(found.node) | {"cores": found.node.cores},
            **{
                part: {
                    name: asdict(load) | {"cores": load.cores, "selectivity": load.selectivity}
                    for name, load in each.items()
                }
                for part, each in loads.items()
            },
            "delays": [asdict(delay) | {"feasible": delay.is_feasible} for delay in found.delays],
            "shedding": asdict(self.shedding) if self.shedding else None,
            "costs": asdict(self.costs),
            "notes": self.notes,
        }


def analyse_load(network: Network, question: CapacityQuestion) -> CapacityReport:
    """Measure or look up the costs of a network, and analyse it."""
    expected = input_rates(network, question.rate)
    measured = _measure(network, question, expected)
    costs = measured.costs
    if question.train_ms is not None:
        costs = replace(costs, train_us=question.train_ms * 1000)
    capacity = question.capacity or machine_cores()
    found = analyse(network, expected, costs, Hardware(capacity, question.headroom, _single(network)))
    shedding = shed_statically(network, costs, found) if found.excess > 0 else None
    return CapacityReport(network, found, costs, shedding, measured.notes)


def _measure(network: Network, question: CapacityQuestion, rates: Mapping[str, float]) -> Calibration:
    ways = {"--calibrate": question.calibrate, "--root": question.root, "--costs": question.costs}
    given = [name for name, value in ways.items() if value]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} both tell the costs: choose one")
    if question.costs is not None:
        return Calibration(read_costs(question.costs, network), 0, ())
    if question.root is not None:
        return known_costs(network, look(question.root))
    files = sample_files(network, question.calibrate)
    drawn = sample(network, files, rates, question.tuples)
    measured = calibrate(network, drawn)
    return rehearsed(network, drawn, rates, measured) if question.rehearse else measured


def _single(network: Network) -> tuple[tuple[str, ...], ...]:
    """The boxes that run together in one partition."""
    superboxes = plan(network).superboxes.values()
    return tuple(each.boxes for each in superboxes if each.spread.kind is SpreadKind.ONE)
