"""`python -m benchmarks.others.topics`: the delay of a filter and a map from topic to topic, and its cost.

Ten messages come every 10 ms, 1,000 a second. The delay of a message lasts from the moment when it was due to
be sent until a reader of committed messages has what follows from it; broker and reader are the same for all.
The sides are our runners, Structured Streaming in micro-batches and in its real-time mode, and Flink. Ours
write each message exactly once, in transactions; the others at least once, since Spark's sink has nothing
else, and since Flink's transactions would end with its checkpoints. Each side runs by itself, in turn. The
last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import numpy as np
from benchmarks.engine.processes import cpu_seconds
from benchmarks.others.__main__ import FLINK, ROOT
from benchmarks.saying import run, say
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from rich.console import Console
from rich.table import Table
from tests.kafka.broker import Broker, missing

from australis.engine.spark.java import find_java

PERIOD_S, BATCH = 0.01, 10
WARM_UP_S, PATIENCE_S = 15.0, 60.0
SIDES = ("australis", "light", "micro_batches", "real_time", "flink")
JARS = {"micro_batches": "spark-kafka", "real_time": "spark-kafka", "flink": "flink-kafka"}


@dataclass(frozen=True)
class Delays:
    """The delays of the messages after the warm-up, and the CPU seconds of the side in a second."""

    delays_ms: np.ndarray
    cpu_s: float

    @property
    def median_ms(self) -> float:
        return float(np.median(self.delays_ms))


@dataclass
class Reader:
    """What arrives in the topic of results, and when."""

    servers: str
    expected: frozenset[int]
    found: dict[int, float] = field(default_factory=dict)
    whole: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def read(self) -> None:
        """Read until all is there, or nobody waits for it any more."""
        settings = {
            "bootstrap.servers": self.servers,
            "group.id": "readers",
            "isolation.level": "read_committed",
        }
        consumer = Consumer({**settings, "enable.auto.commit": False})
        consumer.assign([TopicPartition("results", 0, OFFSET_BEGINNING)])
        while not self._ended.is_set():
            messages = consumer.consume(1_000, 0.02)
            now = time.time()
            for message in messages:
                made = json.loads(message.value() or b"")
                if made["id"] not in self.expected or made["value"] != value_of(made["id"]) * 2 + 1:
                    raise SystemExit(f"nobody asked for {made}")
                self.found.setdefault(made["id"], now)
            if len(self.found) == len(self.expected):
                self.whole.set()
        consumer.close()

    def end(self) -> None:
        self._ended.set()


def value_of(number: int) -> float:
    """The value of a message: half of them are more than 50."""
    return float(number * 7919 % 1_000) / 10


def main() -> None:
    """Measure the chosen sides in turn, print a table and, last, a line of JSON."""
    arguments = _arguments()
    if (why := missing()) is not None:
        raise SystemExit(why)
    found: dict[str, list[Delays]] = {side: [] for side in arguments.side or SIDES}
    with tempfile.TemporaryDirectory(prefix="bench-topics-") as scratch:
        for number in range(arguments.passes):
            for side, made in found.items():
                made.append(_measured(side, Path(scratch) / f"{side}-{number}", arguments.seconds))
                say(f"    {side}: {made[-1].median_ms:.1f} ms, {made[-1].cpu_s:.2f} CPU seconds in a second")
    _print(found)
    print(json.dumps({name: value for side, made in found.items() for name, value in _figures(side, made)}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.others.topics")
    parser.add_argument("--side", action="append", choices=SIDES, help="only this one; may be repeated")
    parser.add_argument("--passes", type=int, default=3, help="of each side, in turn")
    parser.add_argument("--seconds", type=float, default=45.0, help="of a pass, with the warm-up")
    return parser.parse_args()


def _measured(side: str, folder: Path, seconds: float) -> Delays:
    """One pass of a side, with a broker of its own."""
    folder.mkdir(parents=True)
    broker = Broker(folder / "broker")
    broker.start()
    try:
        for topic in ("messages", "results"):
            broker.create(topic)
        with _running(side, broker.servers, folder) as process:
            return _fed(process, broker.servers, int(seconds / PERIOD_S))
    finally:
        broker.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _fed(process: int, servers: str, batches: int) -> Delays:
    counted = batches * BATCH
    reader = Reader(servers, frozenset(number for number in range(counted) if value_of(number) > 50))
    thread = threading.Thread(target=reader.read)
    thread.start()
    try:
        begin, cpu_s = _feed(process, servers, batches)
        if not reader.whole.wait(PATIENCE_S):
            raise SystemExit(f"{len(reader.expected) - len(reader.found)} results never came")
    finally:
        reader.end()
        thread.join()
    numbers = np.array(list(reader.found))
    delays = np.array(list(reader.found.values())) - (begin + numbers // BATCH * PERIOD_S)
    return Delays(delays[numbers * PERIOD_S / BATCH >= WARM_UP_S] * 1e3, cpu_s)


def _feed(process: int, servers: str, batches: int) -> tuple[float, float]:
    """Send all messages when they are due; returns when that began, and the CPU seconds in a second of it."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
    begin, used = time.time(), 0.0
    for batch in range(batches):
        time.sleep(max(0.0, begin + batch * PERIOD_S - time.time()))
        if batch == int(WARM_UP_S / PERIOD_S):
            used = cpu_seconds(process)
        for number in range(batch * BATCH, (batch + 1) * BATCH):
            message = {"id": number, "key": number % 1_000, "value": value_of(number)}
            producer.produce("messages", json.dumps(message).encode())
        producer.poll(0)
    cpu = cpu_seconds(process) - used
    producer.flush()
    return begin, cpu / (batches * PERIOD_S - WARM_UP_S)


@contextmanager
def _running(side: str, servers: str, folder: Path) -> Iterator[int]:
    """A side's process; the end of its input ends it."""
    job = {
        "side": side,
        "servers": servers,
        "folder": str(folder),
        "jars": str(ROOT / "build" / JARS.get(side, "")),
    }
    python, module = (FLINK.python, "flink_topic") if side == "flink" else (Path(sys.executable), "our_topic")
    module = "spark_topic" if side in ("micro_batches", "real_time") else module
    command = [str(python), "-m", f"benchmarks.others.{module}", json.dumps(job)]
    environment = {**os.environ, "JAVA_HOME": str(find_java())}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=sys.stderr, env=environment) as process:
        assert process.stdin is not None
        try:
            yield process.pid
        finally:
            process.stdin.close()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()


# --- printing


def _print(found: dict[str, list[Delays]]) -> None:
    table = Table("side", "median, ms", "medians of passes", "p95", "p99", "CPU seconds in a second")
    for side, made in found.items():
        delays = np.concatenate([each.delays_ms for each in made])
        medians = sorted(each.median_ms for each in made)
        tails = (f"{np.percentile(delays, part):.1f}" for part in (95, 99))
        cpu_s = fmean(each.cpu_s for each in made)
        table.add_row(
            side, f"{np.median(delays):.1f}", f"{medians[0]:.1f}-{medians[-1]:.1f}", *tails, f"{cpu_s:.2f}"
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def _figures(side: str, made: list[Delays]) -> Iterator[tuple[str, float]]:
    delays = np.concatenate([each.delays_ms for each in made])
    yield f"topics_{side}_ms", round(float(np.median(delays)), 2)
    yield f"topics_{side}_p95_ms", round(float(np.percentile(delays, 95)), 2)
    yield f"topics_{side}_cpu", round(fmean(each.cpu_s for each in made), 3)


if __name__ == "__main__":
    run(main)
