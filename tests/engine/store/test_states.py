"""State files: what was written is read, and one that is not what was written is refused."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from australis.engine.store.root import Root
from australis.engine.store.states import encode_state, read_state
from australis.errors import EngineError

STATE = {
    "groups": pa.table({"g": ["a", None, "long text"], "number": [1, 2, 3]}),
    "empty": pa.schema([("x", pa.float64())]).empty_table(),
}


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = Root.of(tmp_path)
    root.prepare()
    return root


@pytest.fixture
def name(root: Root) -> str:
    name, data = encode_state(root, "box", 3, STATE)
    root.write(name, data)
    return name


def test_a_state_comes_back(root: Root, name: str) -> None:
    assert read_state(root, name) == STATE
    assert name.startswith("states/box-3-")


def test_every_flipped_byte_is_found(root: Root, name: str) -> None:
    path, random = Path(root.path(name)), Random(11)
    data = path.read_bytes()
    for place in range(len(data)):
        bad = bytearray(data)
        bad[place] ^= 1 << random.randrange(8)
        path.write_bytes(bad)
        with pytest.raises(EngineError, match=f"{name}.*is damaged"):
            read_state(root, name)


@pytest.mark.parametrize("size", [0, 5, 100, -1])
def test_a_truncated_file_is_found(root: Root, name: str, size: int) -> None:
    path = Path(root.path(name))
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(EngineError, match=name):
        read_state(root, name)


def test_a_missing_file_is_named(root: Root, name: str) -> None:
    root.delete(name)
    with pytest.raises(EngineError, match=f"{name}.*cannot be read"):
        read_state(root, name)
