"""The settings of an MQTT source, from its address."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from australis.algebra.schema import Schema
from australis.engine.addresses import Settings, filled_in, refuse_secrets
from australis.engine.sources.delivery import Positions
from australis.engine.sources.mqtt.payloads import FORMATS, JSON, TEXT, Decoding
from australis.engine.sources.mqtt.running import RunningMqtt
from australis.engine.sources.options import Options
from australis.engine.sources.waiting import Waiter
from australis.errors import EngineError, Problem

_EXPECTED = "mqtt://HOST:PORT/?topic=FILTER&id=NAME"
_PORTS = {"mqtt": 1883, "mqtts": 8883}
_DAY_S = 86_400.0


@dataclass(frozen=True)
class MqttSource:
    """Topics of a broker for an input, under a session that the broker keeps while nobody is there.

    A message is acknowledged after the commit of its tuple. One that was committed and not acknowledged, as
    when the node was killed in between, comes again: each tuple at least once.
    """

    input: str
    address: str
    host: str
    port: int
    is_secure: bool
    user: str
    password: str
    """As the address has it: with the name of a variable in it, not its value."""
    topic: str
    client: str
    decoding: Decoding
    most: int
    """The most messages of one delivery."""
    every_s: float
    """How long the first message of a delivery may wait for others."""
    session_s: float
    """How long the broker keeps messages while nobody is there."""
    patience_s: float
    """How long to try again when the broker is lost."""
    authority: str = ""
    """The file of certificates by which the broker is known; empty for those of the system."""

    at_rest = False
    is_endless = True

    @property
    def id(self) -> str:
        return f"{self.input}={self.shown}, {self.client}"

    @property
    def shown(self) -> str:
        """The address as messages show it."""
        return f"mqtt://{self.host}:{self.port}, topic {self.topic}"

    def secret(self) -> str | None:
        """The password, for the client alone."""
        return filled_in(self.password, self.shown, quoted=False) if self.password else None

    def start(self, positions: Positions, waiter: Waiter) -> RunningMqtt:
        return RunningMqtt(self, positions(self.id), waiter)


def parse_mqtt(input: str, text: str, schema: Schema, options: Options) -> MqttSource:
    """The source that an address names.

    >>> from australis.algebra.schema import parse_schema
    >>> source = parse_mqtt("readings", "mqtt://broker/?topic=plant/+/v&id=node-1&format=text&attribute=place",
    ...                     parse_schema("place string, v double"), Options())
    >>> source.host, source.port, source.topic, source.decoding.rest.names
    ('broker', 1883, 'plant/+/v', ('v',))
    """
    refuse_secrets(text.partition("?")[0])
    place, _, query = text.partition("?")
    parts, where = urlsplit(place), f"mqtt source of {input}"
    if options.replay is not None:
        raise EngineError(Problem(where, "messages come when they come", "no rate or speed"))
    given = Settings(where, query)
    topic, client = given.text("topic"), given.text("id")
    if not parts.hostname or not topic or not client:
        missing = "host" if not parts.hostname else "topic" if not topic else "id"
        raise EngineError(Problem(where, f"the address has no {missing}", _EXPECTED))
    attribute = given.text("attribute") or None
    format = given.one_of("format", JSON, FORMATS)
    schema = schema if format == JSON else schema.but_optional()
    decoding = Decoding(schema, format, options.timezone, attribute)
    _check(where, decoding)
    source = MqttSource(
        input,
        text,
        parts.hostname,
        parts.port or _PORTS[parts.scheme.lower()],
        parts.scheme.lower() == "mqtts",
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        topic,
        client,
        decoding,
        min(given.whole("most", 1_000, 30_000), options.batch),
        given.seconds("every", 0.2),
        given.seconds("session", 7 * _DAY_S),
        given.seconds("patience", 60.0),
        given.text("ca"),
    )
    given.end()
    return source


def _check(where: str, decoding: Decoding) -> None:
    """Refuse a schema that messages cannot fill."""
    schema, topic = decoding.schema, decoding.topic
    if topic is not None and (topic not in schema or schema[topic].type.name != "string"):
        texts = ", ".join(field.name for field in schema if field.type.name == "string")
        raise EngineError(
            Problem(where, f"attribute={topic} is no string of the input", texts or "none here")
        )
    if decoding.format == TEXT and len(decoding.rest) != 1:
        what = f"format=text fills one attribute, and left are ({decoding.rest})"
        raise EngineError(Problem(where, what, "attribute= for the topic, or format=json"))
