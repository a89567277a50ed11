"""What Kafka as a source and Kafka as a sink share: addresses, clients, and how messages hold tuples.

In: texts such as `kafka:TOPIC?servers=HOST:PORT`, files of client settings and of Avro schemas. Out: checked
addresses, connected clients, codecs. The client library is loaded with the first client.
"""

from australis.engine.kafka.address import KAFKA, Address, parse_address
from australis.engine.kafka.avro import AvroCodec, avro_codec
from australis.engine.kafka.client import client_settings, failure, load_client, trouble
from australis.engine.kafka.topics import Topic, TopicWatch

__all__ = [
    "KAFKA",
    "Address",
    "AvroCodec",
    "Topic",
    "TopicWatch",
    "avro_codec",
    "client_settings",
    "failure",
    "load_client",
    "parse_address",
    "trouble",
]
