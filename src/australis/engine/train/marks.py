"""The marks that go with a train: those of the streams that it reads, from those of the inputs in the log."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from australis.algebra.network import Ref
from australis.engine.ledger import Catalog, MarkLog, Queues, maker_of
from australis.engine.worker import MarkRun
from australis.kernels.marks import InputMark
from australis.kernels.progress import network_marks
from australis.plan.superboxes import Plan, Superbox

TrainMarks = Mapping[str, Mapping[str, tuple[MarkRun, ...]]]
"""The marks of each stream by attribute, in runs between ends of the streams."""


def train_marks(plan: Plan, catalog: Catalog, superbox: Superbox, lo: int, hi: int) -> TrainMarks:
    """The marks of a superbox's streams from one number up to another; none if it does not go by progress."""
    if not superbox.goes_by_progress:
        return {}
    reaching = frozenset[str]().union(*(plan.makers_of.get(name, frozenset()) for name in superbox.members))
    makers = {name: plan.makers[name] for name in sorted(reaching)}
    logs = {name: catalog.marks(maker_of(name, bound), lo, hi) for name, bound in makers.items()}
    refs = {name: Ref.parse(arc) for name, arc in superbox.streams.items()}
    found: dict[str, dict[str, list[MarkRun]]] = {name: {} for name in refs}
    for begin, end in pairwise(_ends(logs, hi)):
        inputs = {name: {makers[name].on: log.between(begin, end)} for name, log in logs.items()}
        streams = network_marks(plan.network, inputs)
        for name, ref in refs.items():
            for on, marks in streams.get(ref, {}).items():
                found[name].setdefault(on, []).append(MarkRun.of(begin, end, marks))
    return {name: {on: tuple(runs) for on, runs in marks.items()} for name, marks in found.items() if marks}


IDLE_EVERY_US = 250_000
"""How often the mark of an idle input follows the clock."""


def idle_times(queues: Queues) -> list[int]:
    """When the marks of inputs that may fall idle follow the clock next."""
    found = []
    for name, bound in queues.plan.makers.items():
        quiet = queues.promised.get(maker_of(name, bound), InputMark()).quiet_since
        if bound.idle is not None and quiet is not None:
            found.append(max(quiet + bound.idle + 1, queues.log_now + IDLE_EVERY_US))
    return found


def _ends(logs: Mapping[str, MarkLog], hi: int) -> list[int]:
    """The numbers between which no stream ends."""
    return sorted({hi, *(begin for log in logs.values() for begin, _, _ in log.runs)})
