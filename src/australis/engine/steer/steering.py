"""Steering: passes measurements to the policies, and turns their decisions into trains and drop boxes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from australis.algebra.quality import Points, Quality
from australis.engine.ledger import Ledger, Queues, quantile_us, recent
from australis.engine.settings import NodeSettings, Way
from australis.engine.steer.account import Account
from australis.engine.steer.behind import outputs_behind
from australis.engine.steer.costs import Costs
from australis.engine.steer.drop_boxes import DropBoxes
from australis.engine.steer.output_lags import OutputLags
from australis.engine.steer.situations import WINDOW_S, PlanLayout, Seen, Situations
from australis.engine.steer.trials import TrialBenches, Trials
from australis.engine.threads import Threads
from australis.engine.worker import GateDropBox
from australis.plan.superboxes import Discipline, Plan
from australis.policy.load import Situation
from australis.policy.schedule import Choice, Scheduling, constructed, next_view, schedule, without_views
from australis.policy.shed import Manners, Shedder, value_curve
from australis.policy.upstream import Downstream
from australis.qos.histograms import bins_of

LOOK_US = 200_000
"""How often outputs are observed, and drop boxes decided on."""


@dataclass(frozen=True)
class SteeringPlan:
    """What steering needs of a plan."""

    layout: PlanLayout
    trials: TrialBenches


class Steering:
    """Chooses trains and drop boxes. Only one thread at a time may use it."""

    def __init__(self, ledger: Ledger, settings: NodeSettings, threads: Threads, now: int) -> None:
        self._ledger, self._catalog = ledger, ledger.catalog
        self._kind = settings.schedule or Scheduling.ROUND_ROBIN
        self._is_schedule_open = settings.is_schedule_open
        branches = settings.discipline is Discipline.BRANCH and settings.way is Way.FUSED
        # The graphs of outputs decide through which superboxes a train continues.
        self._joins = branches and self._kind.follows_graphs
        self._trials = Trials(ledger)
        self.by_value = self._trials.by_value
        manners = Manners(fairness=settings.fairness)
        self._shedder = Shedder(manners, by_value=self.by_value) if settings.shed else None
        self.costs = Costs(threads)
        ledger.on_arrivals = self.costs.note_arrivals
        self.dropboxes = DropBoxes(ledger, now)
        self._lags = OutputLags()
        self._worths: dict[str, Points] = {}
        self._inferred: dict[str, Quality] = {}
        self._seen = Seen(-LOOK_US)
        self._situations = Situations(
            self.costs,
            self._lags,
            self.dropboxes,
            workers=settings.in_flight,
            headroom=settings.headroom,
            joins=self._joins,
        )
        self.switch(self.prepare(ledger.plan))

    def prepare(self, plan: Plan) -> SteeringPlan:
        """Compute everything about a plan that takes long, before it runs."""
        return SteeringPlan(PlanLayout(plan), self._trials.prepare(plan))

    def switch(self, prepared: SteeringPlan) -> None:
        """Switch to another plan: what leads to what, and whose turn it is, starts again."""
        self._layout, plan = prepared.layout.inferring(self._inferred), prepared.layout.plan
        self._plan = plan
        self._order = self._fitting()
        self._schedule = schedule(self._order, plan.ways)
        self.costs.switch(plan.superboxes, self._layout.arcs)
        self._trials.switch(prepared.trials)

    def infer(self, output: str, quality: Quality | None) -> None:
        """Serve an output that goes on to another node by graphs inferred there; None for none."""
        if quality is None:
            self._inferred.pop(output, None)
        else:
            self._inferred[output] = quality
        self._layout = self._layout.inferring(self._inferred)
        if (order := self._fitting()) is not self._order:
            self._order, self._schedule = order, schedule(order, self._plan.ways)

    def _fitting(self) -> Scheduling:
        """The schedule, which follows inferred graphs if none was asked for."""
        has_graphs = any(each.delay for each in self._layout.qualities.values())
        return Scheduling.STATE if self._is_schedule_open and has_graphs else self._kind

    def behind(self, name: str, age_s: float, queues: Queues, now: int) -> list[Downstream]:
        """The outputs behind an input whose tuples have some age when they arrive."""
        return list(outputs_behind(self._plan, self.situation(queues, now, {}), name, age_s))

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
        return self._situations.of(self._layout, self._seen, queues, now, waiting, busy, held)

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
            if value is None or name not in self._seen.recent.values:
                continue
            if not any(self.dropboxes.at(superbox) for superbox in self._layout.ways[name]):
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
            self.costs.abreast[member].note(account.tasks_us, account.longest_us)
            given = account.given(member)
            self.costs.note_yield(member, taken, given)
            passed = given.keys() - set(account.superbox.writes.values())
            self.costs.note_arrivals((arc, given[arc], account.now) for arc in passed)
        newest = [each.newest for found in account.waybill.streams.values() for each in found]
        if newest:
            self._learn_lags(account, max(newest))

    def _learn_lags(self, account: Account, newest: int) -> None:
        """How much later outputs are than the newest tuples of the train that delivered them."""
        for output, buckets in account.seen.delays.items():
            least = quantile_us(buckets, 0.05)
            if least is not None:
                began = account.newest_cause if account.is_since_trigger(output) else newest
                waited_us = account.now - account.run_us - began
                self._lags.learn(output, max(0.0, least - waited_us) / 1e6, account.now)

    def _look(self, now: int) -> None:
        second = now // 1_000_000
        found = recent(self._catalog, second - WINDOW_S + 1, second + 1)
        self._seen = Seen(now, found)
