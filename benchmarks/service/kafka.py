"""Kafka on both sides of a node: tuples a second from topic to topic, and whether each is there once."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

from confluent_kafka import Producer
from tests.kafka.broker import Broker, missing
from tests.kafka.messages import read_all

from australis.algebra.builder import NetworkBuilder
from australis.app.running.conductor import Conductor
from australis.engine import LIGHT, Node
from australis.engine.sinks import SinkTaker, parse_sink
from australis.engine.sources import parse_source

Figures = dict[str, float]
PARTITIONS = 4
_AT_ONCE = 20_000


def measure(tuples: int = 400_000) -> Figures:
    """Read JSON from four partitions, compute, and write JSON in transactions; the topic is full before."""
    if (why := missing()) is not None:
        raise SystemExit(why)
    folder = Path(tempfile.mkdtemp(prefix="bench-kafka-"))
    broker = Broker(folder / "broker")
    try:
        broker.start()
        for topic in ("reports", "seen"):
            broker.create(topic, PARTITIONS)
        _fill(broker, tuples)
        seconds = _run(broker, folder)
        found = Counter(
            json.loads(each.value() or b"")["id"] for each in read_all(broker, "seen", PARTITIONS)
        )
    finally:
        broker.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return {
        "kafka_tps": tuples / seconds,
        "kafka_lost": float(tuples - len(found)),
        "kafka_duplicated": float(found.total() - len(found)),
    }


def _fill(broker: Broker, tuples: int) -> None:
    producer = Producer({"bootstrap.servers": broker.servers, "compression.type": "lz4", "linger.ms": 20})
    for begin in range(0, tuples, _AT_ONCE):
        numbers = range(begin, min(begin + _AT_ONCE, tuples))
        messages = [{"value": b'{"id":%d,"speed":%d.5}' % (n, n % 200), "key": b"%d" % n} for n in numbers]
        assert producer.produce_batch("reports", messages) == len(messages)
        while len(producer) > 3 * _AT_ONCE:
            producer.poll(0.05)
    assert producer.flush(120) == 0


def _run(broker: Broker, folder: Path) -> float:
    """The seconds from the first look at the topic to the last committed transaction."""
    net = NetworkBuilder("lanes")
    reports = net.input("reports", "id long not null, speed double")
    reports.filter("speed >= 0").map({"id": "id", "mps": "speed / 3.6"}).output("seen")
    network = net.build()
    at = f"servers={broker.servers}"
    source = parse_source("reports", f"kafka:reports?{at}", network.inputs["reports"].schema)
    sink = parse_sink("seen", f"kafka:seen?{at}&key=id", network.output_schema("seen"))
    with Node(folder / "root", runner=LIGHT) as node:
        node.deploy(network)
        with sink.start(node) as running:
            taker = SinkTaker("seen", sink.consumer, running, lambda table: None)
            began = time.perf_counter()
            Conductor(node, [source], [taker], flush=False).run()
            return time.perf_counter() - began


if __name__ == "__main__":
    print(json.dumps(measure()))
