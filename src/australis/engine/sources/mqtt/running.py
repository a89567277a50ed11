"""A running MQTT source: a thread of its client receives, the caller's takes, commits and acknowledges."""

from __future__ import annotations

import importlib
import json
import logging
import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from australis.engine.sources.delivery import Delivery
from australis.engine.sources.waiting import Waiter
from australis.errors import EngineError, Problem, TryLater

if TYPE_CHECKING:
    from australis.engine.sources.mqtt.source import MqttSource

_log = logging.getLogger(__name__)
_LOOK_S = 0.1
"""How often it is looked whether the source is to end."""
_KEEPALIVE_S = 30
_NO_TOPIC, _LEAVE_S = "australis/no/topic", 5.0
"""What is unsubscribed at the end, and how long an answer may take."""
_REFUSED = ("Bad user name or password", "Not authorized", "Banned", "Client Identifier not valid")
"""Answers of a broker that would be the same the next time."""


class RunningMqtt:
    """Messages that arrive; those of a connection that was lost come again, so they are forgotten."""

    notes: tuple[str, ...] = ()

    def __init__(self, source: MqttSource, position: str | None, waiter: Waiter) -> None:
        self._source, self._waiter = source, waiter
        known = {} if position is None else json.loads(position)
        self.turn, self._messages = int(known.get("turn", 0)), int(known.get("messages", 0))
        self._arrived: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        # Which connection this is: an acknowledgement for another one could hit another message.
        self._connection = 0
        self._lost_s: float | None = time.monotonic()
        self._refusal: str | None = None
        self._answered = threading.Event()

    def deliveries(self) -> Iterator[Delivery]:
        """What arrives, until the waiter is ended."""
        client = self._client()
        client.loop_start()
        try:
            while not self._waiter.is_ended:
                self._check()
                if messages := self._gather():
                    yield self._delivery(client, messages)
        finally:
            self._take_leave(client)
            client.disconnect()
            client.loop_stop()

    def _take_leave(self, client: Any) -> None:
        """Wait until the broker has read all acknowledgements.

        It answers in order, so any question will do. Closing the connection while it still sends would let
        it forget what it has not read.
        """
        if self._lost_s is None and client.unsubscribe(_NO_TOPIC)[0] == 0:
            self._answered.wait(_LEAVE_S)

    # --- the client

    def _client(self) -> Any:
        """A client that connects, and connects again, with the session that the broker keeps."""
        source, mqtt = self._source, _library(self._source.shown)
        client = mqtt.Client(
            mqtt.CallbackAPIVersion.VERSION2, source.client, protocol=mqtt.MQTTv5, manual_ack=True
        )
        if source.user:
            client.username_pw_set(source.user, source.secret())
        try:
            if source.is_secure:
                client.tls_set(ca_certs=source.authority or None)
            client.on_connect, client.on_disconnect = self._connected, self._disconnected
            client.on_message, client.on_subscribe = self._received, self._subscribed
            client.on_unsubscribe = lambda *answer: self._answered.set()
            client.reconnect_delay_set(1, 10)
            properties = mqtt.Properties(importlib.import_module("paho.mqtt.packettypes").PacketTypes.CONNECT)
            properties.SessionExpiryInterval = min(int(source.session_s), 0xFFFFFFFF)
            properties.ReceiveMaximum = min(2 * source.most, 0xFFFF)
            client.connect(source.host, source.port, _KEEPALIVE_S, clean_start=False, properties=properties)
        except (OSError, ValueError) as error:
            raise self._trouble(f"cannot be reached: {error}") from error
        return client

    def _connected(self, client: Any, data: object, flags: Any, reason: Any, properties: object) -> None:
        if reason.is_failure:
            self._refusal = str(reason)
            return
        self._connection += 1
        self._lost_s = None
        self._arrived.put((self._connection, bool(flags.session_present)))
        options = _library(self._source.shown).SubscribeOptions(qos=1, retainHandling=1)
        client.subscribe(self._source.topic, options=options)

    def _subscribed(self, client: Any, data: object, mid: int, reasons: list[Any], more: object) -> None:
        failed = [str(reason) for reason in reasons if reason.is_failure]
        if failed:
            self._refusal = f"Not authorized to subscribe: {failed[0]}"

    def _disconnected(self, client: Any, data: object, flags: Any, reason: Any, properties: object) -> None:
        if self._lost_s is None:
            self._lost_s = time.monotonic()
            if not self._waiter.is_ended:
                _log.warning("%s: the connection is lost: %s", self._source.shown, reason)

    def _received(self, client: Any, data: object, message: Any) -> None:
        self._arrived.put((self._connection, message))

    def _check(self) -> None:
        """Raise if the broker refuses us, or was not there for too long."""
        refusal, lost_s = self._refusal, self._lost_s
        if refusal is not None and refusal.startswith(_REFUSED):
            raise EngineError(
                Problem(
                    self._source.shown, f"the broker refuses: {refusal}", "a user that may read the topic"
                )
            )
        if lost_s is not None and time.monotonic() - lost_s > self._source.patience_s:
            raise self._trouble(f"has been away for {self._source.patience_s:g} s{self._said()}")

    def _said(self) -> str:
        return f", and refused at last: {self._refusal}" if self._refusal else ""

    def _trouble(self, what: str) -> TryLater:
        return TryLater(Problem(self._source.shown, what, "a broker that answers"))

    # --- the caller's thread

    def _gather(self) -> list[tuple[int, Any]]:
        """Messages with their connections: as many as a delivery has, or what comes within its time."""
        found: list[tuple[int, Any]] = []
        until_s = time.monotonic() + _LOOK_S
        while len(found) < self._source.most and not self._waiter.is_ended:
            try:
                number, message = self._arrived.get(timeout=max(0.0, until_s - time.monotonic()))
            except Empty:
                # The time is over: what has come by now is delivered.
                break
            if message is True:
                # The broker has kept the session: what it has not seen acknowledged, it brings again.
                found = []
            elif message is not False:
                if not found:
                    until_s = time.monotonic() + self._source.every_s
                found.append((number, message))
        return found

    def _delivery(self, client: Any, messages: list[tuple[int, Any]]) -> Delivery:
        source = self._source
        batch = source.decoding.batch([message for _, message in messages])
        self.turn, self._messages = self.turn + 1, self._messages + len(messages)
        place = json.dumps({"turn": self.turn, "messages": self._messages})

        def acknowledge() -> None:
            for connection, message in messages:
                if message.qos and connection == self._connection:
                    client.ack(message.mid, message.qos)

        return Delivery(source.input, batch.table, source.id, place, batch.rejected, acknowledge)


def _library(where: str) -> Any:
    try:
        return importlib.import_module("paho.mqtt.client")
    except ModuleNotFoundError as error:
        what = "MQTT needs a client that is not installed"
        raise EngineError(Problem(where, what, "the extra: pip install 'australis[mqtt]'")) from error
