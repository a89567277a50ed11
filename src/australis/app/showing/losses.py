"""What a run has shed, by place: the drop boxes at one stream of a superbox are summed up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from australis.app.showing.statistics_tables import count, predicate
from australis.engine.ledger import Entry
from australis.engine.observe import SuperboxStatistics


@dataclass(frozen=True)
class Loss:
    """Drop boxes at a place, one after another, and what reached them and was shed."""

    superbox: str
    stream: str
    outputs: tuple[str, ...]
    """The outputs that miss what was shed."""
    dropboxes: tuple[Entry, ...]

    @property
    def arrived(self) -> int:
        return sum(each.arrived for each in self.dropboxes)

    @property
    def shed(self) -> int:
        return sum(each.shed for each in self.dropboxes)

    def __str__(self) -> str:
        last, boxes = predicate(self.dropboxes[-1]), len(self.dropboxes)
        by = f"a drop box: {last}" if boxes == 1 else f"{boxes} drop boxes, the last: {last}"
        return f"of {count(self.arrived)}, meant for {', '.join(self.outputs) or 'no output'}; by {by}"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"arrived": self.arrived, "shed": self.shed}


def losses_between(
    before: Iterable[Entry], after: Iterable[Entry], superboxes: Mapping[str, SuperboxStatistics]
) -> tuple[Loss, ...]:
    """What was shed between two readings of the log of drop boxes, by place."""
    known = {each.number: each for each in before}
    places: dict[tuple[str, str], list[Entry]] = {}
    for entry in after:
        since = _since(known[entry.number], entry) if entry.number in known else entry
        if since.shed:
            places.setdefault((entry.superbox, entry.stream), []).append(since)
    return tuple(
        Loss(superbox, stream, superboxes[superbox].outputs, tuple(entries))
        for (superbox, stream), entries in places.items()
        if superbox in superboxes
    )


def _since(before: Entry, after: Entry) -> Entry:
    return replace(after, arrived=after.arrived - before.arrived, shed=after.shed - before.shed)
