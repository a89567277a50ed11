"""Topics of Kafka as sinks: each tuple is a message once, in transactions that carry their position.

In: an output, and a text such as `kafka:TOPIC?servers=HOST:PORT`. Out: messages that readers of committed
transactions see once, whatever happens to the node, its client or the broker.
"""

from australis.engine.sinks.kafka.sink import KafkaSink, parse_kafka_sink

__all__ = ["KafkaSink", "parse_kafka_sink"]
