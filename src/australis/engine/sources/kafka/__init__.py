"""Topics of Kafka as sources: read from offsets of our own, which are committed together with their tuples.

In: texts such as `kafka:TOPIC?servers=HOST:PORT`. Out: deliveries, whose position has the offset of every
partition; messages that are no tuples are rejected, with topic, partition and offset.
"""

from australis.engine.sources.kafka.source import KafkaSource, parse_kafka

__all__ = ["KafkaSource", "parse_kafka"]
