"""Situations: what policies may look at, from the queues and from what was measured.

A choice compares all superboxes and outputs as columns, and looks closely at a few: only those become stages
and goals.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from australis.algebra.quality import Quality
from australis.engine.ledger import GateCount, Queues, Recent, quantile_us
from australis.engine.observe import kept_by
from australis.engine.steer.costs import Costs
from australis.engine.steer.drop_boxes import DropBoxes
from australis.engine.steer.output_lags import OutputLags
from australis.plan.superboxes import Plan, Superbox
from australis.policy.columns import Columns, Layout, Pairs
from australis.policy.load import Goal, OnDemand, Situation, Stage
from australis.qos.graphs import Numbers

WINDOW_S = 2
"""The seconds over which outputs are observed for decisions."""


class PlanLayout:
    """A plan as policies see it, worked out once."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.outputs_after = plan, plan.outputs_after
        self.ways = {name: tuple(plan.ways[name]) for name in plan.network.outputs}
        self.qualities = {name: each.quality or Quality() for name, each in plan.network.outputs.items()}
        self._readers = {
            name: [reader for arc in superbox.writes.values() for reader in plan.arcs[arc].readers]
            for name, superbox in plan.superboxes.items()
        }
        self.layout = Layout(self.outputs_after, self._readers, self.ways, self.qualities)
        counting = {name for name in self.ways if plan.counts_since_trigger(name)}
        self.asks_trigger = frozenset(
            name for name, outputs in self.outputs_after.items() if outputs & counting
        )
        """The superboxes before outputs that count delays from what triggers their results."""
        read = dict.fromkeys(arc for each in plan.superboxes.values() for arc in each.arcs)
        self.arcs = {arc: number for number, arc in enumerate(read)}
        """The arcs that superboxes read, by number."""
        self.reads = Pairs.of(
            [[self.arcs[arc] for arc in dict.fromkeys(each.arcs)] for each in plan.superboxes.values()]
        )
        """Every superbox with each arc that it reads."""
        self.views = np.array([plan.views.get(name, np.nan) for name in plan.superboxes], np.float64)
        self.layout.work_out()

    def inferring(self, inferred: Mapping[str, Quality]) -> PlanLayout:
        """The same plan, with graphs for outputs that go on to other nodes and have none of their own."""
        drawn = self.plan.network.outputs
        known = {
            name: inferred.get(name, Quality()) if each.quality is None else each.quality
            for name, each in drawn.items()
        }
        if known == self.qualities:
            return self
        found = copy(self)
        found.qualities = known
        found.layout = Layout(self.outputs_after, self._readers, self.ways, known)
        found.layout.work_out()
        return found


@dataclass(frozen=True)
class Seen:
    """What was observed of the outputs last time."""

    at: int
    recent: Recent = field(default_factory=Recent)

    @cached_property
    def delays(self) -> dict[str, float]:
        """The delay of each output in seconds, at the 95th percentile."""
        late = {name: quantile_us(buckets, 0.95) for name, buckets in self.recent.delays.items()}
        return {name: each / 1e6 for name, each in late.items() if each is not None}

    @cached_property
    def gates(self) -> dict[str, GateCount]:
        """What came to the gates of each superbox."""
        found: dict[str, GateCount] = {}
        for (superbox, _), came in self.recent.gates.items():
            found[superbox] = found.get(superbox, GateCount()) + came
        return found


@dataclass(frozen=True)
class _Moment:
    """What a situation is made of."""

    known: PlanLayout
    seen: Seen
    queues: Queues
    now: int
    waiting: Mapping[str, int]
    held: Collection[str]

    @property
    def plan(self) -> Plan:
        return self.known.plan


