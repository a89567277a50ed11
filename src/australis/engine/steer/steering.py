"""Steering: passes measurements to the policies, and turns their decisions into trains and drop boxes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from australis.algebra.quality import Points, Quality
from australis.engine.ledger import GateCount, Ledger, Queues, Recent, quantile_us, recent
from australis.engine.observe import kept_by
from australis.engine.settings import NodeSettings, Way
from australis.engine.steer.account import Account
from australis.engine.steer.costs import Costs
from australis.engine.steer.drop_boxes import DropBoxes
from australis.engine.steer.output_lags import OutputLags
from australis.engine.steer.trials import TrialBenches, Trials
from australis.engine.threads import Threads
from australis.engine.worker import GateDropBox
from australis.plan.superboxes import Discipline, Plan, Superbox
from australis.policy.load import Goal, Situation, Stage
from australis.policy.schedule import Choice, Scheduling, constructed, next_view, schedule, without_views
from australis.policy.shed import Shedder, value_curve
from australis.qos.histograms import bins_of

LOOK_US = 200_000
"""How often outputs are observed, and drop boxes decided on."""
WINDOW_S = 2
"""The seconds over which outputs are observed for decisions."""


@dataclass(frozen=True)
class SteeringPlan:
    """What steering needs of a plan."""

    plan: Plan
    ways: Mapping[str, Sequence[str]]
    outputs_behind: Mapping[str, frozenset[str]]
    trials: TrialBenches


@dataclass
class _Seen:
    """What was observed of the outputs last time."""

    at: int = -LOOK_US
    recent: Recent = field(default_factory=Recent)
    delays: dict[str, float | None] = field(default_factory=dict)


class Steering:
    """Chooses trains and drop boxes. Only one thread at a time may use it."""

    def __init__(self, ledger: Ledger, settings: NodeSettings, threads: Threads, now: int) -> None:
        self._ledger, self._catalog = ledger, ledger.catalog
        self._workers, self._headroom = settings.in_flight, settings.headroom
        self._kind = settings.schedule or Scheduling.ROUND_ROBIN
        branches = settings.discipline is Discipline.BRANCH and settings.way is Way.FUSED
        # The graphs of outputs decide through which superboxes a train continues.
        self._joins = branches and self._kind.follows_graphs
        self._trials = Trials(ledger)
        self.by_value = self._trials.by_value
        self._shedder = Shedder(by_value=self.by_value) if settings.shed else None
        self.costs = Costs(threads)
        ledger.on_arrivals = self.costs.note_arrivals
        self.dropboxes = DropBoxes(ledger, now)
        self._lags = OutputLags()
        self._worths: dict[str, Points] = {}
        self._seen = _Seen()
        self.switch(self.prepare(ledger.plan))

    def prepare(self, plan: Plan) -> SteeringPlan:
        """Compute everything about a plan that takes long, before it runs."""
        ways = plan.ways
        return SteeringPlan(plan, ways, _outputs_behind(plan, ways), self._trials.prepare(plan))

    def switch(self, prepared: SteeringPlan) -> None:
        """Switch to another plan: what leads to what, and whose turn it is, starts again."""
        self._plan, self._ways, self._behind = prepared.plan, prepared.ways, prepared.outputs_behind
        self._schedule = schedule(self._kind, self._ways)
        self.costs.switch(self._plan.superboxes, self._plan.arcs)
        self._trials.switch(prepared.trials)

    # --- what is decided

    def decide(
        self,
        queues: Queues,
        now: int,
        waiting: Mapping[str, int],
        busy: Collection[str],
        held: Collection[str],
        most: int,
    ) -> Choice | None:
        """Choose the superbox to run next, and the most tuples of its train.

        Periodically outputs are observed first, and drop boxes inserted, changed and withdrawn.
        """
        is_time = now - self._seen.at >= LOOK_US
        if is_time:
            self._look(now)
        situation = self.situation(queues, now, waiting, busy, held)
        if is_time:
            self._adjust_drop_boxes(situation)
        return self._choose(situation, most)

    def _choose(self, situation: Situation, most: int) -> Choice | None:
        choice = self._schedule.choose(without_views(situation), most)
        if choice is None:
            return next_view(situation, most)
        return constructed(choice, situation) if self._joins else choice

    def drop_boxes_at(self, superbox: str) -> Mapping[str, GateDropBox]:
        """The drop boxes that the next train of a superbox goes through, by stream."""
        return self.dropboxes.at(superbox)

    def situation(
        self,
        queues: Queues,
        now: int,
        waiting: Mapping[str, int],
        busy: Collection[str] = (),
        held: Collection[str] = (),
    ) -> Situation:
        """Everything that policies may look at."""
        stages = {
            name: self._stage(queues, each, waiting.get(name, 0), now, held)
            for name, each in queues.plan.superboxes.items()
        }
        goals = {name: self._goal(name, now) for name in self._plan.network.outputs}
        return Situation(now, stages, goals, self._workers, self._headroom, frozenset(busy))

    def _adjust_drop_boxes(self, situation: Situation) -> None:
        """Insert and withdraw drop boxes."""
        if self._shedder is not None:
            commands = self._shedder.decide(situation, values=self._curves())
            self.dropboxes.obey(commands, situation.now)

    def _curves(self) -> dict[str, Points]:
        """The value that is left of outputs without a loss graph, by the fraction of tuples that they get.

        Delivered values are representative only while none are shed: as long as some are, the earlier
        histogram is used.
        """
        for name, output in self._plan.network.outputs.items():
            value = output.quality.value if output.quality else None
            whole = not any(self.dropboxes.at(superbox) for superbox in self._ways[name])
            if value is not None and whole and name in self._seen.recent.values:
                counts = self._seen.recent.counts(name, len(bins_of(value)))
                self._worths[name] = value_curve(value, counts)
        return self._worths

    # --- what is known

    def note_train(self, account: Account) -> None:
        """Note a committed train; each of several joined superboxes gets its part of the cost."""
        parts = account.parts()
        for member, part in parts.items():
            came, own_us = account.came_to(member), account.tasks_us * part
            taken, rest_us = came.arrived - came.shed, (account.run_us - account.tasks_us) / len(parts)
            self.costs.note_train(member, taken, came.shed, own_us, own_us + rest_us)
            given = account.given(member)
            self.costs.note_yield(member, taken, given)
            passed = given.keys() - set(account.superbox.writes.values())
            self.costs.note_arrivals((arc, given[arc], account.now) for arc in passed)
        newest = [each.newest for found in account.waybill.streams.values() for each in found]
        if newest:
            waited_us = account.now - account.run_us - max(newest)
            self._learn_lags(account.seen.delays, waited_us, account.now)

    def _learn_lags(self, delays: Mapping[str, Mapping[int, int]], waited_us: int, now: int) -> None:
        """How much later outputs are than the newest tuples of the train that delivered them."""
        for output, buckets in delays.items():
            least = quantile_us(buckets, 0.05)
            if least is not None:
                self._lags.learn(output, max(0.0, least - waited_us) / 1e6, now)

    def _look(self, now: int) -> None:
        second = now // 1_000_000
        found = recent(self._catalog, second - WINDOW_S + 1, second + 1)
        late = {name: quantile_us(buckets, 0.95) for name, buckets in found.delays.items()}
        delays = {name: None if each is None else each / 1e6 for name, each in late.items()}
        self._seen = _Seen(now, found, delays)

    def _stage(
        self, queues: Queues, superbox: Superbox, waiting: int, now: int, held: Collection[str]
    ) -> Stage:
        cost, costs, name = self.costs.trains[superbox.id], self.costs, superbox.id
        rates = {arc: costs.per_second(arc, now) for arc in superbox.streams.values()}
        gates = self._seen.recent.gates
        return Stage(
            superbox.id,
            self._feeds(superbox),
            self._behind[superbox.id],
            waiting,
            queues.oldest(superbox) if waiting else None,
            rate=sum(rates.values()),
            direct=sum(rate for arc, rate in rates.items() if self._plan.arcs[arc].writer is None),
            tuple_us=cost.tuple_us,
            train_us=cost.train_us,
            kept=sum((came for (each, _), came in gates.items() if each == name), GateCount()).kept,
            sheds=self._sheds(superbox.id),
            shed_us=costs.readings[name].each_us,
            head=queues.positions[name],
            # A view that a change waits for is like any other stage.
            view=None if name in held else queues.plan.views.get(name),
            joins=self._joins
            and name not in held
            and self._is_inner(superbox)
            and not self.drop_boxes_at(name),
        )

    def _sheds(self, superbox: str) -> float:
        ordered = self.dropboxes.ordered.get(superbox)
        return 0.0 if ordered is None else ordered.rate

    def _is_inner(self, superbox: Superbox) -> bool:
        """Whether all that a superbox reads is written by others."""
        return bool(superbox.boxes) and all(self._plan.arcs[a].writer for a in superbox.reads.values())

    def _feeds(self, superbox: Superbox) -> dict[str, float]:
        found: dict[str, float] = {}
        for arc in superbox.writes.values():
            for reader in self._plan.arcs[arc].readers:
                found[reader] = found.get(reader, 0.0) + self.costs.yields(superbox.id, arc)
        return found

    def _goal(self, name: str, now: int) -> Goal:
        quality = self._plan.network.outputs[name].quality or Quality()
        way = tuple(self._ways[name])
        tuples = sum(self._seen.recent.delays.get(name, {}).values()) / WINDOW_S
        kept = 1.0
        for superbox in way:
            kept *= kept_by(self._plan.superboxes[superbox], self._seen.recent.gates)
        return Goal(name, quality, way, self._seen.delays.get(name), self._lags.of(name, now), tuples, kept)


def _outputs_behind(plan: Plan, ways: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """The outputs downstream of each superbox."""
    named = {output: way for output, way in ways.items() if output in plan.network.outputs}
    return {
        superbox: frozenset(output for output, way in named.items() if superbox in way)
        for superbox in plan.superboxes
    }
