"""Every message, forged in every way: refused or without effect, and the links of others go on.

The stranger is a node of the same participant with a true certificate; who has none does not get so far
(tests/cluster/transport/test_peers.py).
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from tests.cluster.identities import identity
from tests.cluster.nodes import Linked, numbers
from tests.waiting import until

import australis
from australis.algebra.network import Network
from australis.algebra.schema import TS
from australis.cluster.identity import Credentials
from australis.cluster.wire import (
    FRAME_BYTES,
    HEAD,
    VERSION,
    Agree,
    Ask,
    Assembly,
    Beat,
    Begin,
    Chunk,
    Close,
    Define,
    Echo,
    Fetch,
    Hello,
    Keep,
    Message,
    Post,
    Refusal,
    Refused,
    Stored,
    Tuples,
    Worth,
    cut,
    encoded,
    packed,
)

TABLE = numbers(666).append_column(TS, pa.array([7], pa.timestamp("us", "UTC")))
SCHEMA = TABLE.schema.serialize().to_pybytes()
BODY = bytes(packed(TABLE))
LIFE = "0000000000000001-0000000000000001"
UNKNOWN = 999_999


def network() -> Network:
    """Inputs for the link of a friend, and for one of the stranger."""
    net = australis.NetworkBuilder("attacked")
    net.input("n", "k long not null, v double").output("seen")
    net.input("m", "k long not null, v double").output("strange")
    return net.build()


class Stranger:
    """A connection with a node, on which anything may be sent."""

    lives = 0

    def __init__(
        self, folder: Path, place: tuple[str, int], name: str = "lab/x", *, greets: bool = True
    ) -> None:
        bare = socket.create_connection(place)
        bare.settimeout(20)
        self._socket = Credentials.load(identity(folder, name)).dialling.wrap_socket(bare)
        self._assembly = Assembly(1 << 24)
        self._heard: list[Message] = []
        if greets:
            # Later than any life of this name before.
            Stranger.lives += 1
            self.say(Hello(VERSION, Stranger.lives, is_dialler=True))
            assert isinstance(self.hear(Hello).said, Hello)

    def say(self, *said: Any, body: bytes = b"", stream: int = 0) -> None:
        for each in said:
            self.send(b"".join(head + bytes(piece) for head, piece in cut(stream, encoded(each, body))))

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def hear(self, kind: type) -> Message:
        """The next message of a kind; others are passed over."""
        while True:
            for index, message in enumerate(self._heard):
                if isinstance(message.said, kind):
                    del self._heard[: index + 1]
                    return message
            self._read()

    def _read(self) -> None:
        data = self._socket.recv(1 << 16)
        if not data:
            raise EOFError
        self._heard += self._assembly.feed(data)

    def is_ended(self) -> bool:
        """Whether the node ends the connection."""
        try:
            while True:
                self._read()
        except (EOFError, ConnectionError, ssl.SSLError):
            # That is what is asked.
            return True

    def is_answered(self) -> bool:
        """Whether the node still answers a beat: everything before it was dealt with."""
        self.say(Beat(77))
        while True:
            said = self.hear(Echo).said
            if isinstance(said, Echo) and said.beat == 77:
                return True

    def close(self) -> None:
        self._socket.close()


@dataclass
class Scene:
    """The node that is attacked, a friend that it reads, and one that reads it."""

    folder: Path
    a: Linked
    writer: Linked
    reader: Linked
    pushed: int = 0
    strangers: list[Stranger] = field(default_factory=list)

    def stranger(self, **how: Any) -> Stranger:
        found = Stranger(self.folder, self.a.place, **how)
        self.strangers.append(found)
        return found

    def leave(self) -> None:
        """End all connections of strangers."""
        while self.strangers:
            self.strangers.pop().close()

    def check(self) -> None:
        """Friends go on as before, and nothing has come from a stranger."""
        self.leave()
        self.pushed += 1
        self.writer.node.push("n", numbers(self.pushed))
        wanted = list(range(1, self.pushed + 1))
        until(lambda: self.a.seen() == wanted and self.reader.seen() == wanted)
        assert self.a.seen("strange") == []

    def refused(self) -> int:
        return sum(self.a.cluster.status().refused.values())

    def number(self, name: str) -> int:
        """The number that a link of the node has now."""
        return self.a.cluster._readers[name].number


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("attacks")
    with (
        Linked(folder, "lab/a", network()) as a,
        Linked(folder, "lab/c") as writer,
        Linked(folder, "lab/d") as reader,
    ):
        a.reads(writer)
        reader.reads(a)
        found = Scene(folder, a, writer, reader)
        # So that nothing is deleted that the friend has read.
        a.node.acknowledge("watch", "seen", 0)
        found.check()
        yield found
        found.leave()


def messages(link: int) -> dict[str, tuple[Any, bytes]]:
    """Each message, as far as possible sound in itself."""
    return {
        "hello": (Hello(VERSION, 1, is_dialler=True), b""),
        "beat": (Beat(1), b""),
        "echo": (Echo(1, 2), b""),
        "ask": (Ask(link, "nothing", "n", 1.0), b""),
        "define": (Define(link, "nothing", "n", 1.0, 1, b"{}"), b""),
        "keep": (Keep(("n",)), b""),
        "agree": (Agree(link, LIFE, 0, SCHEMA), b""),
        "begin": (Begin(link, 0, 1 << 20), b""),
        "tuples": (Tuples(link, 0, 5, 1), BODY),
        "stored": (Stored(link, 5), b""),
        "worth": (Worth(link, ((0, 1), (1, 0)), ((0, 0), (1, 1)), 2.0, 5), b""),
        "refusal": (Refusal(link, Refused.STOPPED, "because"), b""),
        "close": (Close(link), b""),
        "post": (Post("nonsense", b"data"), b""),
        "fetch": (Fetch(link, "0123456789abcdef", "parcel", 0), b""),
        "chunk": (Chunk(link, 0, 5, is_there=True), b"bytes"),
    }


MESSAGES = [*messages(1)]
HARMLESS = {"beat", "echo", "keep"}
"""They say nothing that a node relies on, but for the offset of a clock that it shows, and of pieces that are
not there."""


@pytest.mark.parametrize("kind", MESSAGES)
def test_before_the_hello(scene: Scene, kind: str) -> None:
    stranger = scene.stranger(greets=False)
    said, body = messages(UNKNOWN)[kind]
    stranger.say(said, body=body)
    if kind not in (HARMLESS - {"keep"}) | {"hello"}:
        assert stranger.is_ended()
    scene.check()


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("kind", MESSAGES)
def test_about_a_link_that_there_is_not_once_and_replayed(scene: Scene, kind: str, times: int) -> None:
    stranger, before = scene.stranger(), scene.refused()
    said, body = messages(UNKNOWN)[kind]
    for _ in range(times):
        stranger.say(said, body=body, stream=UNKNOWN if body else 0)
    if kind == "hello":
        assert stranger.is_ended()
    else:
        until(lambda: kind in HARMLESS or scene.refused() >= before + times)
        assert stranger.is_answered()
    scene.check()


@pytest.mark.parametrize("kind", ["agree", "begin", "tuples", "stored", "worth", "refusal", "close"])
def test_about_a_link_of_another_node(scene: Scene, kind: str) -> None:
    stranger, before = scene.stranger(), scene.refused()
    for number in {scene.number("n"), 1, 2}:
        said, body = messages(number)[kind]
        stranger.say(said, body=body, stream=number if body else 0)
    until(lambda: scene.refused() >= before + 2)
    scene.check()


def damaged(text: bytes) -> Iterator[bytes]:
    """The JSON of a message without a field, with one more, with one of another type, and cut off."""
    fields = json.loads(text)
    name = next(key for key in fields if key != "type")
    yield json.dumps({key: value for key, value in fields.items() if key != name}).encode()
    yield json.dumps({**fields, name: {"not": "this"}}).encode()
    yield json.dumps({**fields, "more": 1}).encode()
    yield text[:-1]


@pytest.mark.parametrize("kind", MESSAGES)
def test_malformed(scene: Scene, kind: str) -> None:
    said, _ = messages(UNKNOWN)[kind]
    for text in damaged(msgspec.json.encode(said)):
        stranger = scene.stranger()
        data = struct.pack(">I", len(text)) + text
        stranger.send(HEAD.pack(0, 1, len(data)) + data)
        assert stranger.is_ended(), text
    scene.check()


@pytest.mark.parametrize("kind", MESSAGES)
def test_too_large(scene: Scene, kind: str) -> None:
    """A control message of more than 64 KB, whatever it is."""
    said, _ = messages(UNKNOWN)[kind]
    stranger = scene.stranger()
    text = msgspec.json.encode(said) + b" " * (FRAME_BYTES + 1)
    data = struct.pack(">I", len(text)) + text
    stranger.send(b"".join(head + bytes(piece) for head, piece in cut(0, [memoryview(data)])))
    assert stranger.is_ended()
    scene.check()


# --- a stranger that a link was drawn to


Sends = Callable[[Stranger, int], None]


def agreed(stranger: Stranger, link: int, begin: int = 0) -> None:
    stranger.say(Agree(link, LIFE, begin, SCHEMA))
    stranger.hear(Begin)


def tuples(stranger: Stranger, link: int, begin: int, end: int, rows: int = 1, body: bytes = BODY) -> None:
    stranger.say(Tuples(link, begin, end, rows), body=body, stream=link)


def wrong_schema(stranger: Stranger, link: int) -> None:
    stranger.say(Agree(link, LIFE, 0, pa.schema([("other", pa.int64())]).serialize().to_pybytes()))


def damaged_schema(stranger: Stranger, link: int) -> None:
    stranger.say(Agree(link, LIFE, 0, SCHEMA[:40]))


def before_it_agreed(stranger: Stranger, link: int) -> None:
    tuples(stranger, link, 0, 5)


def with_a_gap(stranger: Stranger, link: int) -> None:
    agreed(stranger, link)
    tuples(stranger, link, 3, 5)


def backwards(stranger: Stranger, link: int) -> None:
    agreed(stranger, link, 9)
    tuples(stranger, link, 3, 5)


def of_another_schema(stranger: Stranger, link: int) -> None:
    agreed(stranger, link)
    tuples(stranger, link, 0, 5, body=bytes(packed(pa.table({"k": [1]}))))


def damaged_tuples(stranger: Stranger, link: int) -> None:
    agreed(stranger, link)
    tuples(stranger, link, 0, 5, body=BODY[:-40])


def no_tuples(stranger: Stranger, link: int) -> None:
    agreed(stranger, link)
    tuples(stranger, link, 0, 5, body=b"")


def too_many_said(stranger: Stranger, link: int) -> None:
    agreed(stranger, link)
    tuples(stranger, link, 0, 5, rows=9)


def refusing(stranger: Stranger, link: int) -> None:
    stranger.say(Refusal(link, Refused.LOST, "lost"))


@pytest.mark.parametrize(
    "sends",
    [
        wrong_schema,
        damaged_schema,
        before_it_agreed,
        with_a_gap,
        backwards,
        of_another_schema,
        damaged_tuples,
        no_tuples,
        too_many_said,
        refusing,
    ],
)
def test_a_writer_that_breaks_the_rules(scene: Scene, sends: Sends) -> None:
    """Its link is closed and asked for again; nothing of it comes in."""
    stranger = scene.stranger()
    scene.a.cluster.link("m", "lab/x/out")
    try:
        ask = stranger.hear(Ask).said
        assert isinstance(ask, Ask)
        sends(stranger, ask.link)
        closed = stranger.hear(Close).said
        assert closed == Close(ask.link)
        again = stranger.hear(Ask).said
        assert isinstance(again, Ask)
        assert again.link != ask.link
        # What still comes under the old number is of no effect.
        tuples(stranger, ask.link, 0, 5)
        assert stranger.is_answered()
    finally:
        scene.a.cluster.unlink("m")
    scene.check()


# --- a stranger that reads


def test_a_reader_that_breaks_the_rules(scene: Scene) -> None:
    """It says that it has stored what was never sent, begins twice, and asks twice under one number."""
    stranger, before = scene.stranger(), scene.refused()
    stranger.say(Stored(1, 5), Ask(1, "seen", "x", 1.0))
    agree = stranger.hear(Agree).said
    assert isinstance(agree, Agree)
    stranger.say(
        Stored(1, 1 << 40), Begin(1, 0, 1 << 20), Begin(1, 1 << 40, 1 << 20), Ask(1, "seen", "y", 1.0)
    )
    first = stranger.hear(Tuples).said
    assert isinstance(first, Tuples)
    assert first.begin == 0
    stranger.say(Stored(1, first.end + (1 << 30)), Stored(1, first.end), Stored(1, 0))
    until(lambda: scene.refused() >= before + 5)
    for delay, loss in (
        (((0, 0.5), (1, 1)), ()),
        (((1, 1), (0, 0)), ()),
        (((0, 0.5), (1, 0.2)), ()),
        ((), ((0, 1), (1, 0))),
        ((), ((0, 0), (2, 1))),
    ):
        stranger.say(Worth(1, delay, loss, 1.0, 0))
    until(lambda: scene.refused() >= before + 10)
    assert stranger.is_answered()
    assert scene.a.cluster.status().refused["no_graph"] == 5
    stranger.say(Close(1), Close(1))
    scene.leave()
    until(lambda: not any(each.reader.startswith("lab/x") for each in scene.a.cluster.status().links_out))
    scene.a.node.forget("link:lab/x/x", "seen")
    scene.check()
