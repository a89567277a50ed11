"""Our side: a stream through the scene on a node, with a given schedule, with or without drop boxes.

A tuple can be read when its train is committed; a train reports which part of the log it took. So what each
output received of every batch is known to the tuple, and for a train with drop boxes the fraction they
admitted.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.engine.processes import cpu_seconds
from benchmarks.qos.feed import Feed
from benchmarks.qos.judging import Pieces
from benchmarks.qos.scene import HOSTS, INPUT, WINDOW_S, WINDOWED, branches, network
from benchmarks.qos.streams import PERIOD_S, Stream, read_stream

from australis import Node
from australis.engine.ledger import Entry
from australis.engine.spark import local_session
from australis.engine.train import Train

TRAIN = 250_000
"""The most tuples of a train, for all schedules: in longer trains a tuple of this scene takes more time."""
BATCHES_PER_WINDOW = round(WINDOW_S / PERIOD_S)


@dataclass
class Log:
    """What a node reported: the trains with the time of each, and the position of each batch in its log."""

    trains: list[tuple[float, Train]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def hear(self, train: Train) -> None:
        self.trains.append((time.time(), train))

    def of(self, superbox: str) -> list[tuple[float, Train]]:
        """The trains of a superbox, joined to others or not; one runs at a time, so they are in order."""
        return [(at, train) for at, train in self.trains if superbox in train.superbox.split(">")]

    def parts(self) -> dict[str, float]:
        """The part of the time of all trains that those of each superbox took."""
        found: dict[str, int] = {}
        for _, train in self.trains:
            found[train.superbox] = found.get(train.superbox, 0) + train.run_us
        return {name: each / sum(found.values()) for name, each in found.items()}


def begin() -> None:
    """The session that nodes share."""
    local_session(light=True)


def capacity(job: dict[str, Any]) -> dict[str, Any]:
    """Tuples per second through the whole scene: a backlog in long trains, all boxes at once or in turns.

    `parts` is the part of the time that the trains of each branch took.
    """
    at_once, in_turns = (_drained(job, discipline) for discipline in ("superbox", "branch"))
    best = max(at_once, in_turns, key=lambda each: float(each["capacity"]))
    return {**best, "parts": in_turns["parts"]}


def _drained(job: dict[str, Any], discipline: str) -> dict[str, Any]:
    stream = read_stream(Path(job["stream"]))
    rates, cpu_us, log = [], [], Log()
    for attempt in range(job["attempts"]):
        root = Path(job["scratch"]) / f"capacity-{attempt}"
        with _node(root, discipline, "round-robin") as node:
            node.deploy(network())
            _warm_up(node, read_stream(Path(job["warm_up"])))
            node.on_train(log.hear)
            began, used = time.perf_counter(), cpu_seconds()
            for path in stream.files:
                node.adopt(INPUT, path)
            node.drain()
            rates.append(stream.tuples / (time.perf_counter() - began))
            cpu_us.append((cpu_seconds() - used) / stream.tuples * 1e6)
        shutil.rmtree(root, ignore_errors=True)
    # Other programs on the machine can only reduce it.
    return {
        "capacity": max(rates),
        "least": min(rates),
        "most": max(rates),
        "cpu_us": min(cpu_us),
        "parts": log.parts(),
    }


def run(job: dict[str, Any]) -> dict[str, Any]:
    """A stream at its pace; what was not through at its end is late for ever."""
    stream, log = read_stream(Path(job["stream"])), Log()
    # Abandoned tasks may still write; they have another root than the next run.
    root = Path(tempfile.mkdtemp(dir=job["scratch"]))
    node = _node(root, job["discipline"], job["schedule"], shed=job["shed"])
    try:
        node.deploy(network())
        _warm_up(node, read_stream(Path(job["warm_up"])))
        node.on_train(log.hear)
        feed, used = Feed.soon(stream), cpu_seconds()
        late = feed.run(lambda path, due: log.ends.append(node.adopt(INPUT, path, now=int(due * 1e6))))
        used = cpu_seconds() - used
        node.check()
        entries = [_entry(each, feed) for each in node.shed()]
    finally:
        node.stop(now=True)
        shutil.rmtree(root, ignore_errors=True)
    found = {
        output: _pieces(output, branch, log, feed)
        for output, branch in branches(network(), job["discipline"]).items()
    }
    return {
        "outputs": {name: pieces.to_json() for name, pieces in found.items()},
        "until": stream.seconds,
        "late": late,
        "cpu_s": used,
        "entries": entries,
        "trains": len(log.trains),
        "processed": _processed(log, feed, job.get("span", (0.0, stream.seconds))),
    }


def _node(root: Path, discipline: str, schedule: str, *, shed: bool = False) -> Node:
    return Node(root, discipline=discipline, schedule=schedule, shed=shed, train=TRAIN)


def _warm_up(node: Node, stream: Stream) -> None:
    """Trains of several lengths, so that kernels are loaded and costs are known."""
    for count in (1, 1, 2, 4, 8, 1, 4, 2, 1):
        for path in stream.files[:count]:
            node.adopt(INPUT, path)
        node.drain()
        stream = Stream(stream.files[count:], stream.due[count:])


def _entry(entry: Entry, feed: Feed) -> dict[str, Any]:
    """A drop box in the ledger, by the time of the stream."""
    since, until = (None if each is None else each / 1e6 - feed.begin for each in (entry.since, entry.until))
    return {
        "superbox": entry.superbox,
        "share": entry.share,
        "since": since,
        "until": until,
        "arrived": entry.arrived,
        "shed": entry.shed,
    }


# --- what came of it


def _processed(log: Log, feed: Feed, span: Sequence[float]) -> dict[str, float]:
    """The part of the tuples offered in a period that trains of each superbox processed in it."""
    batches = np.arange(len(feed.stream.files)) * PERIOD_S
    inside = feed.stream.due[(batches >= span[0]) & (batches < span[1])]
    offered, passing = inside[:, 0].sum(), inside[:, 1].sum()
    found: dict[str, float] = {}
    for at, train in log.trains:
        if not span[0] <= at - feed.begin < span[1]:
            continue
        first, *others = train.superbox.split(">")
        came = train.received / (offered if INPUT in train.reads else passing)
        # A train goes on to the next superbox only where nothing is shed.
        for name in (first, *others):
            found[name] = found.get(name, 0.0) + came
    return found


def _pieces(output: str, branch: str, log: Log, feed: Feed) -> Pieces:
    edges, delivered, kept = _steps(branch, log, feed)
    if output == WINDOWED:
        return _windows(edges, delivered, kept, log, feed)
    due = feed.stream.due[: len(log.ends), 2 if output == "alarms" else 1]
    return _batches(due, edges, delivered, kept, log, feed.stream)


def _steps(branch: str, log: Log, feed: Feed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The positions in the log where trains ended, when they were committed, and what they admitted.

    The last step is for what no train has taken.
    """
    trains = log.of(branch)
    ends = np.array([train.hi for _, train in trains])
    starts = np.array([train.lo for _, train in trains])
    passing = _passing(ends, log, feed.stream) - _passing(starts, log, feed.stream)
    received = np.array([train.received for _, train in trains])
    # Drop boxes are before branches, and a train does not continue past one. How many tuples of a part of a
    # batch pass the filter is known only approximately.
    alone = np.array([train.superbox == branch for _, train in trains], bool)
    kept = np.where(alone & (received < 0.99 * passing), received / np.maximum(passing, 1), 1.0)
    delivered = np.array([at - feed.begin for at, _ in trains])
    return ends, np.append(delivered, np.inf), np.append(kept, 1.0)


