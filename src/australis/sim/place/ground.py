"""The world in which moves happen: where all boxes are, which no daemon sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from australis.errors import AustralisError
from australis.policy.place import (
    Assumed,
    Begin,
    Direction,
    Move,
    Portion,
    Runs,
    Slide,
    Sliding,
    Split,
    Splitting,
    Survey,
    Unsplit,
    part,
)
from australis.sim.place.pieces import runs_at


@dataclass(frozen=True)
class Joining:
    """A copy that is given back to the box that it was split from."""

    split: Splitting
    source: str
    target: str

    @property
    def touched(self) -> frozenset[str]:
        """The boxes that are stopped meanwhile."""
        return self.split.touched

    def apply(self, survey: Survey) -> Survey:
        """The survey after it."""
        made = self.split.parting
        gone = made.put.keys() - {made.box}
        states = dict(survey.states)
        if made.divides and made.copy in states:
            states[made.box] = states.get(made.box, 0.0) + states[made.copy]
        boxes = {box_id: site for box_id, site in survey.placement.boxes.items() if box_id not in gone}
        return replace(
            survey,
            network=made.undo(survey.network),
            placement=replace(survey.placement, boxes=boxes),
            states={box_id: size for box_id, size in states.items() if box_id not in gone},
        )

    def state_bytes(self, survey: Survey) -> float:
        """The bytes to transfer."""
        return survey.states.get(self.split.parting.copy, 0.0)

    def heirs(self, survey: Survey) -> Mapping[str, tuple[str, ...]]:
        """Who gets what waits at boxes that go: the box, or what reads the merged stream."""
        made, network = self.split.parting, survey.network
        found: dict[str, tuple[str, ...]] = dict.fromkeys((made.copy, *made.routes), (made.box,))
        for merge in made.merges:
            last = merge in {ref.id for ref in made.moved.values()}
            readers = [box for ref, boxes in network.consumers.items() if ref.id == merge for box, _ in boxes]
            ends = [name for name, output in network.outputs.items() if output.source.id == merge]
            found[merge] = (*readers, *ends) if last else ()
        return found

    def __str__(self) -> str:
        return f"{self.split.parting.box} whole again, from {self.source} to {self.target}"


class Ground:
    """Where the boxes of a network are; carries out what daemons command, if it still can be."""

    def __init__(self, survey: Survey, assumed: Assumed) -> None:
        self.survey, self._assumed = survey, assumed
        self.splits: dict[str, list[Splitting]] = {}
        self._order: list[Splitting] = []
        """All splits that are in place, in the order in which they were made."""
        self._told: dict[str, Runs] = {}

    def move(self, site: str, command: Begin) -> Move | Joining | None:
        """What a command means now; None if it means nothing any more."""
        match command:
            case Slide(boxes=boxes):
                found = Sliding(boxes, site, command.to, Direction(command.way))
                return found if self._are_at(site, boxes) and not self._is_split(boxes) else None
            case Split(box=box):
                return self._split(site, command) if self._are_at(site, (box,)) else None
            case Unsplit():
                return self._joining(site, command)

    def _are_at(self, site: str, boxes: tuple[str, ...]) -> bool:
        return all(self.survey.placement.boxes.get(each) == site for each in boxes)

    def _is_split(self, boxes: tuple[str, ...]) -> bool:
        return any(self.splits.get(each) for each in boxes)

    def _split(self, site: str, command: Split) -> Splitting | None:
        try:
            parting = part(self.survey.network, command.box, command.keeps, self._assumed)
        except AustralisError:
            # Boxes elsewhere have changed meanwhile.
            return None
        return Splitting(parting, Portion(command.keeps, command.kept), site, command.to, command.merge)

    def _joining(self, site: str, command: Unsplit) -> Joining | None:
        last = self.splits.get(command.box, [])[-1:]
        is_last = bool(last) and last[0].parting.copy == command.copy and not self._is_split((command.copy,))
        there = self._are_at(site, (command.copy,)) and self._are_at(command.to, (command.box,))
        return Joining(last[0], site, command.to) if is_last and there else None

    def done(self, move: Move | Joining) -> None:
        """A move is done."""
        self.survey = move.apply(self.survey)
        if isinstance(move, Splitting):
            self.splits.setdefault(move.parting.box, []).append(move)
            self._order.append(move)
        if isinstance(move, Joining):
            self.splits[move.split.parting.box].pop()
            self._order.remove(move.split)

    def undone(self) -> list[Splitting]:
        """The splits in place, the last one first."""
        return self._order[::-1]

    def news(self) -> dict[str, Runs]:
        """What runs at sites where that has changed since the last time."""
        found = {site: runs_at(self.survey, site, self.splits) for site in self.survey.sites}
        new = {site: runs for site, runs in found.items() if runs != self._told.get(site)}
        self._told = found
        return new

    def runs(self, site: str) -> Runs:
        """What a site was last told that it runs."""
        return self._told[site]
