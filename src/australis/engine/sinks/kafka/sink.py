"""The settings of a topic as a sink, and the text that they are given in."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from australis.algebra.schema import Schema
from australis.engine.kafka import Address, TopicWatch, client_settings, parse_address
from australis.engine.sinks.consuming import Outlet
from australis.engine.sinks.doors import DEFAULT_DOOR, DoorOptions, Patience
from australis.engine.sinks.kafka.encoding import Encoder, encoder
from australis.engine.sinks.kafka.running import RunningKafkaSink, read_position, void

OPTIONS = (
    "value",
    "schema",
    "schemas",
    "key",
    "header.",
    "timestamp",
    "partitioner",
    "partitions",
    "writer",
    "positions",
    "patience",
)
POSITIONS = "australis-positions"
PARTITIONERS = (
    "murmur2_random",
    "murmur2",
    "consistent_random",
    "consistent",
    "fnv1a_random",
    "fnv1a",
    "random",
)
"""The partitioners of the client; the first is that of Kafka's own."""


@dataclass(frozen=True)
class KafkaSink:
    """A topic for an output; `writer` names the transactional id, which else belongs to the root."""

    output: str
    address: Address
    encoder: Encoder
    writer: str = ""
    positions: str = POSITIONS
    partitioner: str = PARTITIONERS[0]
    partitions: int = 0
    """How many partitions the topic gets if it is not there; 0 to refuse that."""
    options: DoorOptions = DEFAULT_DOOR

    @property
    def consumer(self) -> str:
        return self.address.name

    def check(self, position: str | None) -> None:
        """Refuse what cannot be written: no broker, no topic, a position that is none."""
        if position is not None:
            read_position(position, self.address.name)
        self.check_hosts()
        watch = TopicWatch(self.address, time.monotonic)
        # By default a run with a wrong address fails at once.
        patience = Patience(self.address.seconds("patience", 0), time.monotonic, threading.Event())
        patience.until_done(lambda: void(self._check_topic(watch)))

    def check_hosts(self) -> None:
        """Refuse brokers on hosts that are not allowed."""
        for server in str(client_settings(self.address)["bootstrap.servers"]).split(","):
            host = server.strip().rpartition("//")[2].rpartition(":")[0]
            self.options.check_host(self.address.name, host.strip("[]"))

    def _check_topic(self, watch: TopicWatch) -> bool:
        """Whether the topic is there; refuses one that is not, and is not to be made."""
        is_there = watch.find() is not None
        if not is_there and not self.partitions:
            what = f"there is no topic {self.address.topic!r}"
            raise self.address.problem(what, "one that is there, or partitions=N to make it")
        return is_there

    def ensure_topic(self, watch: TopicWatch) -> None:
        """Make the topic, if it is missing and may be made."""
        if not self._check_topic(watch):
            watch.make(self.address.topic, self.partitions, {})

    def start(self, outlet: Outlet) -> RunningKafkaSink:
        return RunningKafkaSink(self, outlet)


def parse_kafka_sink(output: str, text: str, schema: Schema, options: DoorOptions) -> KafkaSink:
    """The sink that a text such as `kafka:alarms?servers=127.0.0.1:9092&key=car` describes.

    >>> from australis.algebra.schema import parse_schema
    >>> text = "kafka:alarms?servers=127.0.0.1:9092&key=car"
    >>> parse_kafka_sink("alarms", text, parse_schema("car int"), DoorOptions()).encoder.key
    'car'
    """
    address = parse_address(text, OPTIONS)
    patience_s = address.seconds("patience", options.patience_s)
    return KafkaSink(
        output,
        address,
        encoder(address, schema),
        address.options.get("writer", ""),
        address.options.get("positions", POSITIONS),
        address.option("partitioner", PARTITIONERS[0], PARTITIONERS),
        address.whole("partitions", 0, 0),
        # Who starts a sink again by itself wants no waiting.
        DoorOptions(patience_s if options.patience_s else 0.0, options.allows),
    )
