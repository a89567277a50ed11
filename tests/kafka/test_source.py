"""A topic of a real broker as a source."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from tests.kafka.broker import Broker
from tests.kafka.messages import produce

from australis.algebra.schema import parse_schema
from australis.engine.sources import Delivery, Options, SignalWaiter, parse_source
from australis.errors import EngineError

_names = count()


@pytest.fixture
def topic() -> str:
    return f"reports-{next(_names)}"


def source(broker: Broker, topic: str, schema: str, options: str = "", *, follow: bool = False) -> Any:
    text = f"kafka:{topic}?servers={broker.servers}{options}"
    return parse_source("reports", text, parse_schema(schema), Options(follow=follow))


def rows(deliveries: list[Delivery]) -> list[dict[str, Any]]:
    return [row for each in deliveries for row in each.content.to_pylist()]


def read(broker: Broker, topic: str, schema: str, options: str = "", at: str | None = None) -> list[Delivery]:
    """Read a topic to its end."""
    return list(source(broker, topic, schema, options).start(lambda id: at, SignalWaiter()).deliveries())


def objects(numbers: range, **more: Any) -> Iterator[dict[str, Any]]:
    return ({"value": json.dumps({"n": n}).encode(), **more} for n in numbers)


def test_values_keys_headers_and_places(broker: Broker, topic: str) -> None:
    broker.create(topic, retention_ms="-1")
    message = {"value": b'{"speed": 50.5,\n "other": 1}', "key": b"17", "timestamp": 1_700_000_000_123}
    produce(broker, topic, [{**message, "headers": [("lane", b"x"), ("lane", b"left")]}])
    schema = "car int, speed double, lane string, at timestamp, p int, o long"
    options = "&key=car&header.lane=lane&timestamp=at&partition=p&offset=o"
    (row,) = rows(read(broker, topic, schema, options))
    assert row.pop("at").timestamp() == 1_700_000_000.123
    assert row == {"car": 17, "speed": 50.5, "lane": "left", "p": 0, "o": 0}


def test_poison_is_rejected_with_its_place(broker: Broker, topic: str) -> None:
    broker.create(topic)
    produce(broker, topic, [{"value": each} for each in (b'{"n": 1}', b"\xff", b'{"n": "x"}', b'{"n": 4}')])
    found = read(broker, topic, "n int not null")
    assert rows(found) == [{"n": 1}, {"n": 4}]
    reasons = [each.reason for delivery in found for each in delivery.rejected]
    assert reasons == [
        f"kafka:{topic}, partition 0, offset 1: is not UTF-8",
        f"kafka:{topic}, partition 0, offset 2: 'x' in attribute n is a string; expected a JSON number",
    ]


def test_tombstones(broker: Broker, topic: str) -> None:
    broker.create(topic)
    produce(broker, topic, [{"key": b"a", "value": b'{"n": 1}'}, {"key": b"a", "value": None}])
    assert rows(read(broker, topic, "k string, n int", "&key=k")) == [
        {"k": "a", "n": 1},
        {"k": "a", "n": None},
    ]
    assert rows(read(broker, topic, "k string, n int", "&key=k&tombstones=skip")) == [{"k": "a", "n": 1}]


def test_a_run_continues_after_the_last_position(broker: Broker, topic: str) -> None:
    broker.create(topic, 3)
    produce(broker, topic, objects(range(100)))
    first = read(broker, topic, "n int")
    produce(broker, topic, objects(range(100, 130)))
    second = read(broker, topic, "n int", at=first[-1].position)
    assert sorted(row["n"] for row in rows(first)) == list(range(100))
    assert sorted(row["n"] for row in rows(second)) == list(range(100, 130))
    assert read(broker, topic, "n int", at=second[-1].position) == []


def test_latest_is_what_it_was_when_the_first_run_began(broker: Broker, topic: str) -> None:
    broker.create(topic)
    produce(broker, topic, objects(range(10)))
    (first,) = read(broker, topic, "n int", "&start=latest")
    assert first.content.num_rows == 0
    produce(broker, topic, objects(range(10, 12)))
    later = read(broker, topic, "n int", "&start=latest", first.position)
    assert rows(later) == [{"n": 10}, {"n": 11}]


def test_a_start_and_an_end_by_time(broker: Broker, topic: str) -> None:
    broker.create(topic, retention_ms="-1")
    second = 1_700_000_000_000
    for n in range(10):
        produce(broker, topic, objects(range(n, n + 1), timestamp=second + n * 1000))
    options = "&start=2023-11-14T22:13:23Z&end=2023-11-14T22:13:26Z"
    assert rows(read(broker, topic, "n int", options)) == [{"n": 3}, {"n": 4}, {"n": 5}]


def test_only_committed_transactions_are_read(broker: Broker, topic: str) -> None:
    from confluent_kafka import Producer

    broker.create(topic)
    producer = Producer({"bootstrap.servers": broker.servers, "transactional.id": f"t-{topic}"})
    producer.init_transactions(30)
    for n, ends in enumerate((producer.commit_transaction, producer.abort_transaction) * 2):
        producer.begin_transaction()
        producer.produce(topic, json.dumps({"n": n}).encode())
        producer.flush(30)
        ends(30)
    found = read(broker, topic, "n int")
    assert rows(found) == [{"n": 0}, {"n": 2}]
    # Markers have offsets, too: the position is after them.
    assert read(broker, topic, "n int", at=found[-1].position) == []
    assert [row["n"] for row in rows(read(broker, topic, "n int", "&isolation=read_uncommitted"))] == [
        0,
        1,
        2,
        3,
    ]


class Following:
    """A source that is read in a thread of its own."""

    def __init__(self, started: Any) -> None:
        self.waiter = SignalWaiter()
        self.rows: list[dict[str, Any]] = []
        self.rejected: list[str] = []
        self.error: BaseException | None = None
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._read, args=(started,), daemon=True)
        self._thread.start()

    def _read(self, started: Any) -> None:
        try:
            for each in started.start(lambda id: None, self.waiter).deliveries():
                with self._news:
                    self.rows += each.content.to_pylist()
                    self.rejected += [row.reason for row in each.rejected]
                    self._news.notify_all()
        except EngineError as error:
            self.error = error
        with self._news:
            self._news.notify_all()

    def until(self, wanted: Callable[[Following], bool]) -> None:
        with self._news:
            assert self._news.wait_for(lambda: wanted(self), 90)

    def end(self) -> None:
        self.waiter.end()
        self._thread.join(60)


def test_new_partitions_are_noticed(broker: Broker, topic: str) -> None:
    from confluent_kafka.admin import NewPartitions

    broker.create(topic)
    following = Following(source(broker, topic, "n int, p int", "&partition=p", follow=True))
    produce(broker, topic, objects(range(3)))
    following.until(lambda it: len(it.rows) == 3)
    with broker.admin() as admin:
        admin.create_partitions([NewPartitions(topic, 3)])[topic].result(30)
    produce(broker, topic, objects(range(3, 6), partition=2))
    following.until(lambda it: len(it.rows) == 6)
    following.end()
    assert [row["p"] for row in following.rows] == [0, 0, 0, 2, 2, 2]


@pytest.mark.parametrize("policy", ["fail", "skip"])
def test_deleted_messages_are_not_lost_silently(broker: Broker, topic: str, policy: str) -> None:
    from confluent_kafka import TopicPartition

    broker.create(topic)
    produce(broker, topic, objects(range(5)))
    first = read(broker, topic, "n int")
    produce(broker, topic, objects(range(5, 20)))
    with broker.admin() as admin:
        for each in admin.delete_records([TopicPartition(topic, 0, 12)]).values():
            each.result(30)
    if policy == "fail":
        with pytest.raises(
            EngineError, match="partition 0: offsets 5 to 11 were deleted unread; expected lost=skip"
        ):
            read(broker, topic, "n int", at=first[-1].position)
    else:
        found = read(broker, topic, "n int", "&lost=skip", at=first[-1].position)
        assert [row["n"] for row in rows(found)] == list(range(12, 20))
        (lost,) = [each.reason for delivery in found for each in delivery.rejected]
        assert lost == f"kafka:{topic}, partition 0: offsets 5 to 11 were deleted unread"


def test_another_topic_of_the_same_name_is_refused(broker: Broker, topic: str) -> None:
    broker.create(topic)
    produce(broker, topic, objects(range(5)))
    first = read(broker, topic, "n int")
    with broker.admin() as admin:
        admin.delete_topics([topic])[topic].result(30)
    with pytest.raises(EngineError, match="there is no topic"):
        read(broker, topic, "n int", at=first[-1].position)
    broker.create(topic)
    produce(broker, topic, objects(range(50)))
    with pytest.raises(EngineError, match="the topic was deleted and made again"):
        read(broker, topic, "n int", at=first[-1].position)
    again = read(broker, topic, "n int", "&lost=skip", at=first[-1].position)
    assert len(rows(again)) == 50


def test_a_topic_that_is_deleted_ends_the_run_with_an_error(broker: Broker, topic: str) -> None:
    broker.create(topic)
    produce(broker, topic, objects(range(5)))
    following = Following(source(broker, topic, "n int", follow=True))
    following.until(lambda it: len(it.rows) == 5)
    with broker.admin() as admin:
        admin.delete_topics([topic])[topic].result(30)
    following.until(lambda it: it.error is not None)
    assert "topic" in str(following.error)


def test_texts_and_bytes(broker: Broker, topic: str) -> None:
    broker.create(topic)
    produce(broker, topic, [{"value": "Zoë".encode()}, {"value": b"\xff"}])
    found = read(broker, topic, "line string", "&value=text")
    assert rows(found) == [{"line": "Zoë"}]
    assert [row["line"] for row in rows(read(broker, topic, "line string", "&value=base64"))] == [
        "Wm/Dqw==",
        "/w==",
    ]


def test_avro(broker: Broker, topic: str) -> None:
    from decimal import Decimal

    import pyarrow as pa

    from australis.engine.kafka import avro_codec, parse_address

    schema = parse_schema("n int not null, at timestamp, price decimal(10,2), name string")
    address = parse_address(f"kafka:{topic}?servers=x:1&value=avro", ["value"])
    table = pa.table(
        [[1, 2], pa.array([5, None], pa.timestamp("us", "UTC")), [Decimal("1.25"), None], ["Zoë", None]],
        schema.arrow,
    )
    broker.create(topic)
    values = [*avro_codec(address, schema).texts(table), b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b""]
    produce(broker, topic, [{"value": value} for value in values])
    found = read(broker, topic, str(schema), "&value=avro")
    assert rows(found) == table.to_pylist()
    reasons = [row.reason for each in found for row in each.rejected]
    assert [f"offset {n}: is no Avro record" in reason for n, reason in enumerate(reasons, 2)] == [True, True]
