"""Who may read a root: what Australis makes is for its user, what was there stays as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from australis.engine.ledger import OpenRoot
from australis.engine.store.root import Root


@pytest.fixture(autouse=True)
def _lenient() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)


def test_a_new_root_and_its_catalogue_are_for_their_user(tmp_path: Path) -> None:
    root, catalog = tmp_path / "above" / "root", tmp_path / "catalog"
    opened = OpenRoot(Root.of(root), catalog)
    journal = mode(catalog / "catalog.db-wal")
    opened.close()
    assert [mode(path) for path in (root, catalog)] == ["0o700", "0o700"]
    assert mode(root.parent) == "0o755", "only what is the root"
    assert {mode(catalog / "catalog.db"), mode(catalog / "lock"), mode(root / "lock"), journal} == {"0o600"}


def test_a_folder_that_was_there_keeps_its_mode_and_files_in_it_follow_umask(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    root.chmod(0o770)
    os.umask(0o007)
    OpenRoot(Root.of(root)).close()
    assert mode(root) == "0o770"
    assert mode(root / "segments") == "0o770"
    assert mode(root / "owner.json") == "0o660"


def test_a_catalogue_and_a_lock_that_others_could_read_become_private(tmp_path: Path) -> None:
    OpenRoot(Root.of(tmp_path)).close()
    for name in ("catalog.db", "lock"):
        (tmp_path / name).chmod(0o644)
    OpenRoot(Root.of(tmp_path)).close()
    assert (mode(tmp_path / "catalog.db"), mode(tmp_path / "lock")) == ("0o600", "0o600")
