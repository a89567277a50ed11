"""A topic that is being read: messages are fetched in the background, decoded in batches, and delivered."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, Protocol

import numpy as np

from australis.engine.files import Rejected
from australis.engine.kafka import TopicWatch, client_settings, failure, load_client, trouble
from australis.engine.sources.delivery import Delivery
from australis.engine.sources.kafka.decoding import Decoder
from australis.engine.sources.kafka.partitions import Partitions, Settings
from australis.engine.sources.kafka.place import Place, read_place
from australis.engine.sources.options import Options
from australis.engine.sources.waiting import Waiter
from australis.errors import TryLater

_log = logging.getLogger(__name__)
_POLL_S = 0.2
_WAIT_S = 5.0
_AT_ONCE = 2000
"""How many messages are asked for at once."""
_BATCH_BYTES = 32 << 20
"""The bytes of values of a delivery, about."""
_NO_END = (1 << 63) - 1
_GONE = frozenset({"OFFSET_OUT_OF_RANGE", "_AUTO_OFFSET_RESET", "_LOG_TRUNCATION"})


class TopicSource(Settings, Protocol):
    """The settings of a topic as a source."""

    @property
    def input(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def decoder(self) -> Decoder: ...
    @property
    def options(self) -> Options: ...
    @property
    def patience_s(self) -> float: ...


class RunningKafka:
    """A topic that is being read, from the last committed position on."""

    notes: tuple[str, ...] = ()

    def __init__(self, source: TopicSource, position: str | None, waiter: Waiter) -> None:
        self._source, self._waiter = source, waiter
        self._name = source.address.name
        self._place = Place() if position is None else read_place(position, self._name)
        self._client = load_client()

    @property
    def turn(self) -> int:
        return self._place.turn

    def deliveries(self) -> Iterator[Delivery]:
        """The messages from the position on; ends at the source's end, or when the waiter is ended."""
        watch = TopicWatch(self._source.address, self._waiter.now)
        with closing(self._consumer()) as consumer:
            reading = Partitions(self._source, watch, self._place)
            is_new = self._begin(consumer, reading)
            if (is_new and self._source.start_at == "latest") or reading.lost:
                # What "latest" is must not change if the first run ends before its first message.
                yield self._delivery([], reading)
            self._assign(consumer, reading, list(self._place.next))
            while not (self._waiter.is_ended or reading.are_read):
                messages = self._messages(consumer, reading)
                if messages or reading.lost:
                    yield self._delivery(messages, reading)
                self._look(consumer, reading)

    def _begin(self, consumer: Any, reading: Partitions) -> bool:
        """Find out where to begin, for as long as brokers may be away."""
        until, wait_s = self._waiter.now() + self._source.patience_s, 0.1
        while True:
            try:
                return reading.begin(consumer)
            except TryLater as error:
                now = self._waiter.now()
                if now >= until or not self._waiter.until(now + wait_s):
                    raise
                wait_s = min(2 * wait_s, _WAIT_S)
                _log.info("%s", error)

    def _consumer(self) -> Any:
        level = "read_committed" if self._source.is_committed else "read_uncommitted"
        usual = {"queued.max.messages.kbytes": 65_536, "fetch.queue.backoff.ms": 10, "check.crcs": True}
        ours = {
            "group.id": f"australis-{self._source.input}",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": level,
        }
        with trouble(self._name, "no client can be made"):
            return self._client.Consumer({**usual, **client_settings(self._source.address), **ours})

    def _assign(self, consumer: Any, reading: Partitions, partitions: list[int]) -> None:
        """Begin to read partitions at their places."""
        wanted = [self._at(each) for each in partitions if not reading.is_read(each)]
        with trouble(self._name, "partitions cannot be assigned"):
            consumer.incremental_assign(wanted)

    def _at(self, partition: int) -> Any:
        offset, epoch = self._place.next[partition], self._place.epochs.get(partition)
        known = {} if epoch is None else {"leader_epoch": epoch}
        return self._client.TopicPartition(self._source.address.topic, partition, offset, **known)

    # --- messages

    def _messages(self, consumer: Any, reading: Partitions) -> list[Any]:
        """What has arrived: at least one message, if one comes soon, and at most a batch."""
        found: list[Any] = []
        size, first = 0, consumer.poll(_POLL_S)
        arrived = [] if first is None else [first]
        while arrived:
            events = [each for each in arrived if each.error() is not None]
            given = [each for each in arrived if each.error() is None] if events else arrived
            found += self._new(reading, given) if given else []
            size += sum(map(len, given))
            for event in events:
                # The end of a partition comes after its messages.
                self._hear(consumer, reading, event)
            room = self._source.options.batch - len(found)
            if room <= 0 or size >= _BATCH_BYTES:
                break
            arrived = consumer.consume(min(room, _AT_ONCE), 0)
        return found

    def _new(self, reading: Partitions, messages: list[Any]) -> list[Any]:
        """Messages before the end that were not read before; notes that they are read."""
        partitions = np.array([each.partition() for each in messages])
        offsets = np.array([each.offset() for each in messages])
        kept = np.zeros(len(messages), bool)
        for partition in np.unique(partitions).tolist():
            mine = np.flatnonzero(partitions == partition)
            own, end = offsets[mine], reading.ends.get(partition, _NO_END)
            kept[mine] = (own >= self._place.next.get(partition, 0)) & (own < end)
            last = messages[mine[-1]]
            self._place.reach(partition, min(last.offset() + 1, end), last.leader_epoch())
        return messages if kept.all() else [messages[place] for place in np.flatnonzero(kept)]

    def _hear(self, consumer: Any, reading: Partitions, message: Any) -> None:
        """An event between the messages: an end that was reached, or something that is wrong."""
        error, partition = message.error(), message.partition()
        name = error.name()
        if name == "_PARTITION_EOF":
            if message.offset() is not None and message.offset() >= 0:
                self._place.reach(partition, message.offset())
        elif name in _GONE:
            offset = reading.out_of_range(partition)
            _log.info(
                "%s: partition %d continues at offset %d: %s", self._name, partition, offset, error.str()
            )
            consumer.incremental_unassign([self._at(partition)])
            consumer.incremental_assign([self._at(partition)])
        elif name in ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION"):
            self._check_there(reading)
        else:
            found = failure(self._name, "cannot be read", error)
            if not isinstance(found, TryLater) or error.fatal():
                raise found
            _log.warning("%s", found)

    def _check_there(self, reading: Partitions) -> None:
        """Refuse a topic that is gone; another of the same name is noticed by the watch."""
        try:
            reading.watch.topic()
        except TryLater as error:
            _log.info("%s", error)

    def _look(self, consumer: Any, reading: Partitions) -> None:
        """Look whether the topic has new partitions, or is another one."""
        is_news, topic = reading.watch.changed()
        if not is_news:
            return
        was = self._place.topic
        reading.check_same(topic)
        assert topic is not None
        if was != topic.id:
            consumer.unassign()
        if self._source.end_at == "never" and (fresh := reading.added(topic)):
            _log.info("%s: reads partitions %s from their beginning", self._name, fresh)
            self._assign(consumer, reading, fresh)

    def _delivery(self, messages: Sequence[Any], reading: Partitions) -> Delivery:
        """Messages as tuples, with the place after them."""
        batch = self._source.decoder.batch(messages)
        lost: list[Rejected] = [*reading.lost]
        reading.lost.clear()
        self._place.turn += 1
        rejected = (*batch.rejected, *lost)
        return Delivery(self._source.input, batch.table, self._source.id, self._place.text, rejected)
