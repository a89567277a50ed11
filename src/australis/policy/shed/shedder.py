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


@dataclass(frozen=True)
class Insert:
    """Put a drop box at the gate of a stage; from the next train on."""

    stage: str
    box: DropBox


@dataclass(frozen=True)
class Replace:
    """Put another drop box in the place of the one at the gate of a stage."""

    stage: str
    box: DropBox


@dataclass(frozen=True)
class Withdraw:
    """Take the drop box at the gate of a stage away."""

    stage: str


Command = Insert | Replace | Withdraw
ByValue = Callable[[str, float], DropBox | None]
"""For a stage and a fraction to be shed there: a drop box that goes by values, if there can be one."""


DISTRUST_MAX = 0.5
"""The most by which costs are thought to be higher than measured."""


@dataclass(frozen=True)
class Manners:
    """How fast the shedder acts, and how slowly it forgets. Times are in seconds."""

    horizon_s: float = HORIZON_S
    """In what time a backlog should be gone."""
    alarm: float = 0.75
    """The part of its good zone that an output's waiting tuples may use up, before the alarm goes."""
    margin: float = 0.1
    """The part of the capacity that has to be free without a drop box, for it to be withdrawn soon."""
    calm_s: float = 2.0
    """How long all must have been well for a drop box to be withdrawn where there is a margin."""
    patience_s: float = 6.0
    """How long it must have been without need for it to be withdrawn where there is none."""
    least: float = 0.01
    """Drop boxes of a smaller rate are not worth a command."""
    step: float = 0.05
    """Smaller differences of rates are not worth one."""
    gain: float = 0.1
    """By how much costs are thought higher, for each second that queues stay long in spite of shedding."""
    train: float = TRAIN
    """The tuples that share the fixed cost of a train."""


@dataclass
class _State:
    """What the shedder remembers."""

    boxes: dict[str, DropBox] = field(default_factory=dict)
    """The drop boxes that it has ordered, by stage."""
    changed: dict[str, int] = field(default_factory=dict)
    """When it last gave a command for each of them."""
    alarmed: int | None = None
    """When it last saw an output outside of its good zone, or about to leave it."""
    foreseen: int | None = None
    """When what waits last told of an output that will leave its good zone."""
    needed: int | None = None
    """When there last was any need."""
    looked: int | None = None
    """When it last looked."""
    distrust: float = 0.0
    """The part by which costs seem to be underestimated."""


class Shedder:
    """Decides which drop boxes stand where: quick to insert, slow to withdraw, and in the end it does.

    It acts when an output is late, or what waits says that it will be. What is needed is the workers' time
    beyond the capacity, if nothing were shed, for what arrives and for the backlog; and a stage, which runs
    one train at a time, must not need more than one worker. Rates go up at once and come down by halves.
    A drop box is withdrawn when all would fit without it: after a short calm if there is a margin, after some
    patience if not, and even if an output is late then, since shedding does not help it.

    When the need cannot be met, since too much may not be shed, outputs that can lose tuples do not pay for
    nothing: they keep their part, by weight, of the capacity. `by_value` makes semantic drop boxes.
    """

    def __init__(self, manners: Manners = Manners(), by_value: ByValue | None = None) -> None:  # noqa: B008
        self._manners, self._by_value = manners, by_value
        self._state = _State()
        self.shedding: Shedding | None = None
        """What the last decision was made of, if anything was to be shed."""

    @property
    def boxes(self) -> Mapping[str, DropBox]:
        """The drop boxes that stand, by stage. Their stages should have priority: they lighten the load."""
        return dict(self._state.boxes)

    def decide(
        self,
        situation: Situation,
        *,
        inactive: Collection[str] = (),
        values: Mapping[str, Points] | None = None,
    ) -> tuple[Command, ...]:
        """The commands that follow from a situation; they are taken as carried out.

        `inactive` are outputs that the scheduler does not serve, `values` what values of outputs are worth by
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
        """What runs through the stages; less a margin of the capacity is as if all were dearer.

        In a calm, what waits harms nobody, and is no backlog.
        """
        dearer = (1.0 + self._state.distrust) / (1.0 - margin)
        train = self._manners.train
        return Flow(situation, horizon_s=horizon_s, train=train, inactive=inactive, dearer=dearer)

    # --- what is the matter

    def _look(self, situation: Situation, inactive: Collection[str]) -> bool:
        """Whether an output is outside of its good zone or about to leave it; takes note of it."""
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
        """Costs that are measured too low show in queues that stay long though enough seems to be shed."""
        seconds = 0.0 if self._state.looked is None else self._since(situation, self._state.looked)
        self._state.looked = situation.now
        long = any(excess(stage, situation) for stage in situation.stages.values())
        change = self._manners.gain * min(seconds, 1.0) * (1 if late and long else -2)
        self._state.distrust = min(max(0.0, self._state.distrust + change), DISTRUST_MAX)

    # --- what to do about it

    def _plan(self, flows: list[Flow], values: Mapping[str, Points] | None) -> Shedding:
        """The drop boxes for the first need that can be met: with the backlog soon, later, or not at all.

        If even that cannot, the drop boxes that leave outputs their part.
        """
        for flow in flows:
            each = flow.situation.headroom
            found = shed(flow, flow.need(), values, each=each)
            if not found.missing:
                return found
        less = shed(flow, max(0.0, found.recovered - self._part(flow.situation)), values, each=each)
        return replace(less, missing=flow.need() - less.recovered)

    def _part(self, situation: Situation) -> float:
        """The workers' time that outputs which can lose tuples deserve by their weights."""
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
        """Whether a drop box is needed no longer."""
        if stage not in situation.stages:
            return True
        calm = self._since(situation, self._state.alarmed)
        without_need = self._since(situation, self._state.needed)
        with_margin = most < self._manners.least and calm >= self._manners.calm_s
        return with_margin or (least < self._manners.least and without_need >= self._manners.patience_s)

    def _next(self, situation: Situation, rate: float, least: float, most: float) -> float:
        """The rate of a drop box that stands: up at once, down by halves in a calm.

        How late outputs have been is old news by then; what waits is not.
        """
        if least > rate + self._manners.step * (1.0 - rate):
            return least
        calm = self._since(situation, self._state.foreseen) >= self._manners.calm_s / 2
        down = (rate + most) / 2
        return down if calm and rate - down > self._manners.step / 2 else rate

    def _misses(self, situation: Situation, stage: str, box: DropBox) -> bool:
        """Whether values have changed so that a semantic drop box sheds much less or more than it should."""
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
