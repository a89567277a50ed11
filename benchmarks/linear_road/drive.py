"""One run on a node, in a fresh process: `python -m benchmarks.linear_road.drive JOB`, a JSON text.

The traffic before the live minutes is pushed as fast as it goes and fills the state. Then the clock of the
road is that of the machine: the reports of a second arrive evenly within it, and what has arrived is pushed
every so many milliseconds; a push that is late shortens no response time. A response time lasts from the
arrival of a report, or a request, until a subscriber has the notification that it causes, so it includes the
wait for the push. The last line is JSON.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from benchmarks.engine.processes import resident_bytes
from benchmarks.linear_road.processors import Used, used
from benchmarks.linear_road.traffic import EXPENDITURE, history, write_history
from benchmarks.saying import say

import australis

NETWORK = Path(__file__).resolve().parents[2] / "examples" / "linear_road" / "linear_road.yaml"
BY_REQUEST = ("balances", "expenditures")
"""The outputs that answer requests; the others answer reports, whose number they have."""
OUTPUTS = ("tolls", "accidents", *BY_REQUEST)
PUSH_MAX = 500_000
"""How many tuples of the past are pushed together, at most."""
LIMIT_S = 5.0
"""Within which a notification has to come; for daily expenditure it would be twice that."""


@dataclass(frozen=True)
class Job:
    """What is run."""

    folder: str
    expressways: int
    live_minutes: float
    runner: str = "light"
    push_every_ms: int = 200
    stretch: float = 1.0
    """How many seconds a second of the road takes; all times are those of the road."""
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Driven:
    """How it went: response times in seconds, and what the machine did."""

    tuples: int
    live_tuples: int
    warm_up_s: float
    p50_s: dict[str, float]
    p99_s: dict[str, float]
    max_s: dict[str, float]
    over_limit: int
    responses: int
    cpu_s_per_s: float
    waited_s_per_s: float
    """How long threads waited for a processor, as others used it."""
    past_cpu_us: float
    """Of a tuple that was pushed as fast as it went."""
    memory_mb: float
    last_push_late_s: float
    late_tuples: int

    @property
    def p99_all_s(self) -> float:
        return max(self.p99_s.values())

    @property
    def max_all_s(self) -> float:
        return max(self.max_s.values())


class Arrivals:
    """When each tuple of the live minutes arrives, in seconds after their beginning."""

    def __init__(self, times: np.ndarray) -> None:
        self._times = times
        self._first_s = int(times[0])
        self._starts = np.searchsorted(times, np.arange(self._first_s, int(times[-1]) + 2))

    def at(self, rows: np.ndarray) -> np.ndarray:
        """The moments of some tuples: those of a second come evenly within it, in their order."""
        second = self._times[rows] - self._first_s
        start, end = self._starts[second], self._starts[second + 1]
        moments: np.ndarray = second + (rows - start + 1) / (end - start + 1)
        return moments

    def until(self, moment: float) -> int:
        """How many tuples have arrived by a moment."""
        second = min(int(moment), len(self._starts) - 2)
        start, end = self._starts[second], self._starts[second + 1]
        return int(start + min(moment - second, 1.0) * (end - start))


class Received:
    """What the subscribers of all outputs have received, and when."""

    def __init__(self, node: australis.Node) -> None:
        self.tables: dict[str, list[tuple[float, pa.Table]]] = {name: [] for name in OUTPUTS}
        self._counts = dict.fromkeys(OUTPUTS, 0)
        self._changed = threading.Condition()
        self._subscriptions = {name: node.subscribe(name) for name in OUTPUTS}
        self._threads = [threading.Thread(target=self._take, args=(name,), daemon=True) for name in OUTPUTS]
        for thread in self._threads:
            thread.start()

    def _take(self, name: str) -> None:
        for table in self._subscriptions[name]:
            moment = time.monotonic()
            self.tables[name].append((moment, table.drop_columns(["#ts"])))
            with self._changed:
                self._counts[name] += len(table)
                self._changed.notify_all()

    def finish(self, wanted: Mapping[str, int]) -> None:
        """Wait until so many tuples have come."""
        with self._changed:
            self._changed.wait_for(lambda: all(self._counts[name] >= wanted[name] for name in OUTPUTS), 120)
        for subscription in self._subscriptions.values():
            subscription.close()
        for thread in self._threads:
            thread.join()
        if self._counts != dict(wanted):
            raise SystemExit(f"received {self._counts}, expected {dict(wanted)}")


def drive(job: Job) -> Driven:
    """Run the traffic of a folder; the results go there as Parquet files."""
    folder = Path(job.folder)
    minutes = Minutes.of(folder / "traffic.arrow", job.live_minutes * 60)
    live = minutes.live()
    write_history(folder, history(minutes.asking(), job.expressways))
    network = australis.load(shutil.copy(NETWORK, folder))
    with australis.Node(folder / "root", runner=job.runner, **job.settings) as node:
        node.deploy(network)
        received = Received(node)
        began, before, at_first = time.monotonic(), 0, used()
        for part in minutes.past():
            node.push("traffic", part)
            before += len(part)
        node.drain()
        warm_up_s, warm_up = time.monotonic() - began, used() - at_first
        say(f"  {before:,} tuples before: {warm_up_s:.1f} s")
        pushed = _live(node, live, job)
        node.flush()
        node.drain()
        statistics = node.statistics()
        received.finish({name: statistics.outputs[name].tuples for name in OUTPUTS})
        late = sum(counted.late for counted in statistics.boxes.values())
        memory_mb = resident_bytes() / 1e6
    _save(folder, network, received)
    responses = _responses(received, live, pushed, job.stretch)
    every = np.concatenate(list(responses.values()))
    return Driven(
        before + len(live),
        len(live),
        warm_up_s,
        *({name: _of(found, what) for name, found in responses.items()} for what in (50, 99, 100)),
        int((every > LIMIT_S).sum()),
        len(every),
        pushed.used.ran_s,
        pushed.used.waited_s,
        warm_up.ran_s / max(before, 1) * 1e6,
        memory_mb,
        pushed.last_late_s,
        late,
    )


def _of(found: np.ndarray, percentile: int) -> float:
    return float(np.percentile(found, percentile)) if len(found) else 0.0


@dataclass(frozen=True)
class Minutes:
    """The traffic of a file, a round at a time, divided at a time."""

    source: pa.RecordBatchFileReader
    live_from_s: float

    @staticmethod
    def of(file: Path, live_s: float) -> Minutes:
        source = pa.ipc.open_file(pa.memory_map(str(file)))
        last = source.get_batch(source.num_record_batches - 1)
        return Minutes(source, last["time"][-1].as_py() + 1 - live_s)

    def rounds(self) -> Iterator[pa.RecordBatch]:
        return (self.source.get_batch(number) for number in range(self.source.num_record_batches))

    def past(self) -> Iterator[pa.Table]:
        """What came before the live minutes, in parts."""
        for batch in self.rounds():
            cut = self._cut(batch)
            for start in range(0, cut, PUSH_MAX):
                yield pa.Table.from_batches([batch.slice(start, min(PUSH_MAX, cut - start))])

    def live(self) -> pa.Table:
        """What comes in the live minutes."""
        cuts = ((batch, self._cut(batch)) for batch in self.rounds())
        return pa.Table.from_batches([batch.slice(cut) for batch, cut in cuts if cut < len(batch)])

    def asking(self) -> np.ndarray:
        """The cars that ask for what they have spent."""
        found = [batch["vid"].filter(pc.equal(batch["type"], EXPENDITURE)) for batch in self.rounds()]
        return pa.chunked_array(found, pa.int32()).to_numpy()

    def _cut(self, batch: pa.RecordBatch) -> int:
        return int(np.searchsorted(batch["time"].to_numpy(), self.live_from_s))


# --- the live minutes


@dataclass(frozen=True)
class Pushed:
    """What was pushed live: when it began, which rows got which numbers, and what that cost."""

    began: float
    rows: np.ndarray
    """The first row of each push."""
    seqs: np.ndarray
    """The number of that row; other events may have come between two pushes."""
    used: Used
    """In a second of the road."""
    last_late_s: float

    def rows_of(self, seqs: np.ndarray) -> np.ndarray:
        """The rows that have some numbers; -1 for what came before."""
        push = np.searchsorted(self.seqs, seqs, "right") - 1
        return np.where(push < 0, -1, self.rows[push] + seqs - self.seqs[push])


def _live(node: australis.Node, live: pa.Table, job: Job) -> Pushed:
    """Push what has arrived, every so often, until all has."""
    arrivals = Arrivals(live["time"].to_numpy())
    every_s = job.push_every_ms / 1e3 * job.stretch
    at_first, began, done, step, late_s = used(), time.monotonic(), 0, 0, 0.0
    rows, seqs = [], []
    while done < len(live):
        step += 1
        due = began + step * every_s
        time.sleep(max(0.0, due - time.monotonic()))
        # Also what has arrived while the last push took longer than its time.
        until = arrivals.until((time.monotonic() - began) / job.stretch)
        if until > done:
            end = node.push("traffic", live.slice(done, until - done))
            assert end is not None, "a push without a position is never there already"
            rows.append(done)
            seqs.append(end - (until - done))
            done = until
        late_s = time.monotonic() - due
    seconds = (time.monotonic() - began) / job.stretch
    return Pushed(began, np.array(rows), np.array(seqs), (used() - at_first) / seconds, late_s)


def _responses(received: Received, live: pa.Table, pushed: Pushed, stretch: float) -> dict[str, np.ndarray]:
    """The response times of each output, of what was caused live."""
    arrivals = Arrivals(live["time"].to_numpy())
    row_of = _rows_by_request(live)
    found = {}
    for name in OUTPUTS:
        times = []
        for moment, table in received.tables[name]:
            if name in BY_REQUEST:
                rows = row_of[np.minimum(table["qid"].to_numpy(), len(row_of) - 1)]
            else:
                rows = pushed.rows_of(table["#seq"].to_numpy())
            times.append((moment - pushed.began) / stretch - arrivals.at(rows[rows >= 0]))
            if name not in BY_REQUEST:
                _check_rows(live, rows, table)
        found[name] = np.concatenate(times) if times else np.zeros(0)
    return found


def _rows_by_request(live: pa.Table) -> np.ndarray:
    """The row of each request by its number; -1 where it came before."""
    qids = live["qid"].to_numpy()
    rows = np.full(max(int(qids.max()), 0) + 2, -1)
    asked = np.flatnonzero(qids >= 0)
    rows[qids[asked]] = asked
    return rows


def _check_rows(live: pa.Table, rows: np.ndarray, table: pa.Table) -> None:
    """Refuse to measure a notification by another report than its own."""
    own = pa.array(rows[rows >= 0])
    mine = table.filter(pa.array(rows >= 0))
    if not all(live[name].take(own).equals(mine[name]) for name in ("vid", "time")):
        raise SystemExit("a notification has another number than its report")


def _save(folder: Path, network: australis.Network, received: Received) -> None:
    for name in OUTPUTS:
        names = network.output_schema(name).names
        schema = pa.schema(network.output_schema(name).arrow)
        tables = [table.select(names) for _, table in received.tables[name]]
        pq.write_table(
            pa.concat_tables(tables) if tables else schema.empty_table(), folder / f"{name}.parquet"
        )


def main(job: str) -> None:
    print(json.dumps(asdict(drive(Job(**json.loads(job))))))


if __name__ == "__main__":
    import sys

    main(sys.argv[1])
