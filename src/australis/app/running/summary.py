"""What a run reports when it is over: a few lines for people, or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from australis.algebra.network import QUARANTINE, Network
from australis.app.running.tally import RunTally
from australis.app.showing import Loss, OutputResult, RunLosses, Service, result_lines
from australis.engine.observe import late_at

_COUNTED = ("received", "emitted", "late", "ignored", "rejected")


@dataclass(frozen=True)
class NodeSummary:
    """What only a node can report."""

    start_seconds: float
    root: str | None = None
    trains: int = 0
    waiting: int = 0
    delays_ms: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The median delay of each output, and its 95th percentile."""
    costs_us: Mapping[str, float] = field(default_factory=dict)
    interrupted: bool = False


@dataclass(frozen=True)
class Summary:
    """A finished run."""

    network: Network
    engine: str
    seconds: float
    tally: RunTally
    files: Mapping[str, str]
    counters: Mapping[str, Any]
    flushed: bool
    notes: tuple[str, ...] = ()
    node: NodeSummary | None = None
    service: Service | None = None
    """How outputs with graphs were served."""
    results: Mapping[str, OutputResult] = field(default_factory=dict)
    """What each output received and lost."""
    shed: tuple[Loss, ...] = ()

    @property
    def losses(self) -> RunLosses:
        """What the run has lost."""
        counters, prefix = self.counters.items(), f"{self.network.name}."
        return RunLosses(
            self.results,
            {box: late for box, late in late_at(self.network, self.counters).items() if late},
            {box: counted.ignored for box, counted in counters if counted.ignored},
            self.shed,
            {path.removeprefix(prefix): n for path, n in self.tally.quarantined_at.items()},
            self.tally.reasons,
            self.files.get(QUARANTINE),
            self.node.root if self.node else None,
        )

    def as_dict(self) -> dict[str, object]:
        """The summary for `--json`."""
        tally = self.tally
        return {
            "network": self.network.name,
            "engine": self.engine,
            "seconds": round(self.seconds, 3),
            **self._node_dict(),
            "inputs": {
                n: {"tuples": tally.read[n], "rejected": tally.rejected[n]} for n in self.network.inputs
            },
            "outputs": {n: self._output_dict(n) for n in self._outputs()},
            "boxes": {box_id: self._box_dict(box_id, c) for box_id, c in self.counters.items()},
            "lost": self.losses.as_dict(),
            "quarantined": tally.quarantined,
            "reasons": tally.reasons,
            "notes": list(self.notes),
            **(self.service.as_dict() if self.service else {}),
        }

    def _node_dict(self) -> dict[str, object]:
        if self.node is None:
            return {}
        return {
            "start_seconds": round(self.node.start_seconds, 3),
            "root": self.node.root,
            "interrupted": self.node.interrupted,
            "trains": self.node.trains,
            "waiting": self.node.waiting,
        }

    def _output_dict(self, name: str) -> dict[str, object]:
        known: dict[str, object] = {"tuples": self.tally.written[name], "file": self.files.get(name)}
        if self.node is not None and name in self.node.delays_ms:
            known |= dict(zip(("delay_ms_p50", "delay_ms_p95"), self.node.delays_ms[name], strict=True))
        if name in self.results:
            known |= self.results[name].as_dict()
        if self.service is not None and name in self.network.outputs:
            known |= self.service.output_dict(name)
        return known

    def _box_dict(self, box_id: str, counted: Any) -> dict[str, object]:
        known: dict[str, object] = {name: getattr(counted, name) for name in _COUNTED}
        if self.node is not None and box_id in self.node.costs_us:
            known["cost_us"] = round(self.node.costs_us[box_id], 3)
        return known

    def lines(self) -> Iterator[str]:
        """The summary for people."""
        total = sum(self.tally.read.values())
        started = f", which started in {self.node.start_seconds:.1f} s" if self.node else ""
        how = f"{total:,} {_tuples(total)} in {self.seconds:.2f} s on the {self.engine} engine"
        yield f"{self.network.name}: {how}{started}"
        yield from _columns(list(self._rows()))
        if self.service is not None or self.losses:
            yield from result_lines(self.results)
        yield from self.service.lines() if self.service is not None else ()
        for note in self.notes:
            yield f"  note: {note}"
        if self.node is not None and self.node.waiting:
            count, verb = self.node.waiting, "waits" if self.node.waiting == 1 else "wait"
            yield f"  {count:,} {_tuples(count)} {verb} in {self.node.root} for the next run."
        elif not self.flushed and any(node.box.ordered for node in self.network.boxes.values()):
            yield "  What windows and buffers still hold was not emitted; --flush closes them at the end."

    def _outputs(self) -> Iterator[str]:
        yield from self.network.outputs
        if QUARANTINE in self.files:
            yield QUARANTINE

    def _rows(self) -> Iterator[tuple[str, str, int, str]]:
        for name in self.network.inputs:
            yield "in", name, self.tally.read[name], ""
        for name in self._outputs():
            yield "out", name, self.tally.written[name], self._place(name) + self._delay(name)

    def _place(self, name: str) -> str:
        """Where an output went."""
        if name in self.files:
            return self.files[name]
        is_kept = self.node is not None and self.node.root is not None
        return f"{'kept in the root' if is_kept else 'not written'}: no --output names it"

    def _delay(self, name: str) -> str:
        if self.node is None or name not in self.node.delays_ms:
            return ""
        quality = self.network.outputs[name].quality if name in self.network.outputs else None
        since = " since the trigger" if quality is not None and quality.counts_since_trigger else ""
        return "  delay{} p50 {:,.0f} ms, p95 {:,.0f} ms".format(since, *self.node.delays_ms[name])


def _columns(rows: list[tuple[str, str, int, str]]) -> Iterator[str]:
    kinds, names = (max((len(row[i]) for row in rows), default=0) for i in (0, 1))  # type: ignore[arg-type]
    numbers = max((len(f"{row[2]:,}") for row in rows), default=0)
    for kind, name, number, remark in rows:
        yield f"  {kind:{kinds}}  {name:{names}}  {number:>{numbers},}  {remark}".rstrip()


def _tuples(count: int) -> str:
    return "tuple" if count == 1 else "tuples"
