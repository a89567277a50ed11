"""What the reference makes of a scenario, against what an undisturbed child wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from tests.conformance.engine_runs import Expectation, Numbered
from tests.conformance.random_networks import Event
from tests.crash.child import KEPT, READ
from tests.crash.comparing import Difference, difference
from tests.crash.scenarios import FLUSH, TICK, Scenario
from tests.crash.scenarios import Event as Given

FILES = {KEPT: f"{KEPT}.kept", **{output: f"{output}.read" for output in READ}}


def compare_with_reference(given: Scenario, folder: Path) -> dict[str, Difference]:
    """The differences of outputs with all their numbers and times; tuples of one number in any order."""
    right = _expected(given).seen.outputs
    return {
        output: difference(_text(right[output]), _text(_found(folder / file)), is_ordered=False)
        for output, file in FILES.items()
    }


def _expected(given: Scenario) -> Expectation:
    right = Expectation(given.network)
    for name, rows in given.tables.items():
        right.load(name, rows.to_pylist())
    for event in given.events:
        right.event(_of(event))
    return right


def _of(event: Given) -> Event:
    name = None if event.what in (TICK, FLUSH) else event.what
    rows = () if event.batch is None else tuple((row, event.now) for row in _rows(event.batch))
    return Event(event.now, name, rows, event.what == FLUSH, event.promise)


def _rows(batch: pa.Table) -> list[dict[str, object]]:
    """Tuples as the reference takes them: a timestamp is a number."""
    at = batch.column_names.index("at")
    found: list[dict[str, object]] = batch.set_column(at, "at", batch["at"].cast(pa.int64())).to_pylist()
    return found


def _found(path: Path) -> Numbered:
    found = []
    for line in path.read_text().splitlines():
        row = json.loads(line)
        number, ts = row.pop("#seq"), row.pop("#ts")
        found.append((number, repr((row, ts))))
    return found


def _text(tuples: Numbered) -> bytes:
    return "".join(f"{number} {text}\n" for number, text in tuples).encode()
