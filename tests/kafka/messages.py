"""Messages that tests put into topics, and what `read_committed` sees there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, Producer, TopicPartition
from tests.kafka.broker import Broker


def produce(broker: Broker, topic: str, messages: Iterable[dict[str, Any]]) -> None:
    """Put messages into a topic, and wait until the broker has them."""
    producer = Producer({"bootstrap.servers": broker.servers, **broker.client})
    refused: list[object] = []
    for message in messages:
        producer.produce(
            topic, on_delivery=lambda error, _: refused.append(error) if error else None, **message
        )
    assert producer.flush(60) == 0
    assert refused == []


def read_all(broker: Broker, topic: str, partitions: int = 1) -> list[Message]:
    """What a reader of committed transactions sees in a topic."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.servers,
            **broker.client,
            "group.id": "tests",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(topic, each, OFFSET_BEGINNING) for each in range(partitions)])
    found, ended = [], set()
    while len(ended) < partitions:
        for message in consumer.consume(1000, 0.1):
            if message.error() is not None:
                ended.add(message.partition())
            else:
                found.append(message)
    consumer.close()
    return found
