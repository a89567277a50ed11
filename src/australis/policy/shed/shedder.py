"""The load shedder: outputs that leave their good zone in, commands about drop boxes out (Aurora 4.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from australis.algebra.quality import Points
from australis.policy.load import Situation
from australis.policy.shed.drop_boxes import DropBox, Shedding, curve, shed
from australis.policy.shed.flow import HORIZON_S, TRAIN, Flow
from australis.policy.shed.foresight import is_late, longest_wait, tightest_s, work_waiting_s
from australis.policy.shed.levels import EVENNESS
from australis.policy.shed.regulator import Regulator, follow
from australis.policy.shed.smoothing import Smoothing


@dataclass(frozen=True)
class Insert:
    """Add a drop box at the gate of a stage, from the next train on."""

    stage: str
    box: DropBox


@dataclass(frozen=True)
class Replace:
    """Replace the drop box at the gate of a stage."""

    stage: str
    box: DropBox


@dataclass(frozen=True)
class Withdraw:
    """Remove the drop box at the gate of a stage."""

    stage: str


Command = Insert | Replace | Withdraw
ByValue = Callable[[str, float], DropBox | None]
"""For a stage and a fraction to shed there: a drop box that selects by value, if one is possible."""


@dataclass(frozen=True)
class Manners:
    """How fast the shedder acts, and how slowly it withdraws. Times are in seconds."""

    horizon_s: float = HORIZON_S
    """In what time a backlog should be processed."""
    alarm: float = 0.75
    """The fraction of its good zone that an output's waiting tuples may use before the shedder acts."""
    margin: float = 0.1
    """The fraction of the capacity that must be free without a drop box for it to be withdrawn soon."""
    calm_s: float = 2.0
    """How long all must have been well before a drop box is withdrawn if there is a margin."""
    patience_s: float = 6.0
    """How long there must have been no need before it is withdrawn if there is no margin."""
    least: float = 0.01
    """Drop boxes with a smaller rate are not worth a command."""
    jump: float = 0.15
    """A rate is raised at once if this fraction of what is admitted is too much, and an output at risk."""
    follow_s: float = 0.5
    """In what time rates otherwise follow what is needed, up and down."""
    step: float = 0.01
    """Smaller differences of what is admitted are not worth a command."""
    pause_s: float = 1.0
    """How long a drop box stands at least, unless it sheds far too much or too little."""
    coarse: float = 0.1
    """The same for drop boxes by value, which are found by trials."""
    train: float = TRAIN
    """The tuples that share the fixed cost of a train."""
    evenness: float = EVENNESS
    """How far outputs that would lose about the same share what is to be shed (see `levels`)."""
    fairness: float = 0.0
    """How much it counts that outputs are served alike, against the total utility (see `fair`)."""


@dataclass
class _State:
    """The state of the shedder."""

    boxes: dict[str, DropBox] = field(default_factory=dict)
    """The current drop boxes, by stage."""
    changed: dict[str, int] = field(default_factory=dict)
    """When it last gave a command for each of them."""
    alarmed: int | None = None
    """When it last saw an output outside of its good zone, or about to leave it."""
    needed: int | None = None
    """When there last was a need."""
    looked: int | None = None
    """When it last decided."""
    rates: dict[str, float] = field(default_factory=dict)
    """The rates that drop boxes should have, which they follow in steps."""
    regulator: Regulator = field(default_factory=Regulator)


