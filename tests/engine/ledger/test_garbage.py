"""What nobody needs is deleted, once nobody reads it, and never fails whoever commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from australis.engine.ledger.garbage import Garbage
from australis.engine.store.root import SEGMENTS, STATES, Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = Root.of(tmp_path / "root")
    root.prepare()
    return root


def names(root: Root) -> set[str]:
    return {*root.names(SEGMENTS), *root.names(STATES)}


def test_files_stay_for_those_who_began_before(root: Root) -> None:
    root.write(f"{SEGMENTS}/x", b"")
    garbage = Garbage(root)
    first = garbage.enter()
    second = garbage.enter()
    garbage.bury([f"{SEGMENTS}/x"])
    third = garbage.enter()
    garbage.leave(first)
    assert names(root) == {f"{SEGMENTS}/x"}
    garbage.leave(second)
    assert names(root) == set()
    garbage.leave(third)


def test_files_go_at_once_when_nobody_reads(root: Root) -> None:
    root.write(f"{STATES}/x", b"")
    garbage = Garbage(root)
    with garbage.reading():
        pass
    garbage.bury([f"{STATES}/x", f"{STATES}/gone"])
    assert names(root) == set()


def test_orphans_are_swept(root: Root) -> None:
    for name in (f"{SEGMENTS}/known", f"{SEGMENTS}/orphan", f"{STATES}/orphan"):
        root.write(name, b"")
    assert Garbage(root).sweep({f"{SEGMENTS}/known"}) == 2
    assert names(root) == {f"{SEGMENTS}/known"}
