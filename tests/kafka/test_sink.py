"""A topic of a real broker as a sink."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.engine.sinks.shelf import SCHEMA, Shelf, tuples
from tests.kafka.broker import Broker
from tests.kafka.messages import read_all

from australis.algebra.schema import parse_schema
from australis.engine.sinks import parse_sink, write_out
from australis.errors import EngineError

_names = count()


@pytest.fixture
def topic() -> str:
    return f"alarms-{next(_names)}"


def sink(broker: Broker, topic: str, options: str = "", schema: str = str(SCHEMA)) -> Any:
    text = f"kafka:{topic}?servers={broker.servers}{options}"
    return parse_sink("alarms", text, parse_schema(schema))


def numbers(broker: Broker, topic: str, partitions: int = 1) -> list[int]:
    return [json.loads(each.value())["n"] for each in read_all(broker, topic, partitions)]


class Forgetful(Shelf):
    """Loses every acknowledgement from a number on, as a node that is killed at that moment."""

    def __init__(self, folder: Path, table: Any, losing: int) -> None:
        super().__init__(folder, table)
        self._losing = losing

    def acknowledge(self, consumer: str, output: str, seq: int, position: str | None = None) -> None:
        if seq >= self._losing:
            raise InterruptedError("killed")
        super().acknowledge(consumer, output, seq, position)


def test_tuples_are_messages_with_keys_headers_and_times(broker: Broker, topic: str, tmp_path: Path) -> None:
    table = tuples(40)
    table = table.append_column("at", table["#ts"])
    broker.create(topic, retention_ms="-1")
    options = "&key=n&header.w=word&timestamp=at"
    write_out(Shelf(tmp_path, table), sink(broker, topic, options, f"{SCHEMA}, at timestamp"))
    found = read_all(broker, topic)
    assert [int(each.key()) for each in found] == list(range(40))
    assert [each.timestamp()[1] for each in found] == [1_704_067_200_000] * 40
    assert [dict(each.headers() or ()) for each in found[:2]] == [{}, {"w": b'a "word",\n1'}]
    assert json.loads(found[1].value()) == {
        "n": 1,
        "word": 'a "word",\n1',
        "half": 0.5,
        "at": "2024-01-01T00:00:00Z",
    }


def test_a_transaction_whose_acknowledgement_is_lost_is_not_repeated(
    broker: Broker, topic: str, tmp_path: Path
) -> None:
    broker.create(topic, 3)
    with pytest.raises(InterruptedError):
        write_out(Forgetful(tmp_path, tuples(60), 100), sink(broker, topic))
    assert 0 < len(numbers(broker, topic, 3)) < 60
    write_out(Shelf(tmp_path, tuples(60)), sink(broker, topic))
    write_out(Shelf(tmp_path, tuples(90)), sink(broker, topic))
    assert sorted(numbers(broker, topic, 3)) == list(range(90))


def test_a_zombie_writes_nothing_any_more(broker: Broker, topic: str, tmp_path: Path) -> None:
    broker.create(topic)
    shelf = Shelf(tmp_path, tuples(60))
    with sink(broker, topic).start(shelf) as zombie:
        first = next(zombie.steps(iter(()), lambda table: None, is_last=True))
        first()
        with sink(broker, topic).start(shelf) as other:
            with pytest.raises(EngineError, match="another writer has begun"):
                next(zombie.steps(iter(()), lambda table: None, is_last=True))()
            for step in other.steps(iter(()), lambda table: None, is_last=True):
                step()
    assert numbers(broker, topic) == list(range(60))


def test_a_missing_topic_is_refused_or_made(broker: Broker, topic: str, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"there is no topic .*partitions=N to make it"):
        sink(broker, topic).check(None)
    write_out(Shelf(tmp_path, tuples(10)), sink(broker, topic, "&partitions=2"))
    assert sorted(numbers(broker, topic, 2)) == list(range(10))


def test_positions_that_would_expire_are_refused(broker: Broker, topic: str, tmp_path: Path) -> None:
    broker.create(topic)
    broker.create(f"{topic}-positions", cleanup_policy="delete")
    with pytest.raises(EngineError, match=r"cleanup\.policy=delete"):
        write_out(Shelf(tmp_path, tuples(10)), sink(broker, topic, f"&positions={topic}-positions"))


def test_lost_positions_are_noticed(broker: Broker, topic: str, tmp_path: Path) -> None:
    broker.create(topic)
    write_out(Shelf(tmp_path, tuples(10)), sink(broker, topic))
    with pytest.raises(EngineError, match="has no record of australis-"):
        write_out(Shelf(tmp_path, tuples(20)), sink(broker, topic, "&positions=other-positions"))


def test_another_root_under_the_same_name_begins_anew(broker: Broker, topic: str, tmp_path: Path) -> None:
    broker.create(topic)
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        write_out(Shelf(folder, tuples(10)), sink(broker, topic, f"&writer=w-{topic}"))
    assert numbers(broker, topic) == [*range(10), *range(10)]


def test_texts_and_avro(broker: Broker, topic: str, tmp_path: Path) -> None:
    from australis.engine.sources import SignalWaiter, parse_source

    (tmp_path / "a").mkdir()
    broker.create(topic)
    broker.create(f"{topic}-avro")
    write_out(
        Shelf(tmp_path, tuples(10).select(["n", "word", "#ts", "#seq"])),
        sink(broker, topic, "&value=text&key=n", "n long, word string"),
    )
    assert [each.value() for each in read_all(broker, topic)[:2]] == [None, b'a "word",\n1']
    write_out(Shelf(tmp_path / "a", tuples(10)), sink(broker, f"{topic}-avro", "&value=avro"))
    text = f"kafka:{topic}-avro?servers={broker.servers}&value=avro"
    source = parse_source("alarms", text, SCHEMA).start(lambda id: None, SignalWaiter())
    found = [row for each in source.deliveries() for row in each.content.to_pylist()]
    assert found == tuples(10).select(list(SCHEMA.names)).to_pylist()