class Shedder:
    """Decides which drop boxes are where: quick to insert, slow to withdraw, steady in between.

    It acts when an output is late, or its queues predict that it will be. The need is the workers' time
    beyond the capacity, if nothing were shed, for arrivals and the backlog; and a stage, which runs one train
    at a time, must not need more than one worker. While drop boxes stand, a regulator corrects the costs so
    that tuples wait a part of the time that outputs allow, and rates follow what is needed slowly: noise in
    measurements is not passed on, and nothing swings. Only much too low ones rise at once. A drop box is
    withdrawn when all would fit without it: after a short calm if there is a margin, after a longer one if
    not, and even if an output is late then, since shedding does not help it.

    If the need cannot be met, because too much may not be shed, outputs that can lose tuples keep their share
    of the capacity, by weight, since losing more would not help. `by_value` makes semantic drop boxes.
    """

    def __init__(self, manners: Manners = Manners(), by_value: ByValue | None = None) -> None:  # noqa: B008
        self._manners, self._by_value = manners, by_value
        self._state = _State()
        self._smoothing = Smoothing()
        self.shedding: Shedding | None = None
        """The basis of the last decision, if anything was to be shed."""

    @property
    def boxes(self) -> Mapping[str, DropBox]:
        """The current drop boxes, by stage. Their stages should have priority: they reduce the load."""
        return dict(self._state.boxes)

    def decide(
        self,
        situation: Situation,
        *,
        inactive: Collection[str] = (),
        values: Mapping[str, Points] | None = None,
    ) -> tuple[Command, ...]:
        """The commands that follow from a situation; they are assumed to be carried out.

        `inactive` are outputs that the scheduler does not serve, `values` the utility of outputs' values by
        the fraction delivered (see `semantic.value_curve`).
        """
        seconds = min(self._since(situation, self._state.looked), 1.0)
        alarmed = self._look(situation, inactive, seconds)
        if not alarmed and not self._state.boxes:
            self.shedding = None
            return ()
        situation = self._smoothing.of(situation, seconds, at_once=not self._state.boxes)
        self.shedding = self._plan(self._flows(situation, inactive, alarmed=alarmed), values)
        if any(box.rate >= self._manners.least for box in self.shedding.boxes.values()):
            self._state.needed = situation.now
        elif not self._state.boxes:
            return ()
        margin = self._flows(situation, inactive, alarmed=alarmed, margin=self._manners.margin)
        cautious = self._plan(margin, values)
        commands = tuple(self._commands(situation, alarmed, seconds, self.shedding, cautious))
        self._note(situation.now, commands)
        return commands

    def _flows(
        self, situation: Situation, inactive: Collection[str], *, alarmed: bool, margin: float = 0.0
    ) -> list[Flow]:
        """What may be planned for, best first; a margin of the capacity is treated as higher costs.

        In a first alarm, the backlog gone soon or later, or not at all; then the regulator says what it asks
        for. Last, costs that are corrected less: a correction must not put a need out of reach.
        """
        regulator, horizon_s = self._state.regulator, self._manners.horizon_s
        is_first = alarmed and not self._state.boxes
        dearer = 1.0 + regulator.learned if is_first else regulator.dearer
        plans = [(each, dearer) for each in ((horizon_s, 4 * horizon_s) if is_first else ())]
        less = (dearer, (1.0 + dearer) / 2, 1.0) if dearer > 1.0 else (dearer,)
        plans += [(math.inf, each) for each in less]
        train = self._manners.train
        return [
            Flow(situation, horizon_s=each, train=train, inactive=inactive, dearer=dearer / (1.0 - margin))
            for each, dearer in plans
        ]

    # --- when to act

    def _look(self, situation: Situation, inactive: Collection[str], seconds: float) -> bool:
        """Note whether an output is outside of its good zone or about to leave it."""
        state = self._state
        late = any(is_late(goal) for name, goal in situation.goals.items() if name not in inactive)
        kept = {name: 1.0 - box.rate for name, box in state.boxes.items()}
        flow = Flow(situation, train=self._manners.train, inactive=inactive)
        foreseen = longest_wait(flow, kept, inactive) > self._manners.alarm
        work_s, zone_s = work_waiting_s(flow, kept), tightest_s(situation, inactive)
        state.regulator.note(work_s, zone_s, seconds, is_shedding=bool(state.boxes))
        state.alarmed = situation.now if foreseen or late else state.alarmed
        state.looked = situation.now
        return late or foreseen

    # --- what to do

    def _plan(self, flows: list[Flow], values: Mapping[str, Points] | None) -> Shedding:
        """The drop boxes for the first need that can be met: with the backlog gone soon, later, or never.

        If none can, the drop boxes that leave outputs their share.
        """
        manners = {"evenness": self._manners.evenness, "fairness": self._manners.fairness}
        for flow in flows:
            each = flow.situation.headroom
            found = shed(flow, flow.need(), values, each=each, **manners)
            if not found.missing:
                return found
        need = max(0.0, found.recovered - self._part(flow.situation))
        less = shed(flow, need, values, each=each, **manners)
        return replace(less, missing=flow.need() - less.recovered)

    def _part(self, situation: Situation) -> float:
        """The workers' time due, by weight, to outputs that can lose tuples."""
        weights = {name: goal.quality.weight for name, goal in situation.goals.items()}
        losing = [name for name, goal in situation.goals.items() if curve(goal.quality) is not None]
        whole = math.fsum(weights.values())
        return situation.capacity * math.fsum(weights[name] for name in losing) / whole if whole else 0.0

    def _commands(
        self, situation: Situation, alarmed: bool, seconds: float, plan: Shedding, cautious: Shedding
    ) -> Iterator[Command]:
        stages = [*situation.stages, *(name for name in self._state.boxes if name not in situation.stages)]
        for stage in stages:
            least, most = _rate(plan, stage), _rate(cautious, stage)
            standing = self._state.boxes.get(stage)
            if standing is None:
                if least >= self._manners.least and (alarmed or self._state.boxes):
                    yield Insert(
                        stage,
                        self._box(stage, least if alarmed else self._next(stage, least, False, seconds)),
                    )
            elif self._may_go(situation, stage, least, most):
                yield Withdraw(stage)
            else:
                rate = self._next(stage, least, alarmed, seconds)
                if self._is_worth(situation, stage, standing, rate) or self._misses(
                    situation, stage, standing
                ):
                    yield Replace(stage, self._box(stage, rate))

    def _may_go(self, situation: Situation, stage: str, least: float, most: float) -> bool:
        """Whether a drop box is no longer needed."""
        if stage not in situation.stages:
            return True
        calm = self._since(situation, self._state.alarmed)
        without_need = self._since(situation, self._state.needed)
        with_margin = most < self._manners.least and calm >= self._manners.calm_s
        return with_margin or (least < self._manners.least and without_need >= self._manners.patience_s)

    def _next(self, stage: str, least: float, alarmed: bool, seconds: float) -> float:
        """The next rate of a drop box: up at once in need, else slowly, up and down."""
        rate = self._state.rates.get(stage, 0.0)
        is_far = least > rate + self._manners.jump * (1.0 - rate)
        part = 1.0 if alarmed and is_far else follow(seconds, self._manners.follow_s)
        self._state.rates[stage] = rate + (least - rate) * part
        return self._state.rates[stage]

    def _is_worth(self, situation: Situation, stage: str, standing: DropBox, rate: float) -> bool:
        """Whether a rate differs enough from that of a drop box for a command."""
        part = abs(rate - standing.rate) / max(1.0 - standing.rate, 0.1)
        if self._since(situation, self._state.changed.get(stage)) < self._manners.pause_s:
            return part > self._manners.jump
        return part > (self._manners.coarse if standing.where else self._manners.step)

    def _misses(self, situation: Situation, stage: str, box: DropBox) -> bool:
        """Whether values have changed so that a semantic drop box sheds far less or more than it should."""
        waited_s = self._since(situation, self._state.changed.get(stage))
        shed_now = 1.0 - situation.stages[stage].kept
        return bool(box.where) and waited_s >= self._manners.calm_s and abs(shed_now - box.rate) > 0.1

    def _box(self, stage: str, rate: float) -> DropBox:
        semantic = self._by_value(stage, rate) if self._by_value else None
        return semantic or DropBox.random(rate)

    @staticmethod
    def _since(situation: Situation, when: int | None) -> float:
        return float("inf") if when is None else (situation.now - when) / 1e6

    def _note(self, now: int, commands: tuple[Command, ...]) -> None:
        for command in commands:
            if isinstance(command, Withdraw):
                self._state.boxes.pop(command.stage)
                self._state.changed.pop(command.stage)
                self._state.rates.pop(command.stage, None)
            else:
                self._state.boxes[command.stage] = command.box
                self._state.changed[command.stage] = now
                self._state.rates.setdefault(command.stage, command.box.rate)


def _rate(plan: Shedding, stage: str) -> float:
    return plan.boxes[stage].rate if stage in plan.boxes else 0.0
