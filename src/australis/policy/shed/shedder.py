"""The load shedder: outputs that leave their good zone in, commands about drop boxes out (Aurora 4.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from australis.algebra.quality import Points
from australis.policy.load import Situation
from australis.policy.shed.drop_boxes import DropBox, Shedding, curve, shed
from australis.policy.shed.flow import HORIZON_S, TRAIN, Flow, excess
from australis.policy.shed.foresight import is_late, will_be_late
from australis.policy.shed.levels import EVENNESS


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


DISTRUST_MAX = 0.5
"""The most by which costs are assumed to be underestimated."""


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
    step: float = 0.05
    """Smaller differences of rates are not worth a command."""
    gain: float = 0.1
    """By how much the cost estimate grows per second that queues stay long in spite of shedding."""
    train: float = TRAIN
    """The tuples that share the fixed cost of a train."""
    evenness: float = EVENNESS
    """How far outputs that would lose about the same share what is to be shed (see `levels`)."""


@dataclass
class _State:
    """The state of the shedder."""

    boxes: dict[str, DropBox] = field(default_factory=dict)
    """The current drop boxes, by stage."""
    changed: dict[str, int] = field(default_factory=dict)
    """When it last gave a command for each of them."""
    alarmed: int | None = None
    """When it last saw an output outside of its good zone, or about to leave it."""
    foreseen: int | None = None
    """When queues last predicted that an output would leave its good zone."""
    needed: int | None = None
    """When there last was a need."""
    looked: int | None = None
    """When it last decided."""
    distrust: float = 0.0
    """The fraction by which costs seem to be underestimated."""


class Shedder:
    """Decides which drop boxes are where: quick to insert, slow to withdraw.

    It acts when an output is late, or its queues predict that it will be. The need is the workers' time
    beyond the capacity, if nothing were shed, for arrivals and the backlog; and a stage, which runs one train
    at a time, must not need more than one worker. Rates rise at once and fall by halves. A drop box is
    withdrawn when all would fit without it: after a short calm if there is a margin, after a longer one if
    not, and even if an output is late then, since shedding does not help it.

    If the need cannot be met, because too much may not be shed, outputs that can lose tuples keep their share
    of the capacity, by weight, since losing more would not help. `by_value` makes semantic drop boxes.
    """

    def __init__(self, manners: Manners = Manners(), by_value: ByValue | None = None) -> None:  # noqa: B008
        self._manners, self._by_value = manners, by_value
        self._state = _State()
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
        alarmed = self._look(situation, inactive)
        if not alarmed and not self._state.boxes:
            self.shedding = None
            return ()
        horizon_s = self._manners.horizon_s
        horizons = (horizon_s, 4 * horizon_s, math.inf) if alarmed else (math.inf,)
        flow = partial(self._flow, situation, inactive)
        self.shedding = self._plan([flow(each) for each in horizons], values)
        if any(box.rate >= self._manners.least for box in self.shedding.boxes.values()):
            self._state.needed = situation.now
        elif not self._state.boxes:
            return ()
        cautious = self._plan([flow(each, self._manners.margin) for each in horizons], values)
        commands = tuple(self._commands(situation, alarmed, self.shedding, cautious))
        self._note(situation.now, commands)
        return commands

    def _flow(
        self, situation: Situation, inactive: Collection[str], horizon_s: float, margin: float = 0.0
    ) -> Flow:
        """The flow through the stages; a margin of the capacity is treated as higher costs.

        During a calm, waiting tuples do no harm, and are not a backlog.
        """
        dearer = (1.0 + self._state.distrust) / (1.0 - margin)
        train = self._manners.train
        return Flow(situation, horizon_s=horizon_s, train=train, inactive=inactive, dearer=dearer)

    # --- when to act

    def _look(self, situation: Situation, inactive: Collection[str]) -> bool:
        """Note whether an output is outside of its good zone or about to leave it."""
        state = self._state
        late = any(is_late(goal) for name, goal in situation.goals.items() if name not in inactive)
        kept = {name: 1.0 - box.rate for name, box in state.boxes.items()}
        flow = Flow(situation, train=self._manners.train, inactive=inactive)
        foreseen = will_be_late(flow, kept, self._manners.alarm, inactive)
        state.foreseen = situation.now if foreseen else state.foreseen
        state.alarmed = situation.now if foreseen or late else state.alarmed
        self._distrust(situation, late and bool(state.boxes))
        return late or foreseen

    def _distrust(self, situation: Situation, late: bool) -> None:
        """Adjust costs that were measured too low, shown by queues that stay long in spite of shedding."""
        seconds = 0.0 if self._state.looked is None else self._since(situation, self._state.looked)
        self._state.looked = situation.now
        long = any(excess(stage, situation) for stage in situation.stages.values())
        change = self._manners.gain * min(seconds, 1.0) * (1 if late and long else -2)
        self._state.distrust = min(max(0.0, self._state.distrust + change), DISTRUST_MAX)

    # --- what to do

    def _plan(self, flows: list[Flow], values: Mapping[str, Points] | None) -> Shedding:
        """The drop boxes for the first need that can be met: with the backlog gone soon, later, or never.

        If none can, the drop boxes that leave outputs their share.
        """
        for flow in flows:
            each = flow.situation.headroom
            found = shed(flow, flow.need(), values, each=each, evenness=self._manners.evenness)
            if not found.missing:
                return found
        need = max(0.0, found.recovered - self._part(flow.situation))
        less = shed(flow, need, values, each=each, evenness=self._manners.evenness)
        return replace(less, missing=flow.need() - less.recovered)

    def _part(self, situation: Situation) -> float:
        """The workers' time due, by weight, to outputs that can lose tuples."""
        weights = {name: goal.quality.weight for name, goal in situation.goals.items()}
        losing = [name for name, goal in situation.goals.items() if curve(goal.quality) is not None]
        whole = math.fsum(weights.values())
        return situation.capacity * math.fsum(weights[name] for name in losing) / whole if whole else 0.0

    def _commands(
        self, situation: Situation, alarmed: bool, plan: Shedding, cautious: Shedding
    ) -> Iterator[Command]:
        stages = [*situation.stages, *(name for name in self._state.boxes if name not in situation.stages)]
        for stage in stages:
            least, most = _rate(plan, stage), _rate(cautious, stage)
            standing = self._state.boxes.get(stage)
            if standing is None:
                if alarmed and least >= self._manners.least:
                    yield Insert(stage, self._box(stage, least))
            elif self._may_go(situation, stage, least, most):
                yield Withdraw(stage)
            else:
                rate = self._next(situation, standing.rate, least, most)
                if rate != standing.rate or self._misses(situation, stage, standing):
                    yield Replace(stage, self._box(stage, rate))

    def _may_go(self, situation: Situation, stage: str, least: float, most: float) -> bool:
        """Whether a drop box is no longer needed."""
        if stage not in situation.stages:
            return True
        calm = self._since(situation, self._state.alarmed)
        without_need = self._since(situation, self._state.needed)
        with_margin = most < self._manners.least and calm >= self._manners.calm_s
        return with_margin or (least < self._manners.least and without_need >= self._manners.patience_s)

    def _next(self, situation: Situation, rate: float, least: float, most: float) -> float:
        """The next rate of a drop box: up at once, down by halves during a calm.

        By then the measured delays are out of date; the queues are not.
        """
        if least > rate + self._manners.step * (1.0 - rate):
            return least
        calm = self._since(situation, self._state.foreseen) >= self._manners.calm_s / 2
        down = (rate + most) / 2
        return down if calm and rate - down > self._manners.step / 2 else rate

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
            else:
                self._state.boxes[command.stage] = command.box
                self._state.changed[command.stage] = now


def _rate(plan: Shedding, stage: str) -> float:
    return plan.boxes[stage].rate if stage in plan.boxes else 0.0
