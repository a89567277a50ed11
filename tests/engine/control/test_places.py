"""Where a node is reached: long paths, what killed nodes leave behind, damaged files."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from tests.engine.control.house import House, reached, running

from australis.engine.control.address import FILE, VERSION, Place
from australis.engine.control.client import reach
from australis.engine.control.server import ControlServer
from australis.errors import EngineError


def test_a_root_with_a_long_path(house: House, tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["folder-with-a-long-name"] * 8)
    deep.mkdir(parents=True)
    server = ControlServer(house, deep)
    with reached(deep) as control:
        assert control.network() == running()
    server.close()


def test_a_long_path_to_temporary_files(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path.joinpath(*["folder-with-a-long-name"] * 8)
    deep.mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    server = ControlServer(house, tmp_path)
    with reached(tmp_path) as control:
        assert control.network() == running()
    server.close()
    assert list(deep.iterdir()) == []


def test_no_place_for_a_socket(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("australis.engine.control.address.ADDRESS_MOST", 5)
    with pytest.raises(
        EngineError, match="control: no socket for the control channel can be made: no folder"
    ):
        ControlServer(house, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(house: House, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"control.json: cannot be written: No such file"):
        ControlServer(house, tmp_path / "nowhere")


def test_what_a_killed_node_has_left(house: House, tmp_path: Path) -> None:
    """It leads to nobody, and the next node on the root takes it away."""
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder = tmp_path / "dead"
    folder.mkdir()
    dead.bind(str(folder / "control"))
    dead.close()
    Place(str(folder / "control"), "ab" * 32, 1, "0.1").write(tmp_path)
    assert reach(tmp_path) is None
    server = ControlServer(house, tmp_path)
    assert not folder.exists()
    with reached(tmp_path) as control:
        assert control.network() == running()
    server.close()


def test_what_leads_elsewhere_is_not_taken_away(house: House, tmp_path: Path) -> None:
    precious = tmp_path / "folder" / "precious"
    precious.parent.mkdir()
    precious.write_text("do not delete")
    Place(str(precious), "ab" * 32, 1, "0.1").write(tmp_path)
    ControlServer(house, tmp_path).close()
    assert precious.exists()


def test_a_damaged_file(house: House, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"version": 1, "australis": "0.1"}')
    with pytest.raises(EngineError, match=r"control.json: does not say how the node is reached"):
        reach(tmp_path)
    (tmp_path / FILE).write_text(json.dumps({"version": VERSION, "australis": "0.1"})[:-3])
    with pytest.raises(EngineError, match=r"control.json: does not say how the node is reached"):
        reach(tmp_path)
    ControlServer(house, tmp_path).close()
    assert reach(tmp_path) is None
