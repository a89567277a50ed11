"""Switching: another plan in the place of the one that runs, between two trains (Aurora 3.1).

What is about to be replaced is held at one number of the log and drained up to it, while all else goes on.
Then no train starts for a moment, and one transaction puts the new plan in the place of the old one: a crash
leaves one of them, whole.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from australis.engine.change.difference import Change, difference
from australis.engine.change.takeover import Cut, Takeover
from australis.engine.crash_points import crash_point
from australis.engine.ledger.catalog import NETWORK, StateFile, Transaction
from australis.engine.ledger.record import Record
from australis.engine.runner import Run
from australis.engine.running import Running
from australis.engine.worker.plan_files import write_plan
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan
from australis.policy.shed.shedder import Withdraw


@dataclass(frozen=True)
class _Ready:
    """What was written before the switch: where workers find the plan, and the states that it begins with."""

    plan_file: str
    run: Run
    states: Mapping[str, list[StateFile]]


class Switching:
    """Switches a network that runs from record to record, one after the other."""

    def __init__(self, running: Running, record: Record, prepare: Callable[[Plan], Run]) -> None:
        self._running, self._prepare, self.record = running, prepare, record
        self._ground, self._loop = running.ground, running.loop
        self._turn = threading.Lock()

    def difference(self, record: Record) -> Change:
        """What a switch would do."""
        with self._ground.changed:
            drawn = self.record.drawn, record.drawn
            return difference(*drawn, self._takeover(record), self._ground)

    def to(self, redrawn: Callable[[Record], Record], then: Callable[[], None] = lambda: None) -> Change:
        """Switch to what is made of the present record; when it cannot be, all stays as it is.

        `then` is called before the first train of the new plan.
        """
        with self._turn:
            record = redrawn(self.record)
            found = self.difference(record)
            takeover = self._takeover(record)
            with self._held(takeover) as meeting:
                ready = self._prepared(takeover)
                with self._barred():
                    self._switch(takeover, record, ready, meeting)
                    then()
            return found

    def _takeover(self, record: Record) -> Takeover:
        old, new = self.record, record
        return Takeover(Cut(old.plan, old.partitions), Cut(new.plan, new.partitions))

    # --- before

    @contextmanager
    def _held(self, takeover: Takeover) -> Iterator[int]:
        """Hold the superboxes that end at one number, and wait until all are there whose work goes on."""
        queues, changed = self._ground.queues, self._ground.changed
        try:
            with changed:
                # First where they are, so that none runs ahead while trains on their way come in.
                queues.held = {name: queues.heads[name].seq for name in takeover.held}
                self._wait_for(lambda: not any(name in self._loop.busy for name in takeover.held))
                drained = takeover.drained
                meeting = max((queues.heads[name].seq for name in drained), default=queues.log_end)
                queues.held |= dict.fromkeys(drained, meeting)
                changed.notify_all()
                self._wait_for(
                    lambda: all(self._is_at(name, meeting) for name in drained),
                    lambda: self._check_comes(drained, meeting),
                )
            crash_point("change.held")
            yield meeting
        finally:
            with changed:
                queues.held = {}
                changed.notify_all()

    def _wait_for(self, happened: Callable[[], bool], check: Callable[[], None] = lambda: None) -> None:
        while not happened():
            self._check_goes_on()
            check()
            self._ground.changed.wait()

    def _is_at(self, superbox: str, meeting: int) -> bool:
        """Whether a superbox has come to a number, or has nothing to do up to it."""
        queues, loop = self._ground.queues, self._loop
        if superbox in loop.busy:
            return False
        if queues.end(queues.plan.superboxes[superbox]) == meeting:
            # With nothing in between that concerns it, asking is what moves it.
            self._running.trains.due(queues.plan.superboxes[superbox])
        return queues.heads[superbox].seq == meeting

    def _check_goes_on(self) -> None:
        loop, name = self._loop, self._ground.plan.network.name
        loop.check()
        if loop.stopping:
            raise EngineError(Problem(name, "is stopped before it could be changed"))
        if loop.paused:
            raise EngineError(Problem(name, "is paused with tuples on their way", "resume() first"))

    def _check_comes(self, drained: Collection[str], meeting: int) -> None:
        """Raise if what is to be drained stands still, or has to look up a table that does not answer."""
        plan, heads, silent = self._ground.plan, self._ground.queues.heads, self._ground.tables.silent()
        for name in {each for box in drained for each in plan.upstream(box) if heads[each].seq < meeting}:
            self._loop.check(name)
            for table in silent.keys() & plan.superboxes[name].tables.keys():
                what = f"tuples that come before the change have to look it up, but {silent[table]}"
                expected = "the change once it answers, or one without what looks it up"
                raise EngineError(Problem(f"{plan.network.name}.{table}", what, expected))

    def _prepared(self, takeover: Takeover) -> _Ready:
        """Write what the new plan needs, where nothing sees it so far."""
        root, new = self._ground.root, takeover.new.plan
        plan_file = write_plan(root, {each.id: each for each in takeover.fresh})
        states = takeover.states(root, self._ground.catalog)
        crash_point("change.prepared")
        return _Ready(plan_file, self._prepare(new), states)

    @contextmanager
    def _barred(self) -> Iterator[None]:
        """Let no train start inside, and wait for those on their way."""
        loop, changed = self._loop, self._ground.changed
        with changed:
            loop.barred = True
            try:
                while loop.busy:
                    changed.wait()
                yield
            finally:
                loop.barred = False
                changed.notify_all()

    # --- the switch

    def _switch(self, takeover: Takeover, record: Record, ready: _Ready, meeting: int) -> None:
        ground, now = self._ground, self._ground.clock()
        gone = [name for name in takeover.held if name in self._running.steering.dropboxes.standing]
        self._running.steering.dropboxes.obey([Withdraw(name) for name in gone], now)
        begins = {each.id: self._begin(takeover, record, each.id, meeting) for each in takeover.fresh}
        crash_point("change.switching")
        with ground.catalog.transaction() as transaction:
            buried = takeover.write(transaction, ground.queues, ready.states, begins)
            for name in takeover.same:
                transaction.set_head(name, ground.queues.heads[name])
            self._readers(transaction, takeover, begins)
            transaction.set_meta(NETWORK, record.to_json())
        crash_point("change.switched")
        self.record = record
        ground.queues.switch(takeover.new.plan, ground.catalog)
        buried += self._running.trains.switch(ready.plan_file, takeover.same)
        self._running.steering.switch()
        self._loop.run = ready.run
        self._loop.failed = {name: e for name, e in self._loop.failed.items() if name in record.queries}
        ground.graveyard.bury(buried)

    def _begin(self, takeover: Takeover, record: Record, superbox: str, meeting: int) -> int:
        """Where a fresh superbox begins: where others ended, where history does, or with the next tuple."""
        queues, new = self._ground.queues, takeover.new.plan.superboxes[superbox]
        query = superbox.partition(".")[0]
        if query in record.queries and query not in self.record.queries:
            points = [name for name, given in record.queries[query].inputs.items() if not given.table]
            return min(
                (queues.begin(point, self._ground.clock()) for point in points), default=queues.log_end
            )
        return takeover.begin(new, queues, meeting)

    def _readers(self, transaction: Transaction, takeover: Takeover, begins: Mapping[str, int]) -> None:
        """Forget the consumers of outputs that are gone; others read on where the new arc begins."""
        new, queues = takeover.new.plan, self._ground.queues
        for (consumer, output), seq in queues.consumers.items():
            if output not in new.outputs:
                transaction.drop_consumer(consumer, output)
            elif not takeover.stays(output):
                writer = new.arcs[new.outputs[output]].writer
                begin = begins.get(writer or "", queues.log_end)
                transaction.set_consumer(consumer, output, max(seq, begin))
