"""The run-time optimiser: from time to time what was measured is looked at, and the network rewritten by it.

Rewrites are in `rewrite/`, the decision whether one pays is in `policy/`, and the switch is that of any other
change: between two trains, with the state of every box that keeps one (Aurora 3.1).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from australis.algebra.network import Network
from australis.engine.storage.catalog import OPTIMISER, Catalog
from australis.engine.switching import Switching
from australis.errors import AustralisError
from australis.policy.adapt import Adaptation, Seen
from australis.rewrite.improve import BEGINNING, improve
from australis.rewrite.rewrite import Rewrite
from australis.rewrite.statistics import Measure, Statistics, cost

PERIOD_S = 2.0
"""How often the optimiser looks."""
TUPLES_LEAST = 1_000
"""So many tuples a box must have seen since the last look, for its figures to say something."""


@dataclass(frozen=True)
class Counted:
    """What the catalogue counted of a box so far."""

    received: int
    nanoseconds: int
    ports: tuple[int, ...]


def begun(network: Network, *, running: bool) -> Network:
    """The network that all later cycles start from; in one that runs already, no stateful box may change."""
    stateful = [box_id for box_id, node in network.boxes.items() if node.box.ordered]
    return improve(network, Statistics(running=stateful if running else ()), BEGINNING).network


class Optimiser:
    """Looks at what runs, and switches to what is better."""

    def __init__(self, switching: Switching, catalog: Catalog, period_s: float = PERIOD_S) -> None:
        self._switching, self._catalog, self._period_s = switching, catalog, period_s
        self._measured: dict[str, Measure] = {}
        self._since: dict[str, Counted] = {}
        self._last = self._counted()
        self._adaptation = Adaptation()
        self._turn = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="australis-optimiser", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while not self._ended.wait(self._period_s):
            try:
                self.cycle()
            except AustralisError:
                # A node that is paused, stopped or in trouble is not the time for it.
                continue

    def cycle(self) -> bool:
        """Look once; gives whether another network runs now."""
        with self._turn:
            return self._cycle()

    def _cycle(self) -> bool:
        flow = self._look()
        record = self._switching.record
        if record.begun is None or not flow:
            return False
        running = record.improved or record.begun
        stateful = [box_id for box_id, node in record.begun.boxes.items() if node.box.ordered]
        found = improve(record.begun, Statistics(self._measured, stateful))
        now_us = cost(running, Statistics(self._measured), flow)
        then_us = cost(found.network, found.statistics, flow)
        spent_us, tuples = self._spent_us(flow), sum(flow.values())
        seen = Seen(running, found.network, now_us, then_us, spent_us, tuples)
        choice = self._adaptation.decide(seen)
        if choice is None:
            return False
        began = time.perf_counter()
        self._switching.to(
            # Somebody may have changed the network meanwhile, and then this is none of it.
            lambda known: replace(known, improved=choice) if known.begun == record.begun else known
        )
        self._note(found.applied if choice == found.network else (), now_us, then_us, began)
        return True

    # --- what was measured

    def _look(self) -> dict[str, float]:
        """Learn what boxes cost and let through since the last look; gives the tuples of each input."""
        before, self._last = self._last, self._counted()
        self._since = {box: _since(self._last[box], before.get(box)) for box in self._last}
        for box, seen in self._since.items():
            if seen.received >= TUPLES_LEAST:
                shares = tuple(tuples / seen.received for tuples in seen.ports)
                self._measured[box] = Measure(seen.nanoseconds / 1000 / seen.received, shares)
        return self._flow()

    def _flow(self) -> dict[str, float]:
        """The tuples that came on each input that a box reads, by what the first box saw of it."""
        network = self._switching.record.whole
        found: dict[str, float] = {}
        for box, seen in self._since.items():
            for source in network.boxes[box].sources if box in network.boxes else ():
                if source.id in network.inputs and len(network.boxes[box].sources) == 1 and seen.received:
                    found[source.id] = max(found.get(source.id, 0.0), float(seen.received))
        return found

    def _spent_us(self, flow: Mapping[str, float]) -> float:
        """What all boxes really took for each tuple that came."""
        network = self._switching.record.whole
        spent = sum(seen.nanoseconds for box, seen in self._since.items() if box in network.boxes)
        return spent / 1000 / sum(flow.values())

    def _counted(self) -> dict[str, Counted]:
        network = self._switching.record.whole
        ports = dict(self._catalog.rows("select ref, tuples from port"))
        found = {}
        for box, received, nanoseconds in self._catalog.rows("select id, received, nanoseconds from box"):
            if box in network.boxes:
                emitted = range(network.boxes[box].box.outputs)
                names = [box if port == 0 else f"{box}.{port}" for port in emitted]
                found[box] = Counted(received, nanoseconds, tuple(ports.get(name, 0) for name in names))
        return found

    # --- what is told

    def _note(self, applied: tuple[Rewrite, ...], now_us: float, then_us: float, began: float) -> None:
        """Write down what was done, for everyone to see."""
        known = json.loads(self._catalog.meta(OPTIMISER) or "[]")
        entry = {
            "says": [rewrite.says for rewrite in applied] or ["back to what ran before, which was faster"],
            "cost_before": round(now_us, 3),
            "cost_after": round(then_us, 3),
            "switch_ms": round(1000 * (time.perf_counter() - began), 1),
        }
        with self._catalog.transaction() as transaction:
            transaction.set_meta(OPTIMISER, json.dumps([*known, entry][-KEPT:]))


KEPT = 50
"""How many switches are remembered."""


def _since(now: Counted, before: Counted | None) -> Counted:
    if before is None or before.received > now.received or len(before.ports) != len(now.ports):
        return now
    ports = tuple(new - old for new, old in zip(now.ports, before.ports, strict=True))
    return Counted(now.received - before.received, now.nanoseconds - before.nanoseconds, ports)
