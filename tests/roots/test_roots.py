"""Roots of older versions of the catalogue open today, continue, and deliver what the reference says."""

from __future__ import annotations

import sqlite3
import tarfile
from pathlib import Path

import pytest
from tests.conformance.engine_runs import Expectation, numbered
from tests.conformance.random_networks import Event
from tests.engine.in_process import InProcess
from tests.roots.make_root import EVENTS, MORE, NAMES, batch, network

from australis import Node
from australis.engine.ledger.schema import OLDEST, VERSION
from australis.engine.observe.inspect import look
from australis.errors import EngineError

HERE = Path(__file__).parent
KEPT = sorted(HERE.glob("v*.tar.gz"))


@pytest.fixture(params=KEPT, ids=lambda path: path.name.partition(".")[0])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A root that was kept, as it was."""
    with tarfile.open(request.param) as packed:
        packed.extractall(tmp_path / "root", filter="data")
    return tmp_path / "root"


def version(root: Path) -> int:
    with sqlite3.connect(root / "catalog.db") as db:
        (found,) = db.execute("pragma user_version").fetchone()
    return int(found)


def right() -> Expectation:
    """What the reference makes of all that was pushed."""
    found = Expectation(network())
    found.load("names", NAMES.to_pylist())
    for now, rows in enumerate((*EVENTS, *MORE)):
        values = (({"k": k, "at": at, "v": v}, now) for k, at, v in rows)
        found.event(Event(now, "s", tuple(values)))
    return found


def test_every_version_is_kept() -> None:
    assert [path.name for path in KEPT] == [f"v{each}.tar.gz" for each in range(OLDEST, VERSION + 1)]


def test_a_root_is_migrated_and_continues(root: Path) -> None:
    expected = right()
    with Node(root, runner=InProcess(), clock=lambda: 0, discipline="superbox") as node:
        node.deploy(network())
        assert version(root) == VERSION
        assert node.position("feed") == str(len(EVENTS))
        assert list(node.attached()) == ["asked"]
        assert node.consumer("reader", "named") == (0, None)
        for number, rows in enumerate(MORE, len(EVENTS)):
            node.push("s", batch(rows), now=number, position=("feed", str(number + 1)))
        node.drain()
        found = {name: numbered(node.read(name)) for name in ("windows", "named")}
        asked = node.read("asked")["k"].to_pylist()
    assert expected.comparable(found) == {name: expected.seen.outputs[name] for name in found}
    assert asked == [k for rows in (*EVENTS, *MORE) for k, _, _ in rows if k == 2]


def test_a_look_migrates_nothing(root: Path) -> None:
    before = version(root)
    assert look(root).superboxes["windows"].queue == 6
    assert version(root) == before


@pytest.mark.parametrize("other", [OLDEST - 1, VERSION + 1])
def test_other_versions_are_refused(root: Path, other: int) -> None:
    with sqlite3.connect(root / "catalog.db") as db:
        db.execute(f"pragma user_version = {other}")
    expected = f"has version {other}; expected one from {OLDEST} to {VERSION}; open the root with"
    with pytest.raises(EngineError, match=expected):
        Node(root, runner=InProcess())
    with pytest.raises(EngineError, match=expected):
        look(root)
