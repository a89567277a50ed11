"""Places: where every superbox is, and how far it may go.

They follow from heads, segments and the log. A commit changes few of these, so the places after it are found
from those before it: only superboxes that read what has changed are looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from australis.engine.ledger.queues import Queues

Kept = TypeVar("Kept")
_NO_LIMITS: Mapping[str, int] = MappingProxyType({})


class Memory(Generic[Kept]):
    """What was looked at last; shared by all that look."""

    def __init__(self) -> None:
        self.last: Kept | None = None


@dataclass(frozen=True)
class Places:
    """The place of every superbox of a plan, in the order of the plan."""

    positions: Mapping[str, int]
    ends: Mapping[str, int]
    """The number up to which each may read all its streams."""


def all_places(queues: Queues, limits: Mapping[str, int] = _NO_LIMITS) -> Places:
    """The places of all superboxes, if some may not go beyond a number."""
    positions: dict[str, int] = {}
    ends: dict[str, int] = {}
    for name, superbox in queues.plan.superboxes.items():
        end = queues.end_after(superbox, positions)
        ends[name] = min(end, limits[name]) if name in limits else end
        positions[name] = queues.reached(superbox, ends[name], positions)
    return Places(positions, ends)


def places_after(before: Queues | None, queues: Queues) -> Places:
    """The places of all superboxes, given those at another moment.

    Both moments are committed, so what the log has up to a number is the same.
    """
    if before is None or before.plan is not queues.plan:
        return all_places(queues)
    plan, last = queues.plan, before.places
    superboxes, heads, fed = plan.superboxes, queues.heads, plan.fed
    positions, ends = dict(last.positions), dict(last.ends)
    is_pending = bytearray(len(plan.names))
    for touched in _touched(before, queues):
        is_pending[plan.numbers[touched]] = True
    known: dict[tuple[tuple[str, ...], int], tuple[int, int]] = {}
    # In the order of the plan, so that a superbox is looked at after all that it reads from.
    number = is_pending.find(True)
    while number >= 0:
        name = plan.names[number]
        superbox, position = superboxes[name], positions[name]
        # Superboxes without state that have read the same as far are at the same place.
        key = (superbox.arcs, heads[name].seq) if name in plan.moved_by_tuples else None
        if key is None or key not in known:
            end = queues.end_after(superbox, positions)
            place = end, queues.reached(superbox, end, positions)
            if key is not None:
                known[key] = place
        else:
            place = known[key]
        ends[name], positions[name] = place
        if place[1] != position:
            for reader in fed[number]:
                is_pending[reader] = True
        number = is_pending.find(True, number + 1)
    return Places(positions, ends)


def _touched(before: Queues, queues: Queues) -> Iterable[str]:
    """The superboxes whose heads or streams differ between two moments."""
    plan = queues.plan
    if before.log_end != queues.log_end:
        yield from plan.at_inputs
    if before.heads is not queues.heads:
        known = before.heads
        yield from (name for name in plan.superboxes if known.get(name) is not queues.heads.get(name))
    if before.segments is not queues.segments:
        arcs = before.segments
        for arc, segments in queues.segments.items():
            if arcs.get(arc) is not segments and arc in plan.arcs:
                yield from plan.arcs[arc].readers
