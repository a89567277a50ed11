"""The switch: replaces the running plan by another one, between two trains (Aurora 3.1).

Superboxes to be replaced are held at one number of the log and drained up to it, while all others continue.
Then one change of the ledger replaces the old plan by the new one, together with the rows of stored tables
that it begins with: after a crash, the root has either plan, complete.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from australis.engine.change.difference import Difference, difference
from australis.engine.change.takeover import Cut, Takeover
from australis.engine.crash_points import crash_point
from australis.engine.ingest import Arrival
from australis.engine.ledger import NETWORK, Catalog, Record, StateFile, UnitOfWork, query_begins_at
from australis.engine.running import Running
from australis.engine.steer import SteeringPlan
from australis.engine.store import Root
from australis.engine.threads import Threads
from australis.engine.worker import RunTrain, write_plan
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan
from australis.policy.shed import Withdraw


class Passage:
    """What goes out of the node, or comes into it, with a switch; by itself, nothing."""

    leaving: frozenset[str] = frozenset()
    """Boxes whose work ends here, and is to have come as far as that of all others."""
    relayed: frozenset[str] = frozenset()
    """New outputs that begin with what these boxes would have read next."""
    continuing: frozenset[str] = frozenset()
    """New boxes that begin where those end."""

    def prepare(self, takeover: Takeover, root: Root, catalog: Catalog) -> dict[str, list[StateFile]]:
        """Write files, where nothing can see them yet; returns states that fresh superboxes begin with."""
        del takeover, root, catalog
        return {}

    def write(self, change: UnitOfWork, takeover: Takeover, meeting: int) -> None:
        """Add to the transaction of the switch, before the new plan is written."""

    def finish(self, change: UnitOfWork, meeting: int) -> None:
        """Add to it what the new plan must be there for."""


@dataclass(frozen=True)
class _Ready:
    """What was written before the switch: where workers find the plan, and what it begins with."""

    plan_file: str
    run: RunTrain
    states: Mapping[str, list[StateFile]]
    steering: SteeringPlan
    arrivals: Sequence[Arrival]


NOTHING = Passage()
_PREPARING, _DRAINING, _SWITCHING = "preparing", "draining", "switching"


class Switch:
    """Switches a running network from record to record, one at a time."""

    def __init__(
        self, running: Running, record: Record, prepare: Callable[[Plan], RunTrain], threads: Threads
    ) -> None:
        self._running, self._prepare_runner, self.record = running, prepare, record
        self._ledger, self._loop, self._state = running.ledger, running.loop, running.state
        self.turn = threads.lock()
        """Whoever has it changes the network, or lets nobody else do so."""
        self._is_cancelled = False
        self.stage = ""
        """What a switch that is under way is doing; empty if none is."""

    def cancel(self) -> None:
        """Give up a switch that is under way, unless it has come to its last step."""
        with self._ledger.guard as guard:
            self._is_cancelled = self.stage in (_PREPARING, _DRAINING)
            guard.notify()

    def difference(self, record: Record) -> Difference:
        """What a switch would do."""
        return self._difference(record, self._takeover(record))

    def _difference(self, record: Record, takeover: Takeover) -> Difference:
        return difference(self.record.drawn, record.drawn, takeover, self._ledger, self._running.clock())

    def to(
        self,
        redraw: Callable[[Record], Record],
        arrivals: Callable[[Record], Sequence[Arrival]] = lambda record: (),
        passage: Passage = NOTHING,
    ) -> Difference:
        """Switch to the record made from the present one; if that is impossible, nothing changes.

        `arrivals` are logged before the first train of the new plan. A `passage` carries states.
        """
        with self.turn, self._staged(), self._ledger.writing():
            self._ledger.settle()
            record = redraw(self.record)
            cuts = Cut.of(self.record), Cut.of(record)
            takeover = Takeover(*cuts, passage.leaving, passage.relayed, passage.continuing)
            found = self._difference(record, takeover)
            self._enter(_DRAINING)
            # What is taken over are files by name: no merge of layers may replace them meanwhile.
            with self._hold(takeover) as meeting, self._ledger.merging:
                self._enter(_SWITCHING)
                ready = self._prepare(takeover, arrivals(record), passage)
                with self._loop.turn, self._running.ingest.turn:
                    self._switch(takeover, record, ready, meeting, passage)
            return found

    @contextmanager
    def _staged(self) -> Iterator[None]:
        """Begin a switch, and end it."""
        self._is_cancelled, self.stage = False, _PREPARING
        try:
            yield
        finally:
            self.stage = ""

    def _enter(self, stage: str) -> None:
        """Come to the next stage, unless the switch is cancelled."""
        with self._ledger.guard:
            self._check_wanted()
            self.stage = stage

    def _check_wanted(self) -> None:
        if self._is_cancelled:
            what = "the change was cancelled; nothing has changed"
            raise EngineError(Problem(self._ledger.plan.network.name, what))

    def _takeover(self, record: Record) -> Takeover:
        return Takeover(Cut.of(self.record), Cut.of(record))

    # --- before

    @contextmanager
    def _hold(self, takeover: Takeover) -> Iterator[int]:
        """Hold the superboxes that end, and wait until those whose work continues are at one number."""
        with self._state.change_of_plan():
            # Hold them first where they are, so that none runs ahead while running trains finish.
            self._state.hold({name: self._ledger.queues.positions[name] for name in takeover.held})
            self._wait_until(lambda: not self._state.is_busy(takeover.held))
            meeting = self._meet(takeover.drained)
            self._wait_until(
                lambda: self._are_at(takeover.drained, meeting),
                lambda: self._check_comes(takeover.drained, meeting),
            )
            crash_point("change.held")
            yield meeting

    def _meet(self, drained: Collection[str]) -> int:
        """The number at which superboxes meet: the position of the one furthest ahead."""
        with self._ledger.guard:
            queues = self._ledger.queues
            meeting = max((queues.positions[name] for name in drained), default=queues.log_end)
            self._state.hold(dict.fromkeys(drained, meeting))
            return meeting

    def _wait_until(self, happened: Callable[[], bool], check: Callable[[], None] = lambda: None) -> None:
        def check_all() -> None:
            self._check_wanted()
            self._state.check_going(self._ledger.plan.network.name, "it could be changed")
            check()

        self._ledger.guard.wait_until(happened, check_all)

    def _are_at(self, drained: Collection[str], meeting: int) -> bool:
        """Whether superboxes held at a number have reached it, or have nothing to do up to it."""
        positions = self._ledger.queues.places_within(self._state.held).positions
        return not self._state.is_busy(drained) and all(positions[name] >= meeting for name in drained)

    def _check_comes(self, drained: Collection[str], meeting: int) -> None:
        """Raise if the draining is stopped, or needs a table that cannot be looked up."""
        queues, silent = self._ledger.queues, self._running.tables.silent()
        plan, positions = queues.plan, queues.positions
        for name in {each for box in drained for each in plan.upstream(box) if positions[each] < meeting}:
            self._state.check(name)
            for table in silent.keys() & plan.superboxes[name].tables.keys():
                what = f"tuples that come before the change have to look it up, but {silent[table]}"
                expected = "the change once it answers, or one without what looks it up"
                raise EngineError(Problem(f"{plan.network.name}.{table}", what, expected))

    def _prepare(self, takeover: Takeover, arrivals: Sequence[Arrival], passage: Passage) -> _Ready:
        """Write what the new plan needs, where nothing can see it yet."""
        root, new = self._ledger.root, takeover.new.plan
        plan_file = write_plan(root, {each.id: each for each in takeover.fresh})
        states = takeover.write_states(root, self._ledger.catalog)
        for name, files in passage.prepare(takeover, root, self._ledger.catalog).items():
            states[name] = [*states[name], *files]
        crash_point("change.prepared")
        steering = self._running.steering.prepare(new)
        return _Ready(plan_file, self._prepare_runner(new), states, steering, arrivals)

    # --- the switch

    def _switch(
        self, takeover: Takeover, record: Record, ready: _Ready, meeting: int, passage: Passage
    ) -> None:
        """Commit the new plan, and run trains on it. No train and no event comes in between."""
        running, now = self._running, self._running.clock()
        dropboxes = running.steering.dropboxes
        withdrawn = [Withdraw(name) for name in takeover.held if name in dropboxes.standing]
        queues = self._ledger.queues
        begins = {each.id: self._begin(takeover, record, each.id, meeting) for each in takeover.fresh}
        placed = running.ingest.place(ready.arrivals)
        dispatch = running.dispatch.prepare(takeover.new.plan, ready.plan_file, takeover.same)
        outdated, text = takeover.outdated, record.to_json()

        def follow() -> None:
            self.record, self._loop.run = record, ready.run
            running.dispatch.switch(dispatch)
            running.steering.switch(ready.steering)
            self._state.forget_failures(record.queries)

        crash_point("change.switching")
        with self._ledger.change() as change:
            dropboxes.write(change, withdrawn, now)
            passage.write(change, takeover, meeting)
            takeover.write(change, ready.states, begins, outdated)
            self._move_readers(change, takeover, begins, queues.log_end)
            passage.finish(change, meeting)
            for each in placed:
                running.ingest.write(change, each)
            change.set_meta(NETWORK, text)
            change.bury(running.dispatch.unused(dispatch))
            change.follow(follow)
        crash_point("change.switched")

    def _begin(self, takeover: Takeover, record: Record, superbox: str, meeting: int) -> int:
        """Where a fresh superbox begins: where others ended, where history does, or with the next tuple."""
        queues, new = self._ledger.queues, takeover.new.plan.superboxes[superbox]
        query = superbox.partition(".")[0]
        if query in record.queries and query not in self.record.queries:
            points = [name for name, given in record.queries[query].inputs.items() if not given.table]
            now = self._running.clock()
            return min((query_begins_at(queues, point, now) for point in points), default=queues.log_end)
        return takeover.begin(new, queues, meeting)

    def _move_readers(
        self, change: UnitOfWork, takeover: Takeover, begins: Mapping[str, int], log_end: int
    ) -> None:
        """Forget the consumers of removed outputs; others continue where the new arc begins."""
        new = takeover.new.plan
        for (consumer, output), seq in change.queues.consumers.items():
            if output not in new.outputs:
                change.drop_consumer(consumer, output)
            elif not takeover.stays(output):
                begin = begins.get(new.arcs[new.outputs[output]].writer or "", log_end)
                change.set_consumer(consumer, output, max(seq, begin))
