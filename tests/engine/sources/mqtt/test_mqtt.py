"""Messages of a real broker as tuples: acknowledged once they are committed, and none is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from australis import NetworkBuilder, Node
from australis.algebra.schema import Schema, parse_schema
from australis.engine.sources import Delivery, Options, SignalWaiter, feed, hand_over, parse_source
from australis.engine.sources.mqtt.payloads import Decoding
from australis.errors import EngineError, TryLater

if TYPE_CHECKING:
    from tests.engine.sources.mqtt.broker import Broker

SCHEMA = parse_schema("place string, n int")


def address(broker: Broker, *settings: str, topic: str = "plant/+/n") -> str:
    given = (f"topic={topic}", "id=node", "every=20 ms", *settings)
    return f"mqtt://127.0.0.1:{broker.port}/?{'&'.join(given)}"


class Reading:
    """A run of a source outside of a node; `until` takes deliveries, and commits them or not."""

    def __init__(self, text: str, schema: Schema = SCHEMA) -> None:
        self.waiter = SignalWaiter()
        source = parse_source("readings", text, schema, Options())
        self._deliveries = source.start(lambda id: None, self.waiter).deliveries()
        self.rows: list[dict[str, object]] = []
        self.reasons: list[str] = []

    def until(self, is_so: Callable[[], bool], *, commit: bool = True) -> None:
        while not is_so():
            delivery = next(self._deliveries)
            self.rows += delivery.content.to_pylist()  # type: ignore[union-attr]
            self.reasons += [each.reason for each in delivery.rejected]
            if commit and delivery.committed is not None:
                delivery.committed()

    def end(self) -> None:
        """End without another look at what was delivered, as a process that is killed."""
        self.waiter.end()
        self._deliveries.close()  # type: ignore[attr-defined]


def subscribe(broker: Broker, text: str, schema: Schema = SCHEMA) -> None:
    """Let the broker know a session, so that it keeps what comes from now on."""
    reading = Reading(text, schema)
    broker.publish("plant/first/n", '{"n": 0}', retain=True)
    reading.until(lambda: bool(reading.rows))
    reading.end()


def test_messages_of_a_wildcard_carry_their_topic(broker: Broker) -> None:
    text = address(broker, "attribute=place")
    subscribe(broker, text)
    broker.publish("plant/a/n", '{"n": 1}', '{"n": 2}')
    broker.publish("plant/b/n", '{"n": 3}')
    broker.publish("other/b/n", '{"n": 4}')
    reading = Reading(text)
    reading.until(lambda: len(reading.rows) == 3)
    assert [(row["place"], row["n"]) for row in reading.rows] == [
        ("plant/a/n", 1),
        ("plant/a/n", 2),
        ("plant/b/n", 3),
    ]
    reading.end()


def test_what_is_not_committed_comes_again_and_what_is_does_not(broker: Broker) -> None:
    text = address(broker, "most=10")
    subscribe(broker, text)
    broker.publish("plant/a/n", *(f'{{"n": {n}}}' for n in range(1, 31)))
    first = Reading(text)
    first.until(lambda: len(first.rows) >= 10)
    done = len(first.rows)
    first.until(lambda: len(first.rows) > done, commit=False)
    first.end()
    second = Reading(text)
    second.until(lambda: len(second.rows) == 30 - done)
    assert [row["n"] for row in second.rows] == list(range(done + 1, 31))
    second.end()
    third = Reading(text)
    broker.publish("plant/a/n", '{"n": 31}')
    third.until(lambda: bool(third.rows))
    assert [row["n"] for row in third.rows] == [31]
    third.end()


def test_a_broker_that_goes_and_comes_again(broker: Broker) -> None:
    text = address(broker)
    subscribe(broker, text)
    reading = Reading(text)
    broker.publish("plant/a/n", '{"n": 1}')
    reading.until(lambda: len(reading.rows) == 1)
    broker.stop()
    broker.start()
    broker.publish("plant/a/n", '{"n": 2}')
    reading.until(lambda: {row["n"] for row in reading.rows} == {1, 2})
    reading.end()


def test_poison_is_rejected_with_its_topic(broker: Broker) -> None:
    text = address(broker)
    subscribe(broker, text)
    broker.publish("plant/a/n", '{"n": "many"}', "{", b"\xff", '{"n":\n 7}')
    reading = Reading(text)
    reading.until(lambda: len(reading.rows) + len(reading.reasons) == 4)
    assert [row["n"] for row in reading.rows] == [7]
    assert all(reason.startswith("topic plant/a/n: ") for reason in reading.reasons)
    reading.end()


def test_through_a_node_into_the_quarantine(broker: Broker, tmp_path: Path) -> None:
    net = NetworkBuilder("plant")
    net.input("readings", SCHEMA).output("all")
    text = address(broker, "attribute=place")
    subscribe(broker, text)
    broker.publish("plant/a/n", '{"n": 1}', "poison", '{"n": 2}')
    waiter, seen = SignalWaiter(), list[int]()

    def count(delivery: Delivery) -> None:
        seen.append(delivery.content.num_rows + len(delivery.rejected))
        if sum(seen) == 3:
            waiter.end()

    with Node(tmp_path, runner="light[1]") as node:
        node.deploy(net.build())
        feed(node, [parse_source("readings", text, SCHEMA)], waiter, count)
        node.drain()
        assert node.read("all")["n"].to_pylist() == [1, 2]
        assert "topic plant/a/n" in node.read("quarantine")["reason"].to_pylist()[0]


def test_no_broker_and_one_that_refuses(broker: Broker) -> None:
    broker.stop()
    with pytest.raises(TryLater, match=r"cannot be reached: .*; expected a broker that answers"):
        next(iter_of(address(broker)))
    broker.start()
    from tests.engine.sources.mqtt.broker import Broker as Strict

    strict = Strict("allow_anonymous false")
    try:
        with pytest.raises(EngineError, match="the broker refuses: Not authorized"):
            next(iter_of(address(strict)))
    finally:
        strict.close()


def iter_of(text: str) -> Iterator[Delivery]:
    return parse_source("readings", text, SCHEMA).start(lambda id: None, SignalWaiter()).deliveries()


def test_hand_over_acknowledges_after_the_commit() -> None:
    calls: list[str] = []

    class Inlet:
        def push(self, *args: object, **more: object) -> None:
            calls.append("committed")

    table = SCHEMA.arrow.empty_table()
    hand_over(Inlet(), Delivery("readings", table, "s", "1", (), lambda: calls.append("told")))  # type: ignore[arg-type]
    assert calls == ["committed", "told"]


@dataclass(frozen=True)
class Message:
    """A message, as the client library has it."""

    payload: bytes
    topic: str = "t"


@pytest.mark.parametrize(
    ("format", "schema", "payloads", "rows", "faults"),
    [
        ("text", "v double", [b"1.5", b" 2 ", b"x", b"\xff"], [(1.5,), (2.0,)], 2),
        ("text", "v string not null", [b"a,b", b""], [("a,b",), ("",)], 0),
        ("csv", "n int, s string", [b'2,""', b"3,", b'4,"x,y"'], [(2, ""), (3, None), (4, "x,y")], 0),
        ("csv", "n int, s string", [b"1,a", b"2", b"3,c,d", b"x,e", b"", b"4,f\n5,g"], [(1, "a")], 5),
        ("csv", "n int not null", [b"1", b"", b"2"], [(1,), (2,)], 1),
        ("json", "n int not null, s string", [b'{"n": 1}', b'{"s": "x"}', b"[]"], [(1, None)], 2),
    ],
)  # fmt: skip
def test_payloads(
    format: str, schema: str, payloads: list[bytes], rows: list[tuple[object, ...]], faults: int
) -> None:
    batch = Decoding(parse_schema(schema), format, "UTC").batch([Message(each) for each in payloads])
    assert [tuple(row.values()) for row in batch.table.to_pylist()] == rows
    assert len(batch.rejected) == faults
    assert batch.table.schema == parse_schema(schema).arrow


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mqtt://host/?topic=a", "the address has no id; expected mqtt://HOST"),
        ("mqtt://host/?id=a", "the address has no topic"),
        ("mqtt:?topic=a&id=b", "the address has no host"),
        ("mqtt://me:geheim@host/?topic=a&id=b", "holds a password"),
        ("mqtt://host/?topic=a&id=b&form=json", "'form' is no setting of it; expected one of topic, id"),
        ("mqtt://host/?topic=a&id=b&most=0", "most is '0'; expected a whole number from 1 to 30,000"),
        ("mqtt://host/?topic=a&id=b&attribute=n", "attribute=n is no string of the input; expected place"),
        ("mqtt://host/?topic=a&id=b&format=text", r"format=text fills one attribute, and left are \(place"),
    ],
)
def test_addresses_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        parse_source("readings", text, SCHEMA)
