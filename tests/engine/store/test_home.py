"""Homes of catalogues: a folder on this machine, held by one at a time."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.ledger.held import MemoryHome

from australis.engine.store.home import CATALOG, FolderHome, catalog_folder, home_of
from australis.engine.store.root import Root
from australis.errors import EngineError


@pytest.fixture
def home(tmp_path: Path) -> FolderHome:
    return FolderHome(tmp_path / "a" / "b")


def test_a_lock_makes_the_folder_and_keeps_others_out(home: FolderHome) -> None:
    lock = home.lock()
    with pytest.raises(EngineError, match="is open in another node"):
        FolderHome(home.folder).lock()
    lock.close()
    home.lock().close()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match=r"file/home: cannot be written"):
        FolderHome(tmp_path / "file" / "home").lock()


def test_there_is_a_catalogue_once_something_is_in_it(home: FolderHome) -> None:
    home.lock().close()
    assert not home.has_catalog()
    with closing(home.connect()) as db:
        assert not home.has_catalog(), "SQLite has made an empty file at most"
        db.execute("create table t (x)")
    assert home.has_catalog()
    assert str(home) == str(home.folder / CATALOG)


def test_any_thread_may_use_a_connection_and_each_statement_counts_at_once(home: FolderHome) -> None:
    home.lock().close()
    with closing(home.connect()) as one, closing(home.connect()) as other:
        one.execute("create table t (x)")
        thread = threading.Thread(target=lambda: one.execute("insert into t values (1)"))
        thread.start()
        thread.join()
        assert other.execute("select x from t").fetchall() == [(1,)]


def test_a_catalogue_is_in_its_root_or_where_it_is_asked_for(tmp_path: Path) -> None:
    root = Root.of(tmp_path)
    assert catalog_folder(root, None) == tmp_path
    assert catalog_folder(root, str(tmp_path / "other")) == tmp_path / "other"
    home = home_of(root, None)
    assert isinstance(home, FolderHome)
    assert home.folder == tmp_path


def test_a_home_that_is_handed_in_is_taken(tmp_path: Path) -> None:
    given = MemoryHome()
    assert home_of(Root.of(tmp_path), given) is given


def test_a_root_elsewhere_needs_a_local_folder_for_its_catalogue(tmp_path: Path) -> None:
    root = Root.of("mock://bucket/root")
    with pytest.raises(EngineError, match="cannot hold the catalogue; expected catalog=DIRECTORY"):
        catalog_folder(root, None)
    assert catalog_folder(root, tmp_path) == tmp_path
