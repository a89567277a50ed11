"""The run-time optimiser: periodically rewrites the network by what was measured.

Rewrites are in `rewrite/`, the decision whether one pays is in `policy/`, and the switch is the same as for
any other change: between two trains, keeping the state of every box (Aurora 3.1).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from australis.algebra.network import Network
from australis.engine.change.box_costs import Measuring
from australis.engine.change.switch import Switch
from australis.engine.ledger import OPTIMISER, Ledger, Record
from australis.engine.threads import Thread, Threads
from australis.errors import AustralisError
from australis.policy.adapt import Adaptation, Seen, surprises
from australis.policy.place import still_there
from australis.rewrite.improve import BEGINNING, improve
from australis.rewrite.rewrite import kept
from australis.rewrite.statistics import Statistics, cost

_log = logging.getLogger(__name__)
PERIOD_S = 2.0
"""How often the optimiser runs a cycle."""


def begun(network: Network, past: Collection[str] = ()) -> Network:
    """The network that later cycles start from; boxes with state or waiting tuples stay as they are."""
    return improve(network, Statistics(running=past), BEGINNING).network


def redrawn(record: Record, network: Network, *, optimise: bool) -> Record:
    """The record of another network: rewritten as the last one was, if more boxes keep their state that way.

    A box that reads less than was drawn, or replaces several, has a state that the drawn one cannot take
    over.
    """
    first = begun(network, with_past(network)) if optimise else None
    record, splits = record.over(network), still_there(network, record.splits)
    drawn = replace(record, network=network, begun=first, improved=None, splits=splits)
    if record.improved is None:
        return drawn
    first = begun(
        network, [box for box, node in network.boxes.items() if record.network.boxes.get(box) != node]
    )
    again = replace(drawn, begun=first, improved=first)
    return max(again, drawn, key=lambda each: len(kept(record.whole, each.whole)))


def with_past(network: Network) -> frozenset[str]:
    """The boxes of a running network that have state, or have emitted tuples that wait for consumers."""
    delivering = {output.source.id for output in network.outputs.values()}
    return frozenset(box for box, node in network.boxes.items() if node.box.ordered or box in delivering)


@dataclass(frozen=True)
class Rewritten:
    """What the optimiser has made of a network."""

    drawn: Network
    """The network as it was deployed."""
    running: Network
    """The equal network that runs in its place; the same one if nothing was rewritten."""
    switches: tuple[Mapping[str, Any], ...]
    """What it did, the latest last: why, and the microseconds a tuple that it expected before and after."""

    @classmethod
    def of(cls, record: Record, ledger: Ledger) -> Rewritten:
        """What the optimiser has made of the network of a record."""
        known = json.loads(ledger.catalog.meta(OPTIMISER) or "[]")
        return cls(record.network, record.improved or record.network, tuple(known))


class Optimiser:
    """Watches the running network, and switches to a better one."""

    def __init__(self, switch: Switch, ledger: Ledger, threads: Threads, period_s: float = PERIOD_S) -> None:
        self._switching, self._ledger, self._catalog = switch, ledger, ledger.catalog
        self._threads, self._period_s = threads, period_s
        self._measuring = Measuring(ledger.catalog, switch.record.whole)
        self._begin(switch.record.begun)
        self._turn, self._ended = threads.lock(), threads.event()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Run cycles periodically, in a separate thread."""
        self._thread = self._threads.start(self._work, "australis-optimiser")

    def stop(self) -> None:
        """Run no more cycles."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while not self._ended.wait(self._period_s):
            try:
                self.cycle()
            except AustralisError as error:
                # The node is paused, stopped or failing: try in a later cycle.
                _log.debug("no rewrite this time: %s", error)
            except Exception:
                _log.exception("the optimiser failed, and will look again")

    def cycle(self) -> bool:
        """Run one cycle; returns whether another network runs now."""
        with self._turn:
            return self._cycle()

    def _cycle(self) -> bool:
        record = self._switching.record
        if record.begun != self._begun:
            self._begin(record.begun)
        self._measuring.look(record.whole)
        flow = self._measuring.flow()
        if record.begun is None or not flow:
            return False
        running = record.improved or record.begun
        surprise = self._surprise(running, record.begun)
        if surprise is None:
            return self._adapt(running, record.begun, flow)
        self._begin_anew(running, record.begun, flow, surprise)
        return True

    def _begin(self, begun: Network | None) -> None:
        """Forget expectations: a trial of one network says nothing about another."""
        self._begun, self._adaptation = begun, Adaptation()
        self._expected = Statistics()
        """The expected result of the last switch."""

    def _adapt(self, running: Network, begun: Network, flow: Mapping[str, float]) -> bool:
        """Switch to what should be better, or back from what turned out worse."""
        # A box that is split stays as its copies know it.
        fixed = with_past(begun) | {each.box for each in self._switching.record.splits}
        found = improve(begun, self._measuring.of(begun, fixed))
        expected = {**found.statistics.boxes, **self._measuring.of(found.network).boxes}
        now_us = cost(running, self._measuring.of(running), flow)
        then_us = cost(found.network, Statistics(expected), flow)
        tuples = sum(flow.values())
        seen = Seen(running, found.network, now_us, then_us, self._measuring.spent_us() / tuples, tuples)
        choice = self._adaptation.decide(seen)
        if choice is None:
            return False
        is_better = choice == found.network
        self._expected = found.statistics if is_better else Statistics()
        says = [rewrite.says for rewrite in found.applied] if is_better else [BACK]
        self._switch(begun, choice, says, now_us, then_us)
        return True

    # --- boxes that were joined

    def _surprise(self, running: Network, begun: Network) -> str | None:
        """What a joined box does that the last measures of its parts did not predict."""
        known, expected = self._measuring.of(running), self._expected
        for box, node in running.boxes.items():
            if box in begun.boxes and begun.boxes[box].box != node.box and known.knows(box):
                passed, before = known.passed(running, box), expected.passed(running, box)
                if expected.knows(box) and surprises(passed, before):
                    return f"{box} lets {100 * passed:.3g} % through where {100 * before:.3g} % were expected"
        return None

    def _begin_anew(self, running: Network, begun: Network, flow: Mapping[str, float], surprise: str) -> None:
        """Split joined boxes, to measure their parts one by one again."""
        now_us = cost(running, self._measuring.of(running), flow)
        self._measuring.keep(running)
        self._begin(begun)
        then_us = cost(begun, self._measuring.of(begun), flow)
        self._switch(begun, begun, [f"{surprise}: its parts are measured again"], now_us, then_us)

    # --- reporting

    def _switch(
        self, begun: Network, network: Network, says: list[str], now_us: float, then_us: float
    ) -> None:
        """Run another network, and record why, for everyone to see."""
        began = self._threads.ticks_ns()
        self._switching.to(
            # If somebody has changed the network meanwhile, this rewrite no longer applies.
            lambda known: replace(known, improved=network) if known.begun == begun else known
        )
        if self._switching.record.improved is not network:
            return
        self._measuring.keep(begun, network)
        self._measuring.begin(self._switching.record.whole)
        known = json.loads(self._catalog.meta(OPTIMISER) or "[]")
        entry = {
            "says": says,
            "cost_before": round(now_us, 3),
            "cost_after": round(then_us, 3),
            "switch_ms": round((self._threads.ticks_ns() - began) / 1e6, 1),
        }
        costs = now_us, then_us, "; ".join(says)
        _log.info("rewritten: from %.3f to %.3f us a tuple are expected: %s", *costs)
        with self._ledger.change() as change:
            change.set_meta(OPTIMISER, json.dumps([*known, entry][-KEPT:]))


BACK = "back to what ran before, which was faster"
KEPT = 50
"""How many switches are remembered."""
