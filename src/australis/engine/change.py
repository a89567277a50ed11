"""What a change of a running network does: what goes on, what comes, what goes, and what is lost with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from australis.algebra.network import QUARANTINE, Network
from australis.engine.queues import Queues, rows_between
from australis.engine.storage.catalog import Catalog
from australis.engine.takeover import Takeover, unread_of
from australis.errors import EngineError, Problem


@dataclass(frozen=True)
class Change:
    """The difference between what runs and what is to run."""

    kept: tuple[str, ...]
    """Boxes that go on as they are."""
    stateful: tuple[str, ...]
    """Those of them that keep a state, which stays."""
    altered: tuple[str, ...]
    """Boxes of the same name that do something else: they begin anew."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    inputs_added: tuple[str, ...]
    inputs_removed: tuple[str, ...]
    outputs_added: tuple[str, ...]
    outputs_removed: tuple[str, ...]
    points_added: tuple[str, ...]
    points_removed: tuple[str, ...]
    held: tuple[str, ...]
    """The superboxes that come to a stop for it; all others go on."""
    lost: tuple[str, ...]
    """What cannot go on: states, and tuples that nobody has read."""

    @property
    def is_nothing(self) -> bool:
        """Whether all stays as it is."""
        return not (self.held or self.added or any(getattr(self, name) for name in _ENDS))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """The difference for people."""
        if self.is_nothing:
            yield "nothing changes"
            return
        with_state = f", {len(self.stateful)} of them with their state" if self.stateful else ""
        yield f"  {len(self.kept)} boxes go on{with_state}"
        yield from _signed("+", "box", self.added)
        yield from _signed("-", "box", self.removed)
        yield from _signed("~", "box", self.altered)
        for name in _ENDS:
            kind, _, what = name.partition("_")
            yield from _signed("+" if what == "added" else "-", _SINGULAR[kind], getattr(self, name))
        yield from (f"  ! lost: {each}" for each in self.lost)


_ENDS = (
    "inputs_added",
    "inputs_removed",
    "outputs_added",
    "outputs_removed",
    "points_added",
    "points_removed",
)
_SINGULAR = {"inputs": "input", "outputs": "output", "points": "connection point"}


def _signed(sign: str, kind: str, names: Iterable[str]) -> Iterator[str]:
    yield from (f"  {sign} {kind} {name}" for name in names)


def difference(old: Network, new: Network, takeover: Takeover, queues: Queues, catalog: Catalog) -> Change:
    """What a takeover does to a network as its users drew it; refuses one that cannot be."""
    _check(old, new)
    kept = tuple(box for box in new.order if _goes_on(old, new, box, takeover))
    altered = tuple(box for box in new.order if box in old.boxes and box not in kept)
    ends = {
        "inputs": (old.inputs, new.inputs),
        "outputs": (old.outputs, new.outputs),
        "points": (old.connection_points, new.connection_points),
    }
    return Change(
        kept,
        tuple(box for box in kept if new.boxes[box].box.ordered),
        altered,
        tuple(box for box in new.order if box not in old.boxes),
        tuple(box for box in old.order if box not in new.boxes),
        **{f"{kind}_added": _only(after, before) for kind, (before, after) in ends.items()},
        **{f"{kind}_removed": _only(before, after) for kind, (before, after) in ends.items()},
        held=takeover.held,
        lost=tuple(_lost(takeover, queues, catalog)),
    )


def _goes_on(old: Network, new: Network, box: str, takeover: Takeover) -> bool:
    if not new.boxes[box].box.ordered:
        return box in old.boxes and old.boxes[box].box == new.boxes[box].box
    return box in takeover.kept


def _only(these: Mapping[str, object], those: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(name for name in these if name not in those)


def _check(old: Network, new: Network) -> None:
    """Refuse what would give tuples that wait, or that windows keep, another meaning."""
    if old.timezone != new.timezone:
        raise _refused(new, "timezone", f"is {new.timezone!r}", f"{old.timezone!r}, as before")
    for name in old.inputs.keys() & new.inputs.keys():
        before, after = old.inputs[name], new.inputs[name]
        if (before.schema, before.table) != (after.schema, after.table):
            what = f"is ({after.schema}), but tuples of ({before.schema}) may wait"
            raise _refused(new, f"inputs.{name}", what, "the input as it was, or one of another name")


def _refused(network: Network, path: str, what: str, expected: str) -> EngineError:
    return EngineError(Problem(f"{network.name}.{path}", what, expected))


def _lost(takeover: Takeover, queues: Queues, catalog: Catalog) -> Iterator[str]:
    old = takeover.old.plan
    files = {file.box for name in takeover.held for file in catalog.states(name)}
    for box in old.network.order:
        if box in files and box not in takeover.kept:
            yield f"the state of {box}"
    yield from _unread(takeover, queues)
    yield from _histories(takeover, queues)
    for name in sorted(old.network.inputs.keys() - takeover.new.plan.network.inputs.keys()):
        waiting = sum(queues.waiting(old.superboxes[reader]) for reader in old.arcs[name].readers)
        if waiting:
            yield f"{waiting:,} tuples that wait on {name}"


def _unread(takeover: Takeover, queues: Queues) -> Iterator[str]:
    """Tuples of outputs that a consumer has not read, and that nobody can read any more."""
    old, new = takeover.old.plan, takeover.new.plan
    for output, arc in old.outputs.items():
        stays = new.outputs.get(output) == arc or output in takeover.moved_outputs
        if stays or output == QUARANTINE:
            continue
        seen = min((seq for (_, each), seq in queues.consumers.items() if each == output), default=0)
        tuples = sum(rows_between(s, seen, s.end) for s in unread_of(queues, arc, output))
        if tuples:
            yield f"{tuples:,} tuples of {output} that were not read"


def _histories(takeover: Takeover, queues: Queues) -> Iterator[str]:
    old, new = takeover.old.plan, takeover.new.plan
    for name, point in old.network.connection_points.items():
        arc = str(point.at)
        tuples = sum(segment.rows for segment in queues.segments.get(arc, ()))
        if point.history is not None and tuples and arc not in new.arcs:
            yield f"the history of {name}, {tuples:,} tuples"