def _passing(places: np.ndarray, log: Log, stream: Stream) -> np.ndarray:
    """How many tuples before some positions of the log pass the filter."""
    sizes, passing = stream.due[: len(log.ends), 0], stream.due[: len(log.ends), 1]
    ends = np.array(log.ends, float)
    xs = np.concatenate([[ends[0] - sizes[0] - 1], ends])
    found: np.ndarray = np.interp(places, xs, np.concatenate([[0], np.cumsum(passing)]))
    return found


def _batches(
    due: np.ndarray, edges: np.ndarray, delivered: np.ndarray, kept: np.ndarray, log: Log, stream: Stream
) -> Pieces:
    """Each batch in the parts that trains took of it."""
    found = []
    for number, end in enumerate(log.ends):
        # In the log a batch has a number for each tuple, and one before them.
        size = int(stream.due[number, 0]) + 1
        start = end - size
        first, last = np.searchsorted(edges, [start, end - 1], side="right")
        cuts = np.clip([start, *edges[first:last], end], start, end)
        parts = np.diff(cuts) / size
        for step, part in zip(range(first, last + 1), parts.tolist(), strict=True):
            if part > 0:
                found.append((number * PERIOD_S, delivered[step], due[number] * part, kept[step]))
    return Pieces(*(np.array(column, float) for column in zip(*found, strict=True)))


def _windows(edges: np.ndarray, delivered: np.ndarray, kept: np.ndarray, log: Log, feed: Feed) -> Pieces:
    """Each window: it began with its first batch, and is closed by the first tuples after its last one."""
    closing = np.arange(BATCHES_PER_WINDOW, len(log.ends), BATCHES_PER_WINDOW)
    causes = np.array(log.ends)[closing - 1] + feed.stream.due[closing, 3]
    steps = np.searchsorted(edges, causes, side="right")
    arrived = (closing - BATCHES_PER_WINDOW) * PERIOD_S
    return Pieces(arrived, delivered[steps], np.full(len(closing), float(HOSTS)), kept[steps])
