"""Records of positions in a compacted topic: how far each writer has come, written in its transactions."""

from __future__ import annotations

import json
import threading
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from australis.engine.kafka import Address, TopicWatch, client_settings, load_client, trouble
from australis.errors import EngineError, Problem, TryLater

_POLL_S = 0.2


@dataclass(frozen=True)
class Record:
    """How far a writer has come: `end` is the number after the last tuple that is in its topic."""

    origin: str
    """The output of a root whose numbers these are."""
    run: str
    """Which run wrote it, by which a writer that was replaced is told from one that was only slow."""
    topic: str
    end: int

    @property
    def text(self) -> bytes:
        return json.dumps(asdict(self), separators=(",", ":")).encode()


def read_record(text: bytes, path: str) -> Record:
    """The record of a message.

    >>> read_record(Record("a", "b", "t", 7).text, "kafka:positions").end
    7
    """
    try:
        return Record(**json.loads(text))
    except (ValueError, TypeError):
        raise EngineError(Problem(path, f"{text[:60]!r} is no record of a position")) from None


class Records:
    """The topic of records; made if it is missing."""

    def __init__(self, address: Address, topic: str, watch: TopicWatch, ended: threading.Event) -> None:
        self._address, self.topic, self._watch, self._ended = address, topic, watch, ended
        self._client = load_client()

    def ensure(self) -> None:
        """Make the topic, or refuse one whose records may expire."""
        if self._watch.find(self.topic) is None:
            self._watch.make(self.topic, 1, {"cleanup.policy": "compact"})
            return
        policy = self._watch.setting(self.topic, "cleanup.policy")
        if policy != "compact":
            what = f"the topic {self.topic} of positions has cleanup.policy={policy}, so they would expire"
            raise self._address.problem(what, "cleanup.policy=compact, or positions=ANOTHER")

    def last(self, writer: str) -> Record | None:
        """The last committed record of a writer, up to the end as it is now."""
        topic = self._watch.topic(self.topic)
        partitions = list(range(topic.partitions))
        # Others write here, too: their open transactions hide ours for as long as they are open.
        ends = self._watch.offsets(partitions, "latest", committed=False, topic=self.topic)
        wanted = {each for each in partitions if ends[each] > 0}
        found: Record | None = None
        with closing(self._reader()) as reader:
            places = [self._client.TopicPartition(self.topic, each, 0) for each in sorted(wanted)]
            with trouble(self._address.name, "positions cannot be read"):
                reader.assign(places)
            while wanted:
                message = reader.poll(_POLL_S)
                if message is None:
                    if self._ended.is_set():
                        raise self._later("positions are not read")
                    continue
                if message.error() is not None:
                    self._hear(message, wanted, ends)
                    continue
                if message.key() == writer.encode() and message.value() is not None:
                    found = read_record(message.value(), self._address.name)
                if message.offset() + 1 >= ends[message.partition()]:
                    wanted.discard(message.partition())
        return found

    def _hear(self, message: Any, wanted: set[int], ends: dict[int, int]) -> None:
        error = message.error()
        if error.name() == "_PARTITION_EOF":
            if message.offset() >= ends[message.partition()]:
                wanted.discard(message.partition())
        elif not error.retriable() and error.name() not in ("_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT"):
            raise self._later(f"positions cannot be read: {error.str()}")

    def _later(self, what: str) -> TryLater:
        return TryLater(Problem(self._address.name, what))

    def _reader(self) -> Any:
        ours = {
            "group.id": "australis-positions",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
        with trouble(self._address.name, "no client can be made"):
            return self._client.Consumer({**client_settings(self._address), **ours})
