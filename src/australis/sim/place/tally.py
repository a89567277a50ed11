"""The statistics of a run: what was delivered and how late, what lines carried, what moved and returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from australis.policy.place import Move, Sliding, Splitting, Survey
from australis.sim.place.flows import Flows, FlowStep
from australis.sim.place.ground import Joining

IN_TIME_S = 5.0
"""Output within this time is still useful."""
CURVE_S = 20.0
"""Plots show means over this many seconds."""
RETURN_S = 900.0
"""A box that returns within this time has moved to and fro."""


@dataclass(frozen=True)
class Outcome:
    """The result of a run."""

    delivered: float
    """The fraction of the input that was delivered by the end."""
    in_time: float
    """The fraction that was delivered in time."""
    delay_s: float
    """The mean delay of what was delivered, from input to output."""
    backlog: float
    """The waiting tuples, averaged over time."""
    traffic: float
    """Bytes per second over all lines, including moving states, averaged over time."""
    overloaded: float
    """The overloaded sites, averaged over time."""
    slides: int
    splits: int
    returns: int
    """Boxes that soon returned to where they had come from."""
    last_move_s: float
    delays: tuple[tuple[float, float], ...]
    """The mean delay of what was delivered, with the second of the run."""
    moves: tuple[tuple[float, str], ...]
    """What moved, with the second at which it began."""


class Tally:
    """Counts, step by step and move by move."""

    def __init__(self, survey: Survey) -> None:
        self._gains = {name: _gain(survey, name) for name in survey.rates}
        self._due = self._got = self._in_time = self._late = 0.0
        self._backlog = self._bytes = self._overloaded = self._seconds = 0.0
        self._moves: list[tuple[float, Move | Joining]] = []
        self._left: dict[tuple[str, str], float] = {}
        """When each box last left a site."""
        self._returns = 0
        self._curve: dict[int, tuple[float, float]] = {}

    def note_step(
        self, now: float, seconds: float, rates: Mapping[str, float], step: FlowStep, flows: Flows
    ) -> None:
        """Note one step."""
        self._seconds += seconds
        self._due += seconds * sum(rate * self._gains[name] for name, rate in rates.items())
        for amount in step.delivered.values():
            self._came_out(now, amount.tuples, amount.tuples * now - amount.born)
        self._backlog += seconds * flows.backlog
        self._bytes += sum(step.carried.values())
        loads = replace(flows.survey, rates=rates).loads.values()
        self._overloaded += seconds * sum(load > 1.0 for load in loads)

    def _came_out(self, now: float, tuples: float, late: float) -> None:
        self._got += tuples
        self._late += late
        self._in_time += tuples if late <= IN_TIME_S * tuples else 0.0
        before = self._curve.get(int(now // CURVE_S), (0.0, 0.0))
        self._curve[int(now // CURVE_S)] = before[0] + tuples, before[1] + late

    def note_move(self, now: float, move: Move | Joining, size: float) -> None:
        """Note a move that begins, and the bytes that it transfers."""
        self._moves.append((now, move))
        self._bytes += size
        for box_id in move.boxes if isinstance(move, Sliding) else ():
            left = self._left.get((box_id, move.target))
            self._returns += left is not None and now - left < RETURN_S
            self._left[box_id, move.source] = now

    def outcome(self) -> Outcome:
        """The result so far."""
        slides, splits = (
            sum(isinstance(move, kind) for _, move in self._moves) for kind in (Sliding, Splitting)
        )
        return Outcome(
            self._got / self._due,
            self._in_time / self._due,
            self._late / self._got,
            self._backlog / self._seconds,
            self._bytes / self._seconds,
            self._overloaded / self._seconds,
            slides,
            splits,
            self._returns,
            self._moves[-1][0] if self._moves else 0.0,
            tuple(
                (place * CURVE_S, late / tuples) for place, (tuples, late) in self._curve.items() if tuples
            ),
            tuple((time, str(move)) for time, move in self._moves),
        )


def _gain(survey: Survey, name: str) -> float:
    """The tuples that a tuple of an input finally produces, on all outputs."""
    flows = replace(survey, rates={name: 1.0}).flows
    return sum(flows[output.source] for output in survey.network.outputs.values())
