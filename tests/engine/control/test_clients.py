"""Who may speak with a node, and in which words; many at once."""

from __future__ import annotations

import os
import socket
import stat
import struct
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.control.house import House, bare, cars, fast, reached

from australis.engine.control.address import FILE, VERSION, Place
from australis.engine.control.channel import Channel
from australis.engine.control.client import Control, reach
from australis.engine.control.server import ControlServer
from australis.errors import EngineError


def test_the_key_is_for_the_user_only(server: ControlServer, tmp_path: Path) -> None:
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(server.place.address).parent.stat().st_mode) == 0o700


def test_a_wrong_key(server: ControlServer, tmp_path: Path) -> None:
    replace(server.place, key="0" * 64).write(tmp_path)
    with pytest.raises(EngineError, match="key: is not the key of this node; expected the key in the file"):
        reach(tmp_path)


def test_a_node_without_the_key(tmp_path: Path) -> None:
    """Somebody else who listens there learns nothing and is not believed."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(tmp_path / "s"))
    listener.listen()
    Place(str(tmp_path / "s"), "ab" * 32, 1, "0.1").write(tmp_path)

    def pretend() -> None:
        channel = Channel(listener.accept()[0], 60)
        channel.send({"version": VERSION, "australis": "0.1", "nonce": "00"})
        channel.receive()
        channel.send({"proof": "guessed"})
        channel.close()

    thread = threading.Thread(target=pretend)
    thread.start()
    with pytest.raises(EngineError, match="has not the key of its own file"):
        reach(tmp_path)
    thread.join()
    listener.close()


def test_garbage_is_refused_and_changes_nothing(server: ControlServer, control: Control) -> None:
    for garbage in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\x80\x04\x95", os.urandom(5000)):
        connected = bare(server)
        connected.sendall(garbage)
        connected.shutdown(socket.SHUT_WR)
        assert (b"begins with" in _all_of(connected)) == (len(garbage) > 9)
        connected.close()
    assert control.statistics() == {"log_end": 0}


def _all_of(connected: socket.socket) -> bytes:
    """What is received to the end; what was not read by the other side makes the end a reset."""
    said = b""
    with suppress(ConnectionResetError):
        while more := connected.recv(65536):
            said += more
    return said


def test_garbage_from_one_with_the_key(control: Control, tmp_path: Path) -> None:
    with reached(tmp_path) as other:
        other._channel._socket.sendall(struct.pack("!cQ", b"X", 7))
        with pytest.raises(EngineError, match="message: begins with b'X' and has 7 bytes; expected b'J'"):
            other.hear()
        with pytest.raises(EngineError, match="has gone"):
            other.hear()
    control.say({"request": "change", "network": {}, "tables": {"x": "many"}})
    with pytest.raises(EngineError, match=r"request.tables: 'many' is no number of parts"):
        control.hear()


def test_another_version(server: ControlServer, tmp_path: Path) -> None:
    replace(server.place, version=2, australis="9.9").write(tmp_path)
    said = f"{tmp_path}: speaks version 2 of the control channel, and this is version 1; expected .* is 9.9"
    with pytest.raises(EngineError, match=said):
        reach(tmp_path)
    channel = Channel(bare(server), 60)
    channel.receive()
    channel.send({"version": 3, "australis": "9.9", "nonce": "", "proof": ""})
    answer = channel.receive()
    assert answer["problems"][0]["what"].startswith("speaks version 3 of the control channel")
    channel.close()


def test_too_many_clients(house: House, tmp_path: Path) -> None:
    server = ControlServer(house, tmp_path, clients_most=2)
    with reached(tmp_path) as one, reached(tmp_path) as two:
        assert (one.attached(), two.attached()) == ({}, {})
        with reached(tmp_path) as three, pytest.raises(EngineError, match="serves 2 clients already"):
            three.hear()
    server.close()


def test_many_clients_at_once(house: House, server: ControlServer, tmp_path: Path) -> None:
    """Each gets what it has asked for, all of it and nothing else."""
    for speed in range(50):
        house.push(cars(*range(speed)))
    found: dict[int, int] = {}

    def ask(least: int) -> None:
        with reached(tmp_path) as control, control.attach(fast(least), follow=False) as query:
            found[least] = sum(table.num_rows for _, table in query)

    threads = [threading.Thread(target=ask, args=(least,)) for least in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {least: sum(max(0, speed - least - 1) for speed in range(50)) for least in range(20)}
    assert house.queries == {}
