"""Topics of an MQTT broker as sources: a message is acknowledged once its tuple is committed.

In: texts such as `mqtt://broker/?topic=plant/+/readings&id=NAME`. Out: deliveries of the messages that came
within a moment; messages that are no tuples are rejected, with their topic. At least once: a broker repeats
what was committed and not acknowledged.
"""

from australis.engine.sources.mqtt.source import MqttSource, parse_mqtt

__all__ = ["MqttSource", "parse_mqtt"]
