"""What can be said of a topic, and how messages are read: without a broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from australis.algebra.schema import parse_schema
from australis.engine.files import JsonObjects
from australis.engine.kafka import client_settings, parse_address
from australis.engine.sinks import parse_sink
from australis.engine.sources import Options, parse_source
from australis.engine.sources.kafka.place import Place, read_place
from australis.errors import EngineError

AT = "kafka:reports?servers=127.0.0.1:9092"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kafka:?servers=a:1", "no name of a topic"),
        ("kafka:reports", "servers is missing"),
        (f"{AT}&valeu=json", "there is no option 'valeu'"),
        (f"{AT}&value=xml", "value is 'xml'; expected one of json, avro"),
        (f"{AT}&value=json&value=text", "value is given twice"),
        (f"{AT}&key=", "key is empty"),
        (f"{AT}&key=nobody", "there is no attribute 'nobody'"),
        (f"{AT}&key=n&header.x=n", "the attribute 'n' is filled twice"),
        (f"{AT}&timestamp=n", "the attribute 'n' of the timestamp is a int; expected timestamp"),
        (f"{AT}&value=text", r"fills one attribute, a string, and left are \(n int, name string\)"),
        (f"{AT}&start=noon", "start is 'noon'; expected earliest, latest or a time"),
        (f"{AT}&patience=soon", "patience is 'soon'; expected a length of time"),
        ("kafka:reports?servers=ada:secret@127.0.0.1:9092", "servers has a user in it"),
    ],
)
def test_a_wrong_source_is_refused(text: str, message: str) -> None:
    with pytest.raises(EngineError, match=message) as error:
        parse_source("reports", text, parse_schema("n int, name string"))
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{AT}&partitioner=mine", "partitioner is 'mine'"),
        (f"{AT}&partitions=many", "partitions is 'many'; expected a whole number"),
        (f"{AT}&key=nobody", "there is no attribute 'nobody'"),
        (f"{AT}&value=text", "left are n int, name string"),
    ],
)
def test_a_wrong_sink_is_refused(text: str, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        parse_sink("reports", text, parse_schema("n int, name string"))


def test_a_source_has_no_end_if_it_is_followed() -> None:
    schema = parse_schema("n int")
    assert not parse_source("reports", AT, schema).is_endless
    assert parse_source("reports", AT, schema, Options(follow=True)).is_endless
    assert not parse_source("reports", f"{AT}&end=latest", schema, Options(follow=True)).is_endless


def test_secrets_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "client.properties"
    file.write_text("# ours\n\nsasl.password=${AUSTRALIS_KAFKA_PASSWORD}\nbootstrap.servers = b:1\n")
    monkeypatch.setenv("AUSTRALIS_KAFKA_PASSWORD", "a=b%26")
    settings = client_settings(parse_address(f"kafka:t?properties={file}", []))
    assert (settings["sasl.password"], settings["bootstrap.servers"]) == ("a=b%26", "b:1")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("isolation.level=read_uncommitted", "line 1: isolation.level is set by kafka:t"),
        ("password", "line 1: is no setting"),
        ("sasl.password=${AUSTRALIS_NOT_THERE}", "AUSTRALIS_NOT_THERE is not set"),
        ("sasl.password=${HOME}", "may not read the environment variable HOME"),
    ],
)
def test_a_wrong_file_of_settings_is_refused(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"{line}\n")
    with pytest.raises(EngineError, match=message):
        client_settings(parse_address(f"kafka:t?servers=a:1&properties={file}", []))


def test_a_place_is_read_as_it_was_written() -> None:
    place = Place("id", 3, {0: 7, 11: 1 << 40}, {11: 2})
    assert read_place(place.text, "kafka:t") == place
    for text in ("7", '{"partitions": []}', '{"topic": "x", "turn": 1, "partitions": {"0": 7}}'):
        with pytest.raises(EngineError, match="is none of a topic"):
            read_place(text, "kafka:t")


TEXTS: list[tuple[bytes | None, Any]] = [
    (b'{"n": 1, "name": "a"}', (1, "a")),
    (b'{"n": 2,\n  "name": "b"}\n', (2, "b")),
    (b'{"n": 3}\n{"n": 4}', "is no JSON"),
    (b'{"n": 5, "name": "line\nend"}', "is no JSON"),
    (b"", "is no JSON"),
    (None, (None, None)),
    (b"[1]", "no JSON object"),
    (b'{"name": "c", "n": 6}', (6, "c")),
]


@pytest.mark.parametrize("times", [1, 200])
def test_each_text_is_one_object_or_none(times: int) -> None:
    objects = JsonObjects(parse_schema("n int, name string"), "UTC")
    columns, faults = objects.columns([text for text, _ in TEXTS] * times)
    for place, (_, expected) in enumerate(TEXTS * times):
        row = (columns["n"][place].as_py(), columns["name"][place].as_py())
        if isinstance(expected, str):
            assert expected in faults[place]
            assert row == (None, None)
        else:
            assert place not in faults
            assert row == expected
