"""Transactions of a producer: messages and the record of their position, committed together or not at all.

What an error asks for is what the client's documentation says: retry the call, abort the transaction, or
begin with another producer. Only one that was replaced by another writer ends.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from australis.engine.kafka import Address, client_settings, failure, load_client, trouble
from australis.errors import EngineError, TryLater

_log = logging.getLogger(__name__)
_INIT_S = 30.0
_WAIT_S = 0.5
_AT_ONCE = 10_000
_QUEUED_MOST = 100_000
_FENCED = frozenset({"_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"})


class Fenced(TryLater):
    """The producer was replaced, by another writer or because its transaction took too long."""


class Transactions:
    """A producer with a transactional id, which fences all that had it before."""

    def __init__(self, address: Address, writer: str, partitioner: str) -> None:
        self._address, self._client = address, load_client()
        self._refused: list[Any] = []
        ours = {
            "transactional.id": writer,
            "enable.idempotence": True,
            "partitioner": partitioner,
        }
        usual = {
            "linger.ms": 20,
            "compression.type": "lz4",
            "queue.buffering.max.messages": _QUEUED_MOST,
            "delivery.report.only.error": True,
            "batch.num.messages": 50_000,
        }
        with trouble(address.name, "no client can be made"):
            self._producer = self._client.Producer({**usual, **client_settings(address), **ours})
            self._call("transactions cannot begin", lambda: self._producer.init_transactions(_INIT_S))

    def write(self, messages: Sequence[dict[str, Any]], topic: str, record: tuple[str, str, bytes]) -> None:
        """Write messages and the record of their position: a topic, a key and a value."""
        self._refused.clear()
        self._call("a transaction cannot begin", self._producer.begin_transaction)
        try:
            self._produce(topic, messages)
            where, key, value = record
            self._produce(where, [{"key": key.encode(), "value": value}])
            # Without a limit of its own it waits for as long as the transaction may take.
            self._call("a transaction is not committed", lambda: self._producer.commit_transaction(-1))
        except TryLater:
            raise
        except BaseException:
            self._abort()
            raise

    def _produce(self, topic: str, messages: Sequence[dict[str, Any]]) -> None:
        has_headers = bool(messages) and "headers" in messages[0]
        for begin in range(0, len(messages), _AT_ONCE):
            while len(self._producer) > _QUEUED_MOST - _AT_ONCE:
                self._producer.poll(_WAIT_S)
                self._check_refused()
            rest = list(messages[begin : begin + _AT_ONCE])
            while rest:
                rest = self._one_by_one(topic, rest) if has_headers else self._batch(topic, rest)
                self._producer.poll(_WAIT_S if rest else 0)
                self._check_refused()

    def _batch(self, topic: str, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Queue messages; returns those for which there is no room yet, in their order."""
        with trouble(self._address.name, "messages are refused"):
            if self._producer.produce_batch(topic, messages, on_delivery=self._hear) == len(messages):
                return []
        left = [each for each in messages if "_error" in each]
        for each in left:
            error = each.pop("_error")
            if error.name() != "_QUEUE_FULL":
                raise self._error("messages are refused", error)
        return left

    def _one_by_one(self, topic: str, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """As `_batch`, for messages with headers, which the library takes one by one."""
        with trouble(self._address.name, "messages are refused"):
            for place, message in enumerate(messages):
                try:
                    self._producer.produce(topic, on_delivery=self._hear, **message)
                except BufferError:
                    # The queue is full: the caller waits.
                    return messages[place:]
        return []

    def _hear(self, error: Any, message: Any) -> None:
        del message
        if error is not None and len(self._refused) < _AT_ONCE:
            self._refused.append(error)

    def _check_refused(self) -> None:
        if self._refused:
            raise self._error("messages are not delivered", self._refused[0])

    def _call(self, doing: str, call: Callable[[], object]) -> None:
        """Make a call; one that may be made again by itself is, once, and later ones by the caller."""
        try:
            try:
                call()
            except self._client.KafkaException as error:
                if not error.args[0].retriable():
                    raise
                _log.info("%s: %s; trying again", doing, error.args[0].str())
                call()
        except self._client.KafkaException as error:
            code = error.args[0]
            cause = self._refused[0] if self._refused and code.txn_requires_abort() else code
            if code.txn_requires_abort():
                self._abort()
            raise self._error(doing, cause) from None

    def _abort(self) -> None:
        """Abort the transaction; what cannot be aborted now is, when the next producer begins."""
        try:
            self._producer.abort_transaction(-1)
        except self._client.KafkaException as error:
            _log.info("%s: a transaction is not aborted: %s", self._address.name, error.args[0].str())

    def _error(self, doing: str, error: Any) -> EngineError:
        found = failure(self._address.name, doing, error)
        if error.name() in _FENCED:
            return Fenced(found.problem)
        return found

    def close(self) -> None:
        """Forget the producer at once: nothing that it still has is waited for."""
        self._producer.purge(in_queue=True, in_flight=True, blocking=False)
        self._producer.flush(0)
