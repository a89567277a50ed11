"""Topics as brokers describe them: which one it is, and its partitions; watched without waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from australis.engine.kafka.address import Address
from australis.engine.kafka.client import client_settings, failure, load_admin, load_client, trouble
from australis.errors import EngineError, Problem, TryLater

ASK_S = 10.0
"""How long a broker may take to answer."""
WATCH_S = 2.0
"""How often a topic is looked at: new partitions are noticed within this time."""


@dataclass(frozen=True)
class Topic:
    """A topic: an id, which a topic of the same name that is made later does not have, and its partitions."""

    id: str
    partitions: int


class TopicWatch:
    """Asks brokers about a topic, and makes topics."""

    def __init__(self, address: Address, now: Callable[[], float]) -> None:
        self._address, self._now = address, now
        self._client, self._library = load_client(), load_admin()
        with trouble(address.name, "no client can be made"):
            self._admin = self._library.AdminClient(client_settings(address))
        self._asked: Any = None
        self._next = now() + WATCH_S

    def topic(self, name: str | None = None) -> Topic:
        """The topic as it is; one that is not there is an error."""
        found = self.find(name)
        if found is None:
            raise self._address.problem(
                f"there is no topic {name or self._address.topic!r}", "one that is there"
            )
        return found

    def find(self, name: str | None = None) -> Topic | None:
        """The topic as it is, or None if it is not there."""
        return self._answer(self._ask(name or self._address.topic))

    def changed(self) -> tuple[bool, Topic | None]:
        """Whether there is news of the topic, and what it is now; does not wait for brokers."""
        if self._asked is None:
            if self._now() >= self._next:
                self._asked = self._ask(self._address.topic)
            return False, None
        if not self._asked.done():
            return False, None
        asked, self._asked, self._next = self._asked, None, self._now() + WATCH_S
        try:
            return True, self._answer(asked)
        except EngineError:
            # A broker that is away is asked again; the reader waits for it, too.
            return False, None

    def _ask(self, name: str) -> Any:
        names = self._client.TopicCollection([name])
        return self._admin.describe_topics(names, request_timeout=ASK_S)[name]

    def _answer(self, asked: Any) -> Topic | None:
        with trouble(self._address.name, "brokers do not describe the topic"):
            found = self._answered(asked)
        return None if found is None else Topic(str(found.topic_id), len(found.partitions))

    def offsets(
        self, partitions: list[int], spec: str, *, committed: bool = True, topic: str | None = None
    ) -> dict[int, int]:
        """The earliest or latest offset of partitions; `committed` is the end that `read_committed` sees."""
        specs = {"earliest": self._library.OffsetSpec.earliest, "latest": self._library.OffsetSpec.latest}
        wanted = {self._place(each, topic): specs[spec]() for each in partitions}
        level = self._client.IsolationLevel
        isolation = level.READ_COMMITTED if committed else level.READ_UNCOMMITTED
        with trouble(self._address.name, f"brokers do not tell the {spec} offsets"):
            asked = self._admin.list_offsets(wanted, isolation_level=isolation, request_timeout=ASK_S)
            return {place.partition: each.result(ASK_S * 2).offset for place, each in asked.items()}

    def _place(self, partition: int, topic: str | None) -> Any:
        return self._client.TopicPartition(topic or self._address.topic, partition)

    def setting(self, name: str, setting: str) -> str:
        """A setting of a topic."""
        resource = self._library.ConfigResource(self._library.ConfigResource.Type.TOPIC, name)
        with trouble(self._address.name, f"brokers do not tell the settings of {name}"):
            asked = self._admin.describe_configs([resource], request_timeout=ASK_S)[resource]
            found = self._answered(asked)
        if found is None:
            raise TryLater(Problem(self._address.name, f"the topic {name} is being made"))
        return str(found[setting].value)

    def _answered(self, asked: Any) -> Any:
        """An answer about a topic; None if the one that answers does not know it."""
        try:
            return asked.result(ASK_S * 2)
        except self._client.KafkaException as error:
            if error.args[0].name() in ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"):
                return None
            raise

    def make(self, name: str, partitions: int, settings: dict[str, str]) -> None:
        """Make a topic, with the replicas that brokers give by default, unless it is there."""
        new = self._library.NewTopic(name, num_partitions=partitions, replication_factor=-1, config=settings)
        try:
            self._admin.create_topics([new], request_timeout=ASK_S)[name].result(ASK_S * 2)
        except self._client.KafkaException as error:
            if error.args[0].name() != "TOPIC_ALREADY_EXISTS":
                raise failure(self._address.name, f"topic {name} cannot be made", error.args[0]) from None
        if self.find(name) is None:
            raise TryLater(Problem(self._address.name, f"the topic {name} is being made"))
