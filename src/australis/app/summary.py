"""What a run says about itself when it is over: a few lines for people, or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from australis.algebra.network import QUARANTINE, Network
from australis.app.turns import Tally


@dataclass(frozen=True)
class Summary:
    """A run that has ended."""

    network: Network
    engine: str
    seconds: float
    tally: Tally
    files: Mapping[str, str]
    counters: Mapping[str, Any]
    flushed: bool
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The summary for `--json`."""
        tally = self.tally
        names = ("received", "emitted", "late", "ignored", "rejected")
        return {
            "network": self.network.name,
            "engine": self.engine,
            "seconds": round(self.seconds, 3),
            "inputs": {
                n: {"tuples": tally.read[n], "rejected": tally.rejected[n]} for n in self.network.inputs
            },
            "outputs": {n: {"tuples": tally.written[n], "file": self.files.get(n)} for n in self._outputs()},
            "boxes": {box_id: {n: getattr(c, n) for n in names} for box_id, c in self.counters.items()},
            "quarantined": tally.quarantined,
            "reasons": tally.reasons,
            "notes": list(self.notes),
        }

    def lines(self) -> Iterator[str]:
        """The summary for people."""
        total = sum(self.tally.read.values())
        yield f"{self.network.name}: {total:,} tuples in {self.seconds:.2f} s on the {self.engine} engine"
        yield from _columns(list(self._rows()))
        for note in self.notes:
            yield f"  note: {note}"
        yield from self._quarantine_lines()
        if not self.flushed and any(node.box.ordered for node in self.network.boxes.values()):
            yield "  What windows and buffers still hold was not emitted; --flush closes them at the end."

    def _outputs(self) -> Iterator[str]:
        yield from self.network.outputs
        if QUARANTINE in self.files:
            yield QUARANTINE

    def _rows(self) -> Iterator[tuple[str, str, int, str]]:
        for name in self.network.inputs:
            yield "in", name, self.tally.read[name], ""
        for name in self._outputs():
            yield (
                "out",
                name,
                self.tally.written[name],
                self.files.get(name, "not written: no --output names it"),
            )
        for box_id, counted in self.counters.items():
            if counted.late:
                yield "late", box_id, counted.late, "too late for the order"
            if counted.ignored:
                yield "ignored", box_id, counted.ignored, "only for windows that had timed out"

    def _quarantine_lines(self) -> Iterator[str]:
        count = self.tally.quarantined
        if not count or QUARANTINE in self.files:
            return
        rows = "1 row was" if count == 1 else f"{count:,} rows were"
        yield f"  {rows} quarantined (--output {QUARANTINE}=FILE keeps them):"
        yield from (f"    {reason}" for reason in self.tally.reasons)
        if count > len(self.tally.reasons):
            yield f"    ... and {count - len(self.tally.reasons):,} more"


def _columns(rows: list[tuple[str, str, int, str]]) -> Iterator[str]:
    kinds, names = (max((len(row[i]) for row in rows), default=0) for i in (0, 1))  # type: ignore[arg-type]
    numbers = max((len(f"{row[2]:,}") for row in rows), default=0)
    for kind, name, number, remark in rows:
        yield f"  {kind:{kinds}}  {name:{names}}  {number:>{numbers},}  {remark}".rstrip()
