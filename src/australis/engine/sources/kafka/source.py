"""The settings of a topic as a source, and the text that they are given in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from australis.algebra.schema import Schema
from australis.engine.kafka import Address, parse_address
from australis.engine.sources.delivery import Positions
from australis.engine.sources.kafka.decoding import Decoder, decoder
from australis.engine.sources.kafka.running import RunningKafka
from australis.engine.sources.options import Options
from australis.engine.sources.waiting import Waiter

OPTIONS = (
    "value",
    "schema",
    "schemas",
    "key",
    "header.",
    "partition",
    "offset",
    "timestamp",
    "tombstones",
    "start",
    "end",
    "isolation",
    "lost",
    "patience",
)
_PATIENCE_S = 60.0
EARLIEST, LATEST, NEVER = "earliest", "latest", "never"
FAIL, SKIP = "fail", "skip"


@dataclass(frozen=True)
class KafkaSource:
    """A topic, from an offset of each partition to an end, or without one."""

    input: str
    address: Address
    decoder: Decoder
    options: Options
    start_at: str | int
    """Where the first run begins: `earliest`, `latest`, or a time in milliseconds."""
    end_at: str | int
    """Where it ends: `never`, `latest` for what is there when it starts, or a time in milliseconds."""
    is_committed: bool
    """Whether only committed transactions are read."""
    skips_lost: bool
    """Whether it continues after messages that were deleted before they were read."""
    patience_s: float = _PATIENCE_S
    """How long brokers may be away when it starts."""

    @property
    def id(self) -> str:
        return f"{self.input}={self.address.name}"

    @property
    def at_rest(self) -> bool:
        return False

    @property
    def is_endless(self) -> bool:
        return self.end_at == NEVER

    def start(self, positions: Positions, waiter: Waiter) -> RunningKafka:
        return RunningKafka(self, positions(self.id), waiter)


def parse_kafka(input: str, text: str, schema: Schema, options: Options) -> KafkaSource:
    """The source that a text such as `kafka:reports?servers=127.0.0.1:9092` describes.

    >>> from australis.algebra.schema import parse_schema
    >>> text = "kafka:reports?servers=127.0.0.1:9092&start=latest"
    >>> parse_kafka("r", text, parse_schema("n int"), Options()).end_at
    'latest'
    """
    address = parse_address(text, OPTIONS)
    if options.replay is not None:
        raise address.problem("a topic is read as it comes", "no rate or speed")
    return KafkaSource(
        input,
        address,
        decoder(address, schema, options.timezone),
        options,
        _moment(address, "start", EARLIEST, (EARLIEST, LATEST)),
        _moment(address, "end", NEVER if options.follow else LATEST, (NEVER, LATEST)),
        address.option("isolation", "read_committed", ("read_committed", "read_uncommitted"))
        == "read_committed",
        address.option("lost", FAIL, (FAIL, SKIP)) == SKIP,
        address.seconds("patience", _PATIENCE_S),
    )


def _moment(address: Address, name: str, default: str, words: tuple[str, ...]) -> str | int:
    """An option that is a word or a time, in milliseconds since 1970."""
    value = address.options.get(name, default)
    if value in words:
        return value
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        expected = f"{', '.join(words)} or a time such as 2026-05-06T10:00:00Z"
        raise address.problem(f"{name} is {value!r}", expected) from None
    return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
