"""Where the partitions of a topic are read: from which offset, up to which one, and what was lost."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from australis.engine.files import Rejected, as_json
from australis.engine.kafka import Address, Topic, TopicWatch, load_client, trouble
from australis.engine.sources.kafka.place import Place
from australis.errors import EngineError

_log = logging.getLogger(__name__)
_ANSWER_S = 10.0


class Settings(Protocol):
    """What the settings of a source say about offsets."""

    @property
    def address(self) -> Address: ...
    @property
    def start_at(self) -> str | int: ...
    @property
    def end_at(self) -> str | int: ...
    @property
    def is_committed(self) -> bool: ...
    @property
    def skips_lost(self) -> bool: ...


class TimeLookup(Protocol):
    """A client that finds offsets by time."""

    def offsets_for_times(self, partitions: list[Any], timeout: float) -> list[Any]: ...


@dataclass
class Partitions:
    """The partitions that are read, with the place that they have come to."""

    settings: Settings
    watch: TopicWatch
    place: Place
    ends: dict[int, int] = field(default_factory=dict)
    """Where each partition ends, if the source has an end."""
    lost: list[Rejected] = field(default_factory=list)
    """What was deleted before it was read, for the quarantine."""

    def begin(self, client: TimeLookup) -> bool:
        """Find where each partition begins and ends; returns whether there is a new place to remember."""
        topic = self.watch.topic()
        is_new = not self.place.topic
        if not is_new:
            self.check_same(topic)
        partitions = list(range(topic.partitions))
        known = [each for each in partitions if each in self.place.next]
        if known:
            self._check_kept(known)
        fresh = [each for each in partitions if each not in self.place.next]
        start = self.settings.start_at if is_new else "earliest"
        for partition, offset in self._offsets(client, fresh, start).items():
            self.place.reach(partition, offset)
        if self.settings.end_at != "never":
            self.ends = self._offsets(client, partitions, self.settings.end_at)
        # Only now: where a new topic begins is asked for again if brokers have not answered all of it.
        self.place.topic = topic.id
        return is_new

    def check_same(self, topic: Topic | None) -> None:
        """Refuse a topic that was deleted, or is another one of the same name, unless losses are skipped."""
        if topic is None:
            raise self._error("the topic was deleted", "a topic that is there")
        if topic.id == self.place.topic:
            return
        what = "the topic was deleted and made again: what was in it and not yet read is lost"
        self._lose(what, "lost=skip, to read the new one from its beginning")
        turn = self.place.turn
        self.place.topic, self.place.turn = topic.id, turn
        self.place.next.clear()
        self.place.epochs.clear()

    def added(self, topic: Topic) -> list[int]:
        """New partitions of a topic, which are read from their beginning."""
        fresh = [each for each in range(topic.partitions) if each not in self.place.next]
        for partition in fresh:
            self.place.reach(partition, 0)
        return fresh

    def out_of_range(self, partition: int) -> int:
        """Note what of a partition is gone; returns the offset at which it continues."""
        self._check_kept([partition])
        return self.place.next[partition]

    def is_read(self, partition: int) -> bool:
        """Whether a partition is read to its end."""
        return partition in self.ends and self.place.next[partition] >= self.ends[partition]

    @property
    def are_read(self) -> bool:
        """Whether all is read, if the source has an end."""
        return self.settings.end_at != "never" and all(map(self.is_read, self.place.next))

    def _check_kept(self, partitions: Iterable[int]) -> None:
        """Find what was deleted before it was read; an offset after the end is a log that was cut."""
        wanted = list(partitions)
        first = self.watch.offsets(wanted, "earliest")
        last = self.watch.offsets(wanted, "latest", committed=False)
        for each in wanted:
            offset = self.place.next[each]
            if offset < first[each]:
                what = f"partition {each}: offsets {offset} to {first[each] - 1} were deleted unread"
                self._lose(what, "lost=skip, to continue without them; and a longer retention")
                self.place.next[each] = first[each]
            elif offset > last[each]:
                what = f"partition {each}: it ends at offset {last[each]}, and was read up to {offset}"
                self._lose(what, "the partition as it was; or lost=skip, to continue at its end")
                self.place.next[each] = last[each]
                self.place.epochs.pop(each, None)

    def _lose(self, what: str, expected: str) -> None:
        if not self.settings.skips_lost:
            raise self._error(what, expected)
        _log.warning("%s: %s", self.settings.address.name, what)
        self.lost.append(Rejected(f"{self.settings.address.name}, {what}", as_json(None)))

    def _error(self, what: str, expected: str) -> EngineError:
        return self.settings.address.problem(what, expected)

    def _offsets(self, client: TimeLookup, partitions: list[int], at: str | int) -> dict[int, int]:
        """The offset of partitions at a word or a time; a time yet to come is the end as it is now."""
        if not partitions:
            return {}
        if isinstance(at, str):
            return self.watch.offsets(partitions, at, committed=self.settings.is_committed)
        library, name = load_client(), self.settings.address.name
        with trouble(name, "brokers do not find offsets by time"):
            asked = [library.TopicPartition(self.settings.address.topic, each, at) for each in partitions]
            found = {
                each.partition: each.offset for each in client.offsets_for_times(asked, timeout=_ANSWER_S)
            }
        ends = self.watch.offsets(partitions, "latest", committed=self.settings.is_committed)
        return {each: offset if offset >= 0 else ends[each] for each, offset in found.items()}
