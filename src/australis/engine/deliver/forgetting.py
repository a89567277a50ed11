"""Forgetting consumers of a root that no node has open: what only they had not read is deleted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from australis.engine.clock import wall_clock
from australis.engine.deliver.consumers import Consumers
from australis.engine.ledger import OpenRoot, Queues, known_catalog, plan_in
from australis.engine.store import Root, catalog_folder
from australis.errors import EngineError, Problem


@dataclass(frozen=True)
class Forgotten:
    """A forgotten consumer of an output, and the tuples that were deleted with it."""

    consumer: str
    output: str
    tuples: int


def forget(
    place: str, consumer: str, *, output: str | None = None, catalog: Path | None = None
) -> list[Forgotten]:
    """Forget a consumer, or the file that one writes, for one output or for all that it reads."""
    root = Root.of(place)
    folder = catalog_folder(root, catalog)
    known_catalog(folder)
    opened = OpenRoot(root, catalog)
    try:
        ledger = opened.ledger
        ledger.load_plan(plan_in(folder, ledger.catalog))
        name, outputs = _meant(place, ledger.queues, consumer, output)
        consumers = Consumers(ledger, wall_clock)
        return [Forgotten(name, each, consumers.forget(name, each)) for each in outputs]
    finally:
        opened.close()


def _meant(place: str, queues: Queues, consumer: str, output: str | None) -> tuple[str, list[str]]:
    """The consumer's name, which marks those that write a file, and the outputs to forget it for."""
    file = f"file:{Path(consumer).resolve()}"
    for name in (consumer, file):
        found = sorted(read for known, read in queues.consumers if known == name)
        if output in found or (output is None and found):
            return name, [output] if output is not None else found
    if output is not None:
        return consumer, [output]
    known = ", ".join(sorted({name for name, _ in queues.consumers}))
    expected = f"one of {known}" if known else "a root that somebody has read from"
    raise EngineError(Problem(place, f"there is no consumer {consumer!r}", expected))