class Situations:
    """Makes situations. Each is for one decision: what it shows on demand is what is known then."""

    def __init__(
        self,
        costs: Costs,
        lags: OutputLags,
        dropboxes: DropBoxes,
        *,
        workers: int,
        headroom: float,
        joins: bool,
    ) -> None:
        self._costs, self._lags, self._dropboxes = costs, lags, dropboxes
        self._workers, self._headroom, self._joins = workers, headroom, joins

    def of(
        self,
        known: PlanLayout,
        seen: Seen,
        queues: Queues,
        now: int,
        waiting: Mapping[str, int],
        busy: Collection[str],
        held: Collection[str],
    ) -> Situation:
        """Everything that policies may look at."""
        moment = _Moment(known, seen, queues, now, waiting, held)
        return Situation(
            now,
            OnDemand(known.plan.superboxes, lambda name: self._stage(moment, name)),
            OnDemand(known.ways, lambda name: self._goal(moment, name)),
            self._workers,
            self._headroom,
            frozenset(busy),
            self._columns(moment, busy),
        )

    # --- all at once

    def _columns(self, moment: _Moment, busy: Collection[str]) -> Columns:
        layout, queues, now = moment.known.layout, moment.queues, moment.now
        numbers = layout.stage
        costs = [self._costs.trains[name] for name in layout.stages]
        sheds = {name: box.rate for name, box in self._dropboxes.ordered.items()}
        superboxes, asking = moment.plan.superboxes, moment.known.asks_trigger & moment.waiting.keys()
        arrived = _spread(queues.all_oldest(moment.waiting), numbers, now)
        return Columns(
            layout,
            now,
            waiting=_spread(moment.waiting, numbers, 0),
            oldest=arrived,
            triggered=_spread(
                {name: queues.triggered(superboxes[name]) for name in asking}, numbers, arrived
            ),
            rate=self._rates(moment),
            tuple_us=np.array([cost.tuple_us for cost in costs], np.float64),
            train_us=np.array([cost.train_us for cost in costs], np.float64),
            sheds=_spread(sheds, numbers, 0.0),
            shed_us=np.array([self._costs.readings[name].each_us for name in layout.stages], np.float64),
            head=np.fromiter(queues.positions.values(), np.int64, len(numbers)),
            # A view that a change waits for is like any other stage.
            view=_spread(dict.fromkeys(moment.held, np.nan), numbers, moment.known.views),
            is_busy=_spread(dict.fromkeys(busy, 1), numbers, 0) > 0,
            lag=_spread(self._lags.all_known(now), layout.goal, 0.0),
            delay=_spread(moment.seen.delays, layout.goal, 0.0),
        )

    def _rates(self, moment: _Moment) -> Numbers:
        """The tuples per second that come to each superbox."""
        arcs, reads = moment.known.arcs, moment.known.reads
        rates = _spread(self._costs.rates(moment.now), arcs, 0.0)
        count = len(moment.plan.superboxes)
        return np.asarray(np.bincount(reads.first, rates[reads.second], count), np.float64)

    # --- one by one

    def _stage(self, moment: _Moment, name: str) -> Stage:
        plan, queues, waiting = moment.plan, moment.queues, moment.waiting.get(name, 0)
        superbox, cost = plan.superboxes[name], self._costs.trains[name]
        rates = {arc: self._costs.per_second(arc, moment.now) for arc in superbox.arcs}
        ordered = self._dropboxes.ordered.get(name)
        return Stage(
            name,
            self._feeds(plan, superbox),
            moment.known.outputs_after[name],
            waiting,
            queues.oldest(superbox) if waiting else None,
            rate=sum(rates.values()),
            direct=sum(rate for arc, rate in rates.items() if plan.arcs[arc].writer is None),
            tuple_us=cost.tuple_us,
            train_us=cost.train_us,
            kept=moment.seen.gates[name].kept if name in moment.seen.gates else 1.0,
            sheds=0.0 if ordered is None else ordered.rate,
            shed_us=self._costs.readings[name].each_us,
            head=queues.positions[name],
            view=None if name in moment.held else plan.views.get(name),
            joins=self._joins
            and name not in moment.held
            and _is_inner(plan, superbox)
            and not self._dropboxes.at(name),
            abreast=min(self._costs.abreast[name].each, self._workers),
            triggered=queues.triggered(superbox) if waiting and name in moment.known.asks_trigger else None,
        )

    def _feeds(self, plan: Plan, superbox: Superbox) -> dict[str, float]:
        found: dict[str, float] = {}
        for arc in superbox.writes.values():
            for reader in plan.arcs[arc].readers:
                found[reader] = found.get(reader, 0.0) + self._costs.yields(superbox.id, arc)
        return found

    def _goal(self, moment: _Moment, name: str) -> Goal:
        seen, way, kept = moment.seen, moment.known.ways[name], 1.0
        for superbox in way:
            if superbox in seen.gates:
                kept *= kept_by(moment.plan.superboxes[superbox], seen.recent.gates)
        tuples = sum(seen.recent.delays.get(name, {}).values()) / WINDOW_S
        lag, delay = self._lags.of(name, moment.now), seen.delays.get(name)
        return Goal(name, moment.known.qualities[name], way, delay, lag, tuples, kept)


def _is_inner(plan: Plan, superbox: Superbox) -> bool:
    """Whether all that a superbox reads is written by others."""
    return bool(superbox.boxes) and all(plan.arcs[arc].writer for arc in superbox.reads.values())


def _spread(known: Mapping[str, Any], numbers: Mapping[str, int], otherwise: Any) -> npt.NDArray[Any]:
    """A column of what is known by name; where nothing is, another value, or that of another column."""
    given = {name: value for name, value in known.items() if value is not None and name in numbers}
    found = np.array(otherwise) if isinstance(otherwise, np.ndarray) else np.full(len(numbers), otherwise)
    if given:
        found[[numbers[name] for name in given]] = list(given.values())
    return found
