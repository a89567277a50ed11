"""What a change of a running network does: what continues, what is added or removed, and what is lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from australis.algebra.network import QUARANTINE, ConnectionPoint, Network
from australis.engine.change.takeover import Takeover, unread_of
from australis.engine.ledger import ALL, Ledger, Queues, history_from, rows_between
from australis.errors import EngineError, Problem


@dataclass(frozen=True)
class Difference:
    """The difference between the running network and the next one."""

    kept: tuple[str, ...]
    """Boxes that continue unchanged."""
    stateful: tuple[str, ...]
    """Those of them that keep a state."""
    altered: tuple[str, ...]
    """Boxes of the same name with another definition: they start again without state."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    inputs_added: tuple[str, ...]
    inputs_removed: tuple[str, ...]
    inputs_altered: tuple[str, ...]
    outputs_added: tuple[str, ...]
    outputs_removed: tuple[str, ...]
    outputs_altered: tuple[str, ...]
    points_added: tuple[str, ...]
    points_removed: tuple[str, ...]
    points_altered: tuple[str, ...]
    held: tuple[str, ...]
    """The superboxes that stop for the change; all others continue."""
    lost: tuple[str, ...]
    """What is lost: states, and tuples that nobody has read."""
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The fields that change of each input, output and connection point that is altered: `outputs.busy`."""

    @property
    def is_nothing(self) -> bool:
        """Whether nothing changes."""
        return not (self.held or self.added or any(getattr(self, name) for name in _ENDS))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """The difference as text for people."""
        if self.is_nothing:
            yield "nothing changes"
            return
        yield f"  {self._continuing()}"
        yield from _signed("+", "box", self.added)
        yield from _signed("-", "box", self.removed)
        yield from _signed("~", "box", self.altered)
        for name in _ENDS:
            kind, _, what = name.partition("_")
            names = (f"{each}{self._parts_of(kind, each)}" for each in getattr(self, name))
            yield from _signed(_SIGNS[what], _SINGULAR[kind], names)
        yield from (f"  ! lost: {each}" for each in self.lost)

    def _continuing(self) -> str:
        """How many boxes continue, and how many of them keep a state."""
        kept, stateful = len(self.kept), len(self.stateful)
        boxes = "1 box continues" if kept == 1 else f"{kept} boxes continue"
        if kept == stateful == 1:
            return f"{boxes} and keeps its state"
        keep = "keeps its state" if stateful == 1 else "keep their state"
        return f"{boxes}, {stateful} {keep}" if stateful else boxes

    def _parts_of(self, kind: str, name: str) -> str:
        """What changes of an input, output or connection point that is altered."""
        parts = self.parts.get(f"{kind}.{name}", ())
        return f": {', '.join(parts)}" if parts else ""


_SIGNS = {"added": "+", "removed": "-", "altered": "~"}
_SINGULAR = {"inputs": "input", "outputs": "output", "points": "connection point"}
_ENDS = tuple(f"{kind}_{what}" for kind in _SINGULAR for what in _SIGNS)


def _signed(sign: str, kind: str, names: Iterable[str]) -> Iterator[str]:
    yield from (f"  {sign} {kind} {name}" for name in names)


def difference(old: Network, new: Network, takeover: Takeover, ledger: Ledger, now: int) -> Difference:
    """What a takeover does to a network as its users drew it; refuses an impossible one."""
    _check(old, new)
    kept = tuple(box for box in new.order if _goes_on(old, new, box, takeover))
    same = frozenset(kept)
    altered = tuple(box for box in new.order if box in old.boxes and box not in same)
    ends = {
        "inputs": (old.inputs, new.inputs),
        "outputs": (old.outputs, new.outputs),
        "points": (old.connection_points, new.connection_points),
    }
    return Difference(
        kept,
        tuple(box for box in kept if new.boxes[box].box.ordered),
        altered,
        tuple(box for box in new.order if box not in old.boxes),
        tuple(box for box in old.order if box not in new.boxes),
        **{f"{kind}_added": _only(after, before) for kind, (before, after) in ends.items()},
        **{f"{kind}_removed": _only(before, after) for kind, (before, after) in ends.items()},
        **{f"{kind}_altered": _altered(before, after) for kind, (before, after) in ends.items()},
        held=takeover.held,
        lost=tuple(_lost(takeover, ledger, now)),
        parts={
            f"{kind}.{name}": _changed_fields(before[name], after[name])
            for kind, (before, after) in ends.items()
            for name in _altered(before, after)
        },
    )


def _goes_on(old: Network, new: Network, box: str, takeover: Takeover) -> bool:
    if not new.boxes[box].box.ordered:
        return box in old.boxes and old.boxes[box].box == new.boxes[box].box
    return box in takeover.kept


def _only(these: Mapping[str, object], those: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(name for name in these if name not in those)


def _altered(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(name for name in after if name in before and before[name] != after[name])


def _changed_fields(before: Any, after: Any) -> tuple[str, ...]:
    """The fields, as a network file names them, in which two values of a dataclass differ."""
    names = (each.name for each in fields(before) if getattr(before, each.name) != getattr(after, each.name))
    return tuple("from" if name == "source" else name for name in names)


def _check(old: Network, new: Network) -> None:
    """Refuse a change that would give another meaning to tuples that wait or are kept in windows."""
    if old.timezone != new.timezone:
        raise _refused(new, "timezone", f"is {new.timezone!r}", f"{old.timezone!r}, as before")
    for name in old.inputs.keys() & new.inputs.keys():
        before, after = old.inputs[name], new.inputs[name]
        if (before.schema, before.table) != (after.schema, after.table):
            what = f"is ({after.schema}), but tuples of ({before.schema}) may wait"
            raise _refused(new, f"inputs.{name}", what, "the input as it was, or one of another name")


def _refused(network: Network, path: str, what: str, expected: str) -> EngineError:
    return EngineError(Problem(f"{network.name}.{path}", what, expected))


def _lost(takeover: Takeover, ledger: Ledger, now: int) -> Iterator[str]:
    old, queues = takeover.old.plan, ledger.queues
    files = {file.box for name in takeover.held for file in ledger.catalog.states(name)}
    for box in old.network.order:
        if box in files and box not in takeover.kept:
            yield f"the state of {box}"
    yield from _unread(takeover, queues)
    yield from _histories(takeover, queues, now)
    for name in sorted(old.network.inputs.keys() - takeover.new.plan.network.inputs.keys()):
        readers = (old.superboxes[reader] for reader in old.arcs[name].readers)
        waiting = sum(queues.waiting(reader, queues.end(reader)) for reader in readers)
        if waiting:
            yield f"{waiting:,} tuples that wait on {name}"


def _unread(takeover: Takeover, queues: Queues) -> Iterator[str]:
    """Tuples of outputs that some consumer has not read, and that can no longer be read."""
    for output, arc in takeover.old.plan.outputs.items():
        if takeover.stays(output) or output == QUARANTINE:
            continue
        seen = min((seq for (_, each), seq in queues.consumers.items() if each == output), default=0)
        tuples = sum(rows_between(s, seen, s.end) for s in unread_of(queues, arc, output))
        if tuples:
            yield f"{tuples:,} tuples of {output} that were not read"


def _histories(takeover: Takeover, queues: Queues, now: int) -> Iterator[str]:
    """Tuples that a connection point keeps now, and that nothing will keep."""
    after = takeover.new.plan.network.connection_points
    for name, point in takeover.old.plan.network.connection_points.items():
        if point.history and (name not in after or _keeps_less(point, after[name], takeover)):
            begin = _kept_from(str(point.at), takeover, queues, now)
            tuples = sum(segment.rows for segment in queues.segments[str(point.at)] if segment.end <= begin)
            if tuples:
                yield f"the history of {name}, {tuples:,} tuples"


def _keeps_less(before: ConnectionPoint, after: ConnectionPoint, takeover: Takeover) -> bool:
    same = (before.at, before.history) == (after.at, after.history)
    return not (same and takeover.keeps(str(before.at)))


def _kept_from(arc: str, takeover: Takeover, queues: Queues, now: int) -> int:
    """The number from which on an arc of the old plan is history in the new one."""
    if not takeover.keeps(arc):
        return ALL
    points = takeover.new.plan.network.connection_points.values()
    asked = [point.history for point in points if str(point.at) == arc and point.history]
    return min((history_from(queues, arc, history, now) for history in asked), default=ALL)
